"""Each of the gallery's views says of itself what a reader sees where its link opens."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.ui.shell.test_gallery import VIEWS

pytestmark = pytest.mark.browser
NUMBER = re.compile(r"(?<![\w.])\d(?:[\d,]*\d)?(?:\.\d+)?(?!\w)")


def shown(page_at, view):
    """All that stands in the tab once it and its fold are drawn."""
    page = page_at(f"/?{urlencode({'v': 1, **view['link']})}", height=2400)
    panel = page.locator(f"#tab-{view['link']['tab']}")
    expect(panel.locator(".finding:visible").first).to_be_visible()
    if fold := view["link"].get("fold"):
        inside = page.locator(f"#fold-{view['link']['tab']}-{fold}")
        expect(
            inside.locator(".finding:visible, figure:visible, table:visible").first
        ).to_be_visible()
    return panel


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view["title"])
def test_every_number_that_a_view_speaks_of_stands_where_its_link_opens(page_at, view):
    panel, spoken = shown(page_at, view), set(NUMBER.findall(f"{view['title']}. {view['says']}"))
    for number in spoken:
        expect(panel).to_contain_text(re.compile(rf"(?<![\d.]){re.escape(number)}(?![\d])"))


def view_of(holds):
    return next(view for view in VIEWS if view["holds"] == holds)


def test_the_quotient_and_what_is_stored_are_those_of_the_picture(page_at):
    view = view_of("stores_little_applies_much")
    said = shown(page_at, view).locator(".finding:visible").first.inner_text()
    albert, bert = (float(n) for n in re.findall(r"([\d.]+) M", said) if n != "66.4")
    assert f"{bert / albert:.1f} times fewer" in view["title"]
    assert re.findall(r"([\d.]+) M", view["says"]) == [f"{n}" for n in (bert, albert)]


def test_half_the_work_and_all_of_it_are_those_of_the_card(page_at):
    card = shown(page_at, view_of("half_the_work")).inner_text()
    work = card.split("Compute of one pass")[1].split("CPU time")[0]
    assert [round(float(n), 1) for n in re.findall(r"([\d.]+) ×", work)] == [1.0, 0.5, 1.0]
