"""Pictures stand whole and level: nothing is cut off where no scroll bar says that there is more."""

from itertools import pairwise
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

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


@pytest.mark.parametrize("view", ["matrix", "difference"])
def test_the_three_matrices_of_a_long_text_are_level_and_inside_the_page(page_at, view):
    page = page_at("/?" + urlencode({"tab": "attention", "view": view, "text": LONG}))
    canvases = page.locator(".aw-panels canvas")
    expect(canvases).to_have_count(3)
    expect(canvases.nth(2)).to_be_visible()
    page.wait_for_timeout(500)  # until all titles have wrapped
    boxes = [canvas.bounding_box() for canvas in canvases.all()]
    assert max(box["y"] for box in boxes) - min(box["y"] for box in boxes) < 1
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 1440 for box in boxes)
    assert all(left["x"] + left["width"] <= right["x"] + 1 for left, right in pairwise(boxes))


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("tab", ["attention", "parameters", "predictions", "tasks"])
def test_nothing_is_cut_off_without_a_scroll_bar(page_at, tab, width):
    page = page_at("/?" + urlencode({"tab": tab, "text": LONG}), width=width)
    expect(page.locator("#status .status")).to_be_visible()
    expect(page.locator(f"#tab-{tab} .finding").first).to_be_visible()
    page.wait_for_timeout(500)
    assert page.evaluate(CUT, tab) == []


def test_the_mask_of_a_long_text_is_in_sight_on_a_phone(page_at):
    page = page_at("/?" + urlencode({"text": LONG}), width=390, height=844)
    expect(page.locator(".strip .masked")).to_be_in_viewport(ratio=1)


def test_each_save_of_claims_stands_with_its_own_table(page_at):
    page = page_at("/?tab=claims")
    expect(page.locator("#tab-claims .finding").first).to_be_visible()
    saves = page.locator("#tab-claims .take:visible")
    expect(saves.nth(1)).to_be_visible()
    tops = [save.bounding_box()["y"] for save in saves.all()]
    assert min(b - a for a, b in pairwise(tops)) > 300
