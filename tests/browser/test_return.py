"""A picture that was left, cleared and shown again is there again, whatever came between."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from explorer.ui.shell.tabs import TABS

pytestmark = pytest.mark.browser
HEADLINE = ":not(.fold .canvas)"
A, B = "The sky is [MASK].", "He sat by the [MASK] and slept."
UNPACKING = """(() => {
  const read = Response.prototype.arrayBuffer;
  Response.prototype.arrayBuffer = async function () {
    window.unpacking = (window.unpacking || 0) + 1;
    await new Promise(done => setTimeout(done, 1500));
    return read.call(this);
  };
})()"""


def compare(page, text):
    page.locator("#text textarea").fill(text)
    page.keyboard.press("Control+Enter")
    page.wait_for_function(
        "text => new URLSearchParams(location.search).get('text') === text", arg=text
    )


@pytest.mark.parametrize("between", [(A,), (B,), (B, A)], ids=["same", "other", "there-and-back"])
@pytest.mark.parametrize(
    "tab", [tab for tab in TABS if tab.ID != "predictions"], ids=lambda t: t.ID
)
def test_a_tab_that_was_left_shows_its_pictures_again(page_at, tab, between):
    page = page_at(f"/?v=1&family=mini&tab={tab.ID}&text={quote(A)}")
    first = page.locator(f"#tab-{tab.ID} .finding").first
    expect(page.locator("#status .status")).to_be_visible(timeout=180_000)
    expect(first).to_be_visible()
    page.get_by_role("tab", name="Predictions").click()
    expect(page.locator("#tab-predictions .pr-column").first).to_be_visible()
    for text in between:
        compare(page, text)
    page.get_by_role("tab", name=tab.LABEL, exact=True).click()
    page.wait_for_function("tab => location.search.includes(`tab=${tab}`)", arg=tab.ID)
    expect(first).to_be_visible()
    for canvas in page.locator(f"#tab-{tab.ID} .canvas{HEADLINE}").all():
        expect(canvas.locator("> *").first).to_be_attached()
    if tab.ID == "attention":
        expect(page.locator(".aw-words")).to_contain_text("slept" if between[-1] == B else "sky")
        expect(page.locator(".aw-panels canvas").first).to_be_visible()


def test_the_theme_may_change_while_the_wall_is_still_unpacked(app_url, chromium):
    context, errors = chromium.new_context(), []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    page = context.new_page()
    page.add_init_script(UNPACKING)
    page.goto(f"{app_url}/?tab=attention&__theme=light", wait_until="domcontentloaded")
    page.wait_for_function("window.unpacking")
    page.locator("#theme-switch").click()
    page.locator("#theme-switch").click()
    expect(page.locator(".aw-panels canvas").first).to_be_visible()
    assert errors == []
    context.close()
