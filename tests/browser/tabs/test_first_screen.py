"""The answer on the first screen: where things stand at scroll 0, on the text that the page opens with."""

import pytest
from playwright.sync_api import expect

from explorer.links.tabs import TABS
from tests.browser import axe
from tests.browser.rest import rests
from tests.browser.screens import PICTURE
from tests.browser.viewport import resize

pytestmark = pytest.mark.browser
DESKS, PHONE = ((1440, 900), (1280, 720)), (390, 844)


def opened(come, **context):
    page = come("/", **context)
    expect(page.locator(".status")).to_contain_text("mini-albert")
    return page


def top(page, selector):
    return page.locator(f"{selector}:visible").first.bounding_box()["y"]


@pytest.mark.parametrize(
    ("screens", "by"),
    [(DESKS, "key"), ((PHONE,), "click")],
    ids=["desks", "phone"],
)
def test_the_answer_is_on_the_first_screen_and_the_tabs_stay_in_sight(page_at, screens, by):
    page = opened(page_at, width=screens[0][0], height=screens[0][1])
    for is_dark in (False, True):
        expect(page.locator("body.dark")).to_have_count(int(is_dark))
        for width, height in screens:
            resize(page, width, height)
            is_on_the_first_screen(page, width)
        page.locator("#theme-switch").click()
    scrolled_down(page)
    expect(page.locator("#tabs [role=tablist]").first).to_be_in_viewport()
    the_next_tab_begins_at_its_top(page, by)


def is_on_the_first_screen(page, width):
    """The tabs, the finding, and each model's answer with the two after it."""
    assert page.evaluate("scrollY") == 0
    parts = page.locator("#tabs > .tab-wrapper, .finding:visible, .pr-first:visible").all()
    assert len(parts) >= 5
    for part in parts:
        expect(part).to_be_in_viewport(ratio=1)
    rows = 3 if width == 390 else 10
    for column in page.locator(".pr-list").all():
        expect(column.locator(".pr-row")).to_have_count(rows)
        expect(column.locator(".pr-row").nth(2)).to_be_in_viewport(ratio=1)


def scrolled_down(page):
    """To the end of a long fold, as a reader scrolls: Playwright's own clicks scroll by themselves."""
    page.get_by_role("button", name="Every word", exact=True).click()
    expect(page.locator("#fold-predictions-words .pw-tile").first).to_be_visible()
    page.mouse.move(200, 400)
    page.mouse.wheel(0, 5000)
    page.wait_for_function("document.querySelector('#tabs').getBoundingClientRect().top < -100")


def the_next_tab_begins_at_its_top(page, by):
    tab = page.get_by_role("tab", name="Claims", exact=True)
    if by == "key":
        page.locator("#tab-predictions-button").evaluate("tab => tab.focus({preventScroll: true})")
        page.keyboard.press("End")
    else:
        tab.evaluate("tab => tab.parentElement.scrollTo({left: 9999})")
        box = tab.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator("#tab-claims .finding").first).to_be_in_viewport(ratio=1)
    page.wait_for_function(
        "Math.abs(document.querySelector('#tabs').getBoundingClientRect().top) < 2"
    )


def test_every_columns_head_has_the_drawing_of_its_model(visit):
    page = opened(visit)
    widths = page.locator(".pr-column h3").evaluate_all(
        "heads => heads.map(head => getComputedStyle(head, '::after').width)"
    )
    assert len(widths) == 3
    assert all(float(width.removesuffix("px")) > 40 for width in widths)


EDGES = """() => {
  const row = document.querySelector('#tabs [role=tablist]'), from = row.getBoundingClientRect().left - row.scrollLeft;
  return [...row.querySelectorAll('[data-tab-id]')].map(tab => tab.getBoundingClientRect().left - from);
}"""
"""Where each tab begins in its row."""
WHOLE = """tab => {
  const row = document.querySelector('#tabs [role=tablist]').getBoundingClientRect();
  const {left, right} = document.querySelector(`#tab-${tab}-button`).getBoundingClientRect();
  return left >= row.left && right <= row.right;
}"""
"""Whether the whole name of a tab is in sight."""


def test_every_tab_shows_its_headline_and_picture_and_axe_finds_nothing(visit):
    page = opened(visit)
    edges = page.evaluate(EDGES)
    for tab in TABS:
        page.locator(f"#tab-{tab}-button").evaluate("tab => tab.click()")
        resize(page, 1440, 900)
        expect(page.locator(f"#tab-{tab}-button")).to_have_attribute("aria-selected", "true")
        assert page.evaluate(EDGES) == pytest.approx(edges, abs=0.1), f"{tab} moves the others"
        for width, height in (DESKS[0], PHONE):
            resize(page, width, height)
            page.locator(f"#tab-{tab} {PICTURE}:visible").first.wait_for()
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_function(WHOLE, arg=tab)
            expect(page.locator(f"#tab-{tab} .finding:visible").first).to_be_in_viewport(ratio=1)
            assert top(page, f"#tab-{tab} {PICTURE}") < height, (tab, width)
        rests(page, tab)
        assert axe.violations(page, f"#tab-{tab}") == [], tab
