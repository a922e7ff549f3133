"""What was left comes back: a tab's picture, a text by Back or from the list, a theme, the folds."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from explorer.ui.shell.tabs import TABS
from tests.browser.conftest import QUIET_PLACE
from tests.browser.rest import rests
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
HEADLINE = ":not(.fold .canvas)"
A, B = "The sky is [MASK].", "He sat by the [MASK] and slept."
SKY, DOG = "The sky is [MASK].", "A dog [MASK] at the moon."
REFUSED = """for (const place of ['localStorage', 'sessionStorage'])
  Object.defineProperty(window, place, {get() { throw new Error('refused'); }});"""
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


READING = ("attention", "layer", "depth", "distillation", "tasks")
"""Tabs whose pictures follow the text; the first is in sight when a text is compared."""


def shown_again(page, text):
    """Every tab that follows the text, left while another one was compared, has its pictures."""
    for tab in (tab for tab in TABS if tab.ID in READING):
        page.get_by_role("tab", name=tab.LABEL, exact=True).click()
        page.wait_for_function("tab => location.search.includes(`tab=${tab}`)", arg=tab.ID)
        expect(page.locator(f"#tab-{tab.ID} .finding").first).to_be_visible()
        for canvas in page.locator(f"#tab-{tab.ID} .canvas{HEADLINE}").all():
            expect(canvas.locator("> *").first).to_be_attached()
        if tab.ID == "attention":
            expect(page.locator(".aw-words")).to_contain_text("slept" if text == B else "sky")
            expect(page.locator(".aw-panels canvas").first).to_be_visible()


def test_back_forward_and_the_tabs_bring_again_what_was_left(page_at):
    page = page_at("/")
    back_goes_to_the_tab_before_and_runs_nothing_again(page)
    walk(page, "/?tab=attention")
    back_and_forward_walk_through_the_texts_and_the_last_ones_can_be_chosen(page)
    walk(page, f"/?v=1&family=mini&text={quote(A)}")
    tabs_that_were_left_show_their_pictures_again(page)


def test_a_way_out_that_leads_nowhere_leaves_the_answer_on_its_way(visit):
    """A download or a slow page: Gradio would close its streams and load the page again."""
    page = visit("/")
    expect(page.locator(".status")).to_contain_text("mini-albert")
    held = []
    page.route("**/queue/data?*", lambda route: held.append(route))
    page.route("**/left", lambda route: route.fulfill(status=204))
    page.locator("#text textarea").fill(B)
    # A stream that is still open carries the answer: then no other is asked for.
    with page.expect_response("**/queue/join?*"):
        page.keyboard.press("Control+Enter")
    with page.expect_response("**/left"):
        page.evaluate("() => { location.href = '/left'; }")
    page.unroute("**/queue/data?*")
    for route in held:
        route.continue_()
    page.wait_for_function(
        "text => new URLSearchParams(location.search).get('text') === text", arg=B
    )
    expect(page.locator("#tab-predictions .finding").first).to_be_visible()
    compare(page, A)


def tabs_that_were_left_show_their_pictures_again(page):
    """There and back, and another text: what was drawn before must not pass for drawn."""
    shown_again(page, A)
    for between in ((B, A), (B,)):
        page.get_by_role("tab", name="Predictions").click()
        expect(page.locator("#tab-predictions .pr-column").first).to_be_visible()
        for text in between:
            compare(page, text)
        shown_again(page, between[-1])


def test_the_theme_may_change_while_the_wall_is_still_unpacked(page_at):
    page = page_at(None)
    page.add_init_script(UNPACKING)
    page.goto(f"{page.guard.home}/?tab=attention", wait_until="domcontentloaded")
    page.wait_for_function("window.unpacking")
    page.locator("#theme-switch").click()
    page.locator("#theme-switch").click()
    expect(page.locator(".aw-panels canvas").first).to_be_visible()


def compared(page, text):
    compare(page, text)
    shows(page, text)


def shows(page, text):
    page.wait_for_function("t => new URLSearchParams(location.search).get('text') === t", arg=text)
    expect(page.locator("#text textarea")).to_have_value(text)
    expect(page.locator(".strip")).to_have_attribute("data-text", text)


def open_folds(page):
    return page.locator(".fold:visible button.label-wrap.open")


def back_goes_to_the_tab_before_and_runs_nothing_again(page):
    expect(page.locator("#status .status")).to_be_visible(timeout=180_000)
    for tab in TABS[1:4]:
        page.get_by_role("tab", name=tab.LABEL, exact=True).click()
        expect(page.locator(f"#tab-{tab.ID} .finding").first).to_be_visible()
    rests(page, TABS[3].ID)
    assert page.evaluate("history.length") == 5, "about:blank, and a place for each tab"
    asked = []
    page.on("request", lambda r: asked.append(r.url) if "/queue/join" in r.url else None)
    order = [2, 1, 0, 1, 2, 3]
    for step, n in zip(["go_back"] * 3 + ["go_forward"] * 3, order, strict=True):
        getattr(page, step)()
        expect(page.locator(f"#tab-{TABS[n].ID} .finding").first).to_be_visible()
        tab = page.get_by_role("tab", name=TABS[n].LABEL, exact=True)
        expect(tab).to_have_attribute("aria-selected", "true")
        assert (f"tab={TABS[n].ID}" in page.url) == (n > 0)
    rests(page, TABS[3].ID)
    with page.expect_request(f"**{QUIET_PLACE}"):  # what was asked before is heard of
        page.evaluate("place => fetch(place)", QUIET_PLACE)
    assert asked == []
    assert page.evaluate("history.length") == 5


def back_and_forward_walk_through_the_texts_and_the_last_ones_can_be_chosen(page):
    for text in (SKY, DOG):
        compared(page, text)
    places = page.evaluate("history.length")
    page.go_back()
    shows(page, SKY)
    expect(page.locator(".aw-words")).to_contain_text("sky")
    page.go_forward()
    shows(page, DOG)
    expect(page.locator(".aw-words")).to_contain_text("moon")
    assert page.evaluate("history.length") == places
    page.get_by_role("button", name="More", exact=True).click()
    page.locator("select.recent").select_option(label=SKY)
    shows(page, SKY)
    assert page.locator("select.recent option").all_inner_texts()[1] == DOG


FOLDS = {"words": ".pw-tile", "attribution": ".pr-column"}
"""Folds of the first tab, and what each shows once it is answered."""


def are_answered(page):
    """Wait for what the folds show: Gradio tells a page that is left sooner of a lost connection."""
    for fold, drawn in FOLDS.items():
        expect(page.locator(f"#fold-predictions-{fold} {drawn}").first).to_be_visible()
    expect(page.locator("[data-testid=status-tracker]:not(.hide)")).to_have_count(0)


def test_the_theme_and_every_open_fold_are_there_after_a_reload_and_in_no_other_visit(
    app_url, page_at
):
    page = page_at(None, media={"color_scheme": "light"})
    page.goto(app_url, wait_until="domcontentloaded")
    expect(page.locator("#status .status")).to_be_visible()
    for fold, drawn in FOLDS.items():
        page.locator(f"#fold-predictions-{fold} button.label-wrap").click()
        page.wait_for_function("fold => location.search.includes(fold)", arg=fold)
        # Its answer pushes the next fold down, from under a click at the same moment.
        expect(page.locator(f"#fold-predictions-{fold} {drawn}").first).to_be_visible()
    page.locator("#theme-switch").click()
    are_answered(page)
    page.reload()
    expect(open_folds(page)).to_have_count(2)
    expect(page.locator("body")).to_have_class("dark")
    page.wait_for_function("location.search.includes('attribution')")
    are_answered(page)
    page.goto(f"{app_url}/?tab=claims&fold=scores", wait_until="domcontentloaded")
    expect(open_folds(page)).to_have_count(1)


def test_a_browser_that_keeps_nothing_shows_the_page_all_the_same(page_at):
    page = page_at(None)
    page.add_init_script(REFUSED)
    page.goto(page.guard.home, wait_until="domcontentloaded")
    expect(page.locator("#status .status")).to_be_visible()
    compared(page, SKY)
    page.locator("#theme-switch").click()
    expect(page.locator("body")).to_have_class("dark")
    page.locator("#fold-predictions-ask button.label-wrap").click()
    page.wait_for_function("location.search.includes('fold=ask')")
    expect(page.locator("select.recent")).to_be_hidden()
    page.go_back()
    page.wait_for_function("!location.search.includes('sky')")
