"""The badge's lists: a size for each column, in the link and back again."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser


def choose(page, column, label):
    """Open the badge and choose from one column's list."""
    page.locator(".badge-chip").click()
    page.get_by_label(column, exact=True).click()
    page.get_by_role("option", name=re.compile(rf"^{re.escape(label)},")).click()
    page.keyboard.press("Escape")


def test_a_size_is_chosen_for_one_column_and_back_brings_the_family_again(visit):
    page = visit("/")
    expect(page.locator(".finding").first).to_contain_text("mini-ALBERT")
    choose(page, "BERT", "BERT-large")
    # No hub is reached from here: the column says so, and the other two answer.
    card = page.locator("#tab-predictions .card[data-model=bert]")
    expect(card).to_contain_text("BERT-large (google-bert/bert-large-uncased) is not available")
    expect(page.locator("#tab-predictions .pr-column[data-model=albert]").first).to_be_visible()
    expect(page).to_have_url(re.compile("bert=large&distilbert=mini&albert=mini"))
    expect(page.locator(".badge-chip")).to_contain_text("Mixed sizes")
    page.locator(".badge-chip").click()
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    page.keyboard.press("Escape")
    page.go_back()
    expect(page.locator(".badge-chip")).to_contain_text("Miniature models")
    expect(card).to_have_count(0)
    page.locator(".badge-chip").click()
    expect(page.get_by_label("Bundled miniatures")).to_be_checked()
    page.keyboard.press("Escape")
    walk(page, "/?v=1&albert=xxlarge&tab=parameters")
    a_link_opens_with_its_sizes_in_the_lists(page)


def a_link_opens_with_its_sizes_in_the_lists(page):
    finding = page.locator("#tab-parameters .finding:visible")
    expect(finding).to_contain_text("as many weights as mini-BERT (222.6 M, not 15.0 M)")
    expect(finding).to_contain_text(
        "it stores one layer, 4,096 wide, not 384, and runs it 12 times"
    )
    page.locator(".badge-chip").click()
    expect(page.get_by_label("ALBERT", exact=True)).to_have_value(re.compile("^ALBERT-xxlarge, "))
    expect(page.get_by_label("BERT", exact=True)).to_have_value(re.compile("^mini-BERT, "))
    drawn = page.locator("#family .fm-row:not([hidden])").evaluate_all(
        "rows => rows.map(row => `${row.dataset.model} ${row.dataset.size}`)"
    )
    assert drawn == ["bert mini", "distilbert mini", "albert xxlarge"]
    page.keyboard.press("Escape")
    related = page.locator("#family summary")
    fold = page.locator("#tab-parameters .fold:visible button.label-wrap > span:first-child").last
    text = "n => { const r = document.createRange(); r.selectNodeContents(n); return r.getBoundingClientRect().x; }"
    assert related.evaluate(text) == pytest.approx(fold.evaluate(text), abs=1)
    page.get_by_role("tab", name="Latency").click()
    expect(related).to_be_hidden()
    walk(page, "/?v=1&family=large&albert=xxlarge&tab=parameters")
    the_lists_are_whole_and_inside_the_screen(page)


def the_lists_are_whole_and_inside_the_screen(page):
    expect(page.locator("#tab-parameters .finding:visible")).to_contain_text("xxlarge")
    for width in (1440, 390):
        resize(page, width, 900)
        the_lists_are_inside_the_screen(page, width)


def the_lists_are_inside_the_screen(page, width):
    page.locator(".badge-chip").click()
    box = page.locator("#settings").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    for column in ("BERT", "DistilBERT", "ALBERT"):
        field = page.get_by_label(column, exact=True)
        cut = field.evaluate("input => input.scrollWidth - input.clientWidth")
        assert cut <= 0 or width == 390, column  # a phone shows the end in the list itself
        field.click()
        options = page.get_by_role("option")
        cut = options.evaluate_all("all => all.map(one => one.scrollWidth - one.clientWidth)")
        assert max(cut) <= 0, column
        page.keyboard.press("Escape")
        page.locator("#settings").evaluate(
            "box => box.matches(':popover-open') || box.showPopover()"
        )
    page.locator("#settings").evaluate("box => box.hidePopover()")
