"""Pictures are modules: one that is broken costs its own place, one that is late still draws."""

from fnmatch import fnmatch
from urllib.request import urlopen

import pytest
from playwright.sync_api import expect

from explorer.links.tabs import TABS
from explorer.ui.first.picture import HOST
from explorer.ui.first.scripts import FIRST_PACK
from explorer.ui.kit import strings
from tests.browser.conftest import QUIET_PLACE
from tests.browser.held import answer_with, hold
from tests.waiting import until

pytestmark = pytest.mark.browser
GRADIO = "index-*.js"
ANSWER = FIRST_PACK.removesuffix(".js")


def opened(page_at, path, late):
    """A page of which one module is held back, and how to let it go."""
    page = page_at(None)
    go_on = hold(page, f"*/js/*/{late}.js")
    page.goto(f"{page.guard.home}{path}", wait_until="commit")
    return page, go_on


BROKEN = {
    "attention/wall": "export function show( {",
    "layer/stations": "export function show() { nothing(); }",
}


def test_a_broken_picture_costs_only_its_own_place(page_at):
    page = page_at(None)
    for kind, source in BROKEN.items():
        answer_with(page, f"*/{kind}.js", source)
    page.goto(f"{page.guard.home}/?tab=attention", wait_until="domcontentloaded")
    for kind in BROKEN:
        page.locator(f"#tab-{kind.partition('/')[0]}-button").click()
        picture = page.locator(f'[data-kind="{kind}"]')
        expect(picture).to_have_text(strings.NO_PICTURE, timeout=180_000)
        expect(page.locator(".strip .word").first).to_be_visible()
        page.guard.expect("page error")
    page.get_by_role("tab", name="Predictions").click()
    expect(page.locator("#tab-predictions .pr-column")).to_have_count(3)


def test_late_pictures_are_drawn_and_the_first_one_stays_under_a_pressed_pointer(page_at):
    """The modules are held back until the rest of the page is there. The place of the first picture is not
    quite as high as what takes it: a press that moves is no click."""
    page, go_on = opened(page_at, "/", ANSWER)
    expect(page.locator("#compare")).to_be_visible()
    expect(page.locator("#tab-predictions .pr-column")).to_have_count(0)
    page.mouse.move(5, 300)
    page.mouse.down()
    # The focus moves with a press.
    page.evaluate("document.body.dispatchEvent(new FocusEvent('blur'))")
    go_on()
    expect(page.locator("#tab-predictions .pr-column")).to_have_count(3)
    expect(page.locator(HOST)).to_have_count(1)
    page.mouse.up()
    expect(page.locator(HOST)).to_have_count(0)


NO_SECOND = """const later = setTimeout;
window.setTimeout = (act, ms, ...rest) => ms === 1000 ? 0 : later(act, ms, ...rest);"""


def is_kept(address):
    """Whether the server sends the first picture with the page."""
    with urlopen(address) as answer:
        return f"<{HOST}" in answer.read().decode("utf-8")


@pytest.mark.parametrize(
    "link", ["/?tab=latency", "/?tab=latency&timed=mini-64-8-encoder-wait-float32-20"]
)
def test_the_first_picture_of_latency_leaves_once_the_settings_are_the_links(page_at, link):
    """It stayed for a second, and moved every fold when it left."""
    page = page_at(None)
    until(lambda: is_kept(f"{page.guard.home}{link}"))
    page.add_init_script(NO_SECOND)
    page.goto(f"{page.guard.home}{link}", wait_until="commit")
    said = page.locator("#tab-latency .settings-said")
    expect(said).to_contain_text("Bundled miniatures, 64 tokens" if "timed" in link else "tokens")
    expect(page.locator("#status .status")).to_be_visible()
    expect(page.locator(HOST)).to_have_count(0)


def test_a_text_that_is_compared_before_the_modules_are_there_is_compared(page_at):
    page, go_on = opened(page_at, "/", ANSWER)
    page.locator("#text textarea").fill("The cat [MASK] script.", timeout=180_000)
    page.keyboard.press("Control+Enter")
    go_on()
    page.wait_for_function("location.search.includes('script')")
    expect(page.locator("#tab-predictions .pr-column")).to_have_count(3)


def test_a_question_from_the_first_picture_stops_what_the_page_still_loads(page_at):
    """The answer is held back: nothing but the press can end the request for Gradio's script."""
    page = page_at(None)
    go_on = hold(page, f"*/assets/{GRADIO}")
    page.goto(f"{page.guard.home}/", wait_until="commit")
    ended = []
    page.on("requestfailed", lambda request: ended.append(request.url))
    page.wait_for_function(f"document.readyState !== 'loading' && document.querySelector('{HOST}')")
    box = page.locator(HOST).bounding_box()
    answer = hold(page, "*text=*")
    page.mouse.click(box["x"] + 300, box["y"] + 79)
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("The cat [MASK] early.")
    page.keyboard.press("Enter")

    def is_ended():
        page.wait_for_timeout(20)  # lets Playwright dispatch its events
        return any(fnmatch(url, f"*/assets/{GRADIO}") for url in ended)

    until(is_ended, 60, lambda: f"only these ended: {ended}")
    answer()
    go_on()
    expect(page.locator("#tab-predictions .pr-column")).to_have_count(3)
    assert "early" in page.evaluate("location.search")


IDLE = "new Promise(done => requestIdleCallback(() => done(), {timeout: 1000}))"
"""A page without frames may get no idle time but by its timeout, here later than the page's own."""


def test_the_library_of_charts_is_not_fetched_where_there_is_no_chart(page_at):
    page, asked = page_at("/"), []
    page.on("request", lambda request: asked.append(request.url))
    expect(page.locator("#status .status")).to_be_visible()
    for tab in (tab for tab in TABS if tab not in ("depth", "distillation")):
        page.locator(f"#tab-{tab}-button").click()
        expect(page.locator(f"#tab-{tab} .finding").first).to_be_visible()
        for _ in range(2):  # what waits until the page is idle has begun
            page.evaluate(IDLE)
    with page.expect_request(
        f"{page.guard.home}{QUIET_PLACE}"
    ):  # what was asked before is heard of
        page.evaluate("place => fetch(place)", QUIET_PLACE)
    assert not [url for url in asked if "plotly" in url]
    page.locator("#tab-distillation-button").click()
    expect(page.locator("#tab-distillation .dc .main-svg").first).to_be_attached()
    assert len([url for url in asked if "plotly" in url]) == 1
