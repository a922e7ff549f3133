"""Pictures are modules: one that is broken costs its own place, one that is late still draws."""

import pytest
from playwright.sync_api import expect

from explorer.page_state import TABS
from explorer.ui.kit import words as texts

pytestmark = pytest.mark.browser


def opened(app_url, chromium, path, pattern, answer):
    context = chromium.new_context()
    context.route(pattern, answer)
    page = context.new_page()
    page.goto(f"{app_url}{path}", wait_until="domcontentloaded")
    return page


@pytest.mark.parametrize(
    "source", ["export function show( {", "export function show() { nothing(); }"]
)
def test_a_broken_picture_costs_only_its_own_place(app_url, chromium, source):
    def broken(route):
        route.fulfill(body=source, content_type="text/javascript")

    page = opened(app_url, chromium, "/?tab=attention", "**/attention/wall.js", broken)
    wall = page.locator('[data-kind="attention/wall"]')
    expect(wall).to_have_text(texts.NO_PICTURE, timeout=180_000)
    expect(page.locator(".strip .word").first).to_be_visible()
    page.get_by_role("tab", name="Predictions").click()
    expect(page.locator("#tab-predictions .pr-column")).to_have_count(3)
    page.context.close()


def test_the_words_are_those_of_the_answer_that_came_before_their_picture(app_url, chromium):
    held, context = [], chromium.new_context()
    context.route("**/js/*/page/words.js", lambda route: held.append(route))
    page = context.new_page()
    page.goto(f"{app_url}/?text=The+cat+sat.", wait_until="commit")
    expect(page.locator("#status .status")).to_be_visible(timeout=180_000)
    context.route("**/js/*/page/words.js", lambda route: route.continue_())
    for route in held:
        route.continue_()
    expect(page.locator(".strip .word")).to_have_text(["The", "cat", "sat"])
    context.close()


@pytest.mark.parametrize(
    ("late", "before"), [("gradio", "#compare"), ("predictions/gaps", ".strip .word")]
)
def test_pictures_are_drawn_however_late_their_module_comes(app_url, chromium, late, before):
    """The module is held back until something else of the page is there."""
    held, context = [], chromium.new_context()
    context.route(f"**/js/*/{late}.js", lambda route: held.append(route))
    page = context.new_page()
    page.goto(app_url, wait_until="commit")
    expect(page.locator(before).first).to_be_visible(timeout=180_000)
    expect(page.locator("#tab-predictions .pr-column")).to_have_count(0)
    context.route(f"**/js/*/{late}.js", lambda route: route.continue_())
    for route in held:
        route.continue_()
    expect(page.locator("#tab-predictions .pr-column")).to_have_count(3)
    context.close()


@pytest.mark.parametrize("late", ["gradio", "page/here", "page/words"])
def test_a_text_that_is_compared_before_the_modules_are_there_is_compared(app_url, chromium, late):
    held, context = [], chromium.new_context()
    context.route(f"**/js/*/{late}.js", lambda route: held.append(route))
    page = context.new_page()
    page.goto(app_url, wait_until="commit")
    page.locator("#text textarea").fill("The cat [MASK] script.", timeout=180_000)
    page.keyboard.press("Control+Enter")
    context.route(f"**/js/*/{late}.js", lambda route: route.continue_())
    for route in held:
        route.continue_()
    page.wait_for_function("location.search.includes('script')", timeout=60_000)
    context.close()


def test_the_library_of_charts_is_not_fetched_where_there_is_no_chart(page_at):
    page, asked = page_at("/"), []
    page.on("request", lambda request: asked.append(request.url))
    expect(page.locator("#status .status")).to_be_visible()
    for tab in (tab for tab in TABS if tab not in ("depth", "distillation")):
        page.locator(f"#tab-{tab}-button").click()
        expect(page.locator(f"#tab-{tab} .finding").first).to_be_visible()
        page.wait_for_timeout(600)  # what waits until the page is idle has begun
    assert not [url for url in asked if "plotly" in url]
    page.locator("#tab-distillation-button").click()
    expect(page.locator("#tab-distillation .dc .main-svg").first).to_be_attached()
    assert len([url for url in asked if "plotly" in url]) == 1
