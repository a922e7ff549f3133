"""Pictures stand whole and level: nothing is cut off where no scroll bar says that there is more."""

from itertools import pairwise
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
LONG = (
    "The old bridge over the river was built of wood and burned down in the dry summer of 1871, and "
    "a new one of iron was opened by the mayor of the town in the [MASK] of 1874, but it was closed "
    "to traffic for almost a year after the flood of 1903."
)
CUT = """tab => [...document.querySelectorAll(`#tab-${tab} *`)].filter(node => {
  const {overflowX, overflowY, clip, textOverflow} = getComputedStyle(node);
  const is = ({hidden: 1, clip: 1});
  return node.getClientRects().length && node.clientWidth > 5 && node.clientHeight > 5 && clip === 'auto' && textOverflow !== 'ellipsis' && !node.querySelector('.cut')
    && ((is[overflowX] && node.scrollWidth > node.clientWidth + 2) || (is[overflowY] && node.scrollHeight > node.clientHeight + 2));
}).map(node => node.className || node.tagName)"""
"""What is wider or taller than its box, and is cut off there without a scroll bar; a name that is
hidden because its bar is too narrow is not."""


def the_three_matrices_of_a_long_text_are_level_and_inside_the_page(page):
    resize(page, 1440, 900)
    walk(page, "/?" + urlencode({"tab": "attention", "view": "difference", "text": LONG}))
    are_level(page)
    page.get_by_role("button", name="matrix", exact=True).click()
    are_level(page)


LEVEL = """canvases => {
  const tops = canvases.map(canvas => canvas.getBoundingClientRect().top);
  return canvases.length === 3 && Math.max(...tops) - Math.min(...tops) < 1;
}"""


def are_level(page):
    """Once all titles have wrapped."""
    canvases = page.locator(".aw-panels canvas")
    page.wait_for_function(f"({LEVEL})([...document.querySelectorAll('.aw-panels canvas')])")
    boxes = [canvas.bounding_box() for canvas in canvases.all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 1440 for box in boxes)
    assert all(left["x"] + left["width"] <= right["x"] + 1 for left, right in pairwise(boxes))


def test_nothing_is_cut_off_without_a_scroll_bar(visit):
    page = visit("/?" + urlencode({"text": LONG}), width=390, height=844)
    expect(page.locator("#status .status")).to_be_visible()
    expect(page.locator(".strip .masked")).to_be_in_viewport(ratio=1)
    for tab in ("predictions", "attention", "parameters", "tasks"):
        page.locator(f"#tab-{tab}-button").evaluate("tab => tab.click()")
        expect(page.locator(f"#tab-{tab} .finding").first).to_be_visible()
        the_rest_of_a_caption_opens_in_place(page, tab)
        for width in (390, 1440):
            resize(page, width, 900)
            page.wait_for_function(f"tab => ({CUT})(tab).length === 0", arg=tab)
    page.locator("#tab-claims-button").click()
    expect(page.locator("#tab-claims .finding").first).to_be_visible()
    each_save_of_claims_stands_with_its_own_table(page)
    the_three_matrices_of_a_long_text_are_level_and_inside_the_page(page)


def each_save_of_claims_stands_with_its_own_table(page):
    saves = page.locator("#tab-claims .take:visible")
    expect(saves.nth(1)).to_be_visible()
    tops = [save.bounding_box()["y"] for save in saves.all()]
    assert min(b - a for a, b in pairwise(tops)) > 300


def the_rest_of_a_caption_opens_in_place(page, tab):
    """Its one line has at most 120 characters."""
    captions = page.locator(f"#tab-{tab} details.note > summary:visible")
    for caption in captions.all():
        assert len(caption.inner_text()) <= 120
    if captions.count():
        rest = captions.first.locator("xpath=following-sibling::p[1]")
        expect(rest).to_be_hidden()
        captions.first.click()
        expect(rest).to_be_visible()
        captions.first.click()
