"""A page with exactly two columns by names of their own: read, compared, closed, and left."""

import re

import pytest
from playwright.sync_api import expect

from explorer.views.theme import COLOURS
from tests.browser import axe
from tests.browser.server import served
from tests.browser.viewport import resize
from tests.tiny_models import make_bert, save

pytestmark = pytest.mark.browser
BOTH = re.compile(r"family=only%2Cbefore%3Dfirst%2Cink%3Dsecond")


@pytest.fixture(scope="module")
def app_url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("columns")
    for name in ("first", "second"):
        save(*make_bert(2, 4, 48), folder / name)
    flags = [f"--model=before={folder / 'first'}", f"--model=ink={folder / 'second'}"]
    with served(folder / "app.log", *flags) as url:
        yield url


def test_two_columns_from_the_first_look_to_the_last(page_at):
    page = page_at()
    names_say_their_models(page)
    another_side_is_chosen(page)
    training_is_compared(page)
    a_column_is_closed(page)
    an_old_link_still_opens_three_columns(page)


def names_say_their_models(page):
    name = page.locator("#tab-predictions h3[data-model=ink]").first
    expect(name).to_be_visible()
    expect(page).to_have_url(BOTH)
    said = name.evaluate("node => getComputedStyle(node, '::before').content")
    assert said == '"second: BERT, 2 layers"'
    colour = name.evaluate("node => getComputedStyle(node).getPropertyValue('--model')")
    second = list(COLOURS.values())[1]
    assert colour.strip() == second.ink, "a column called as the page's ink has its own colour"
    for width in (1440, 390):
        resize(page, width, 900)
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        assert axe.violations(page, "#tab-predictions") == []
    resize(page, 1440, 900)


def another_side_is_chosen(page):
    page.locator("#tab-distillation-button").click()
    finding = page.locator("#tab-distillation .finding").first
    expect(finding).to_contain_text("ink is ")
    page.locator("#tab-distillation [data-pair=teacher]").select_option("ink")
    expect(finding).to_contain_text(re.compile("before is .* from ink"))
    expect(page).to_have_url(re.compile("teacher=ink&student=before"))
    expect(page.locator("#fold-distillation-losses")).to_be_visible()
    expect(page.locator("#fold-distillation-live")).to_be_hidden()


def training_is_compared(page):
    page.locator("#tab-depth-button").click()
    page.locator("#fold-depth-changed .label-wrap").click()
    fold = page.locator("#fold-depth-changed")
    expect(fold.locator(".finding")).to_contain_text("From ink to before, the matrices of")
    expect(fold.locator(".fg-titled")).to_have_count(4)


def a_column_is_closed(page):
    page.locator("#tab-predictions-button").click()
    page.locator(".badge-chip").click()
    page.locator("#settings input[aria-label='ink']").click()
    page.get_by_role("option", name="not shown").click()
    expect(page).to_have_url(re.compile(r"family=only%2Cbefore%3Dfirst(&|$)"))
    expect(page.locator("#tab-predictions h3[data-model=ink]")).to_have_count(0)
    expect(page.locator("#settings input[aria-label='ink']")).to_have_value("not shown")


def an_old_link_still_opens_three_columns(page):
    page.goto(re.sub(r"\?.*", "?v=1&family=mini", page.url))
    for key in ("bert", "distilbert", "albert"):
        expect(page.locator(f"#tab-predictions h3[data-model={key}]").first).to_be_visible()
    expect(page).to_have_url(re.compile("family=mini"))
    page.locator("#tab-distillation-button").click()
    expect(page.locator("#fold-distillation-live")).to_be_visible()
