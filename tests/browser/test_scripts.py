"""Pictures are modules: one that is broken costs its own place, one that is late still draws."""

import pytest
from playwright.sync_api import expect

from explorer.links.page_state import TABS
from explorer.ui.kit import strings
from tests.browser.held import answer_with, hold

pytestmark = pytest.mark.browser


def opened(page_at, path, late):
    """A page of which one module is held back, and how to let it go."""
    page = page_at(None)
    go_on = hold(page, f"*/js/*/{late}.js")
    page.goto(f"{page.guard.home}{path}", wait_until="commit")
    return page, go_on


@pytest.mark.parametrize(
    "source", ["export function show( {", "export function show() { nothing(); }"]
)
def test_a_broken_picture_costs_only_its_own_place(page_at, source):
    page = page_at(None)
    answer_with(page, "*/attention/wall.js", source)
    page.goto(f"{page.guard.home}/?tab=attention", wait_until="domcontentloaded")
    wall = page.locator('[data-kind="attention/wall"]')
    expect(wall).to_have_text(strings.NO_PICTURE, timeout=180_000)
    expect(page.locator(".strip .word").first).to_be_visible()
    page.get_by_role("tab", name="Predictions").click()
    expect(page.locator("#tab-predictions .pr-column")).to_have_count(3)
    page.guard.expect("page error")


def test_the_words_are_those_of_the_answer_that_came_before_their_picture(page_at):
    page, go_on = opened(page_at, "/?text=The+cat+sat.", "page/words")
    expect(page.locator("#status .status")).to_be_visible(timeout=180_000)
    go_on()
    expect(page.locator(".strip .word")).to_have_text(["The", "cat", "sat"])


@pytest.mark.parametrize(
    ("late", "before"), [("gradio", "#compare"), ("predictions/gaps", ".strip .word")]
)
def test_pictures_are_drawn_however_late_their_module_comes(page_at, late, before):
    """The module is held back until something else of the page is there."""
    page, go_on = opened(page_at, "/", late)
    expect(page.locator(before).first).to_be_visible(timeout=180_000)
    expect(page.locator("#tab-predictions .pr-column")).to_have_count(0)
    go_on()
    expect(page.locator("#tab-predictions .pr-column")).to_have_count(3)


@pytest.mark.parametrize("late", ["gradio", "page/here", "page/words"])
def test_a_text_that_is_compared_before_the_modules_are_there_is_compared(page_at, late):
    page, go_on = opened(page_at, "/", late)
    page.locator("#text textarea").fill("The cat [MASK] script.", timeout=180_000)
    page.keyboard.press("Control+Enter")
    go_on()
    page.wait_for_function("location.search.includes('script')", timeout=60_000)


def test_the_library_of_charts_is_not_fetched_where_there_is_no_chart(page_at):
    page, asked = page_at("/"), []
    page.on("request", lambda request: asked.append(request.url))
    expect(page.locator("#status .status")).to_be_visible()
    for tab in (tab for tab in TABS if tab not in ("depth", "distillation")):
        page.locator(f"#tab-{tab}-button").click()
        expect(page.locator(f"#tab-{tab} .finding").first).to_be_visible()
        for _ in range(2):  # what waits until the page is idle has begun
            page.evaluate("new Promise(done => requestIdleCallback(() => done()))")
    page.wait_for_timeout(600)  # and is heard of
    assert not [url for url in asked if "plotly" in url]
    page.locator("#tab-distillation-button").click()
    expect(page.locator("#tab-distillation .dc .main-svg").first).to_be_attached()
    assert len([url for url in asked if "plotly" in url]) == 1
