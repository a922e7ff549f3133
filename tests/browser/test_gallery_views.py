"""Each of the gallery's views says of itself what a reader sees where its link opens."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.walked import walk
from tests.ui.shell.test_gallery import VIEWS

pytestmark = pytest.mark.browser
NUMBER = re.compile(r"(?<![\w.])\d(?:[\d,]*\d)?(?:\.\d+)?(?!\w)")


def shown(page, view):
    """All that stands in the tab once it and its fold are drawn."""
    walk(page, f"/?{urlencode({'v': 1, **view['link']})}")
    panel, title = page.locator(f"#tab-{view['link']['tab']}"), view["title"]
    expect(panel.locator(".finding:visible").first, title).to_be_visible()
    if fold := view["link"].get("fold"):
        inside = page.locator(f"#fold-{view['link']['tab']}-{fold}")
        drawn = inside.locator(".finding:visible, figure:visible, table:visible").first
        expect(drawn, title).to_be_visible()
    return panel


def test_every_number_that_a_view_speaks_of_stands_where_its_link_opens(page_at):
    page = page_at("/", height=2400)
    for view in VIEWS:
        panel, spoken = shown(page, view), set(NUMBER.findall(f"{view['title']}. {view['says']}"))
        for number in spoken:
            stands = re.compile(rf"(?<![\d.]){re.escape(number)}(?![\d])")
            expect(panel, view["title"]).to_contain_text(stands, use_inner_text=True)
        if also := ALSO.get(view["holds"]):
            also(view, panel)


def the_quotient_and_what_is_stored_are_those_of_the_picture(view, panel):
    said = panel.locator(".finding:visible").first.inner_text()
    albert, bert = (float(n) for n in re.findall(r"([\d.]+)\sM", said) if n != "66.4")
    assert f"{bert / albert:.1f} times fewer" in view["title"]
    assert re.findall(r"([\d.]+)\sM", view["says"]) == [f"{n}" for n in (bert, albert)]


def half_the_work_and_all_of_it_are_those_of_the_card(_view, panel):
    work = panel.inner_text().split("Compute of one pass")[1].split("CPU time")[0]
    assert [round(float(n), 1) for n in re.findall(r"([\d.]+) ×", work)] == [1.0, 0.5, 1.0]


ALSO = {
    "stores_little_applies_much": the_quotient_and_what_is_stored_are_those_of_the_picture,
    "half_the_work": half_the_work_and_all_of_it_are_those_of_the_card,
}


def test_both_of_them_are_views():
    assert set(ALSO) <= {view["holds"] for view in VIEWS}
