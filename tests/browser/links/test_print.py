"""On paper: the tab in sight in light colours, whole, and nothing that can only be pressed."""

import pytest
from playwright.sync_api import expect

from tests.browser.viewport import resize
from tests.browser.walked import walk
from tests.waiting import until

pytestmark = pytest.mark.browser
PAPER = 718
"""CSS pixels across an upright A4 page between margins of 12 mm, about."""
SHEET = 794
"""The same with the margins: what a style sheet takes for the width."""
CONTROLS = "#input-bar, #masthead, footer, #link, .tab-wrapper, .tour, .take, #standing"
OVERFLOWING = """width => [...document.querySelectorAll('#tabs *, #status *')].filter(node => {
  const box = node.getBoundingClientRect();
  return box.width > 2 && box.height > 2 && box.right > width + 1 && !node.closest('.table, .dq-scroll, .fg, .sr-only, [tabindex="0"]');
}).map(node => `${node.tagName}.${node.className?.baseVal ?? node.className} ${Math.round(node.getBoundingClientRect().right)}`).slice(0, 5)"""


def on_paper(page):
    """The page as the printer sees it."""
    expect(page.locator("#status .status")).to_be_visible()
    expect(page.locator("[id^=tab-] .finding:visible").first).to_be_visible()
    page.emulate_media(media="print")
    resize(page, PAPER, 1000)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")


QUERIES = ("tab=predictions", "tab=distillation&temperature=4", "tab=parameters&fold=sizes")


def test_paper_is_light_exact_whole_and_begins_with_the_answer(visit):
    page = visit(f"/?v=1&{QUERIES[0]}", 1280, 800, "dark")
    for query in QUERIES:
        page.emulate_media(media="screen")
        resize(page, 1280, 800)
        walk(page, f"/?v=1&{query}")
        a_tab_is_light_exact_whole_and_begins_with_the_answer(page, query)


def a_tab_is_light_exact_whole_and_begins_with_the_answer(page, query):
    tab = query.split("&")[0].removeprefix("tab=")
    if tab != "predictions":
        expect(page.locator(f"#tab-{tab} .fg .main-svg").first).to_be_attached()
    on_paper(page)
    assert "dark" not in (page.locator("body").get_attribute("class") or "")
    # Colours may fade from one theme to the other.
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    finding = page.locator(f"#tab-{tab} .finding:visible").first
    expect(finding).to_have_css("color", "rgb(28, 34, 48)")
    expect(finding).to_have_css("print-color-adjust", "exact")
    for control in page.locator(CONTROLS).all():
        expect(control).to_be_hidden()
    top = finding.bounding_box()["y"]
    assert top + page.evaluate("scrollY") < 260, "the first page begins with the answer"
    # A chart is drawn anew for its width, in steps.
    until(
        lambda: not page.evaluate(OVERFLOWING, PAPER), 60, lambda: page.evaluate(OVERFLOWING, PAPER)
    )
    columns = page.locator(f"#tab-{tab} .columns:visible").first
    if columns.count():
        boxes = columns.evaluate("n => [...n.children].map(c => [c.offsetTop, c.offsetLeft])")
        assert len({top for top, _ in boxes}) == 1, "three columns stay beside each other"
        assert len({left for _, left in boxes}) == len(boxes) > 1
    expect(page.locator("#status .status")).to_be_visible()
    assert "mini" in page.evaluate(
        "getComputedStyle(document.querySelector('#tabs'), '::after').content"
    )
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("body")).to_have_class("dark")


def test_what_is_printed_says_which_text_it_is_for_and_every_bar_keeps_its_colour(visit):
    page = visit("/?v=1&text=The+sky+is+[MASK].", 1280, 800)
    on_paper(page)
    said = "getComputedStyle(document.querySelector('#tabs'), '::before').content"
    assert "The sky is [MASK]." in page.evaluate(said)
    assert page.locator("body").get_attribute("class") in (None, "")
    every_bar_keeps_its_colour_in_the_file(page)


NEVER_IDLE = """window.requestIdleCallback = (act, {timeout} = {}) => {
  if (timeout) setTimeout(act, timeout);
};"""
"""Chromium on a busy machine: a page that asks for no frames gets no idle time either."""


def test_a_picture_that_waits_until_it_is_in_sight_is_on_paper_too(page_at):
    """At once: a printer waits for nothing, so it is drawn before, idle or not."""
    page = page_at(None, 1280, 500)
    page.add_init_script(NEVER_IDLE)
    page.goto(f"{page.guard.home}/?v=1&tab=distillation", wait_until="domcontentloaded")
    expect(page.locator("#tab-distillation .finding").first).to_be_visible()
    expect(page.locator("#tab-distillation .dc .fg-pair")).to_be_attached()
    assert page.locator("#tab-distillation .dc").bounding_box()["y"] > 700, "it is out of sight"
    expect(page.locator("#tab-distillation .dc .fg .main-svg").first).to_be_attached()
    resize(page, 1280, 800)
    charts_that_are_drawn_for_the_screen_fit_the_paper_side_by_side(page)


def charts_that_are_drawn_for_the_screen_fit_the_paper_side_by_side(page):
    """A printer lays out at once: Plotly has no time to draw for another width."""
    expect(page.locator(".dc .fg .main-svg:first-child")).to_have_count(2)
    page.evaluate("Plotly.Plots.resize = () => {}")
    page.emulate_media(media="print")
    resize(page, SHEET, 1000)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    boxes = [one.bounding_box() for one in page.locator(".dc .fg .main-svg:first-child").all()]
    assert len(boxes) == 2
    assert all(box["x"] + box["width"] <= SHEET for box in boxes)
    assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]


SHEETS = {"A4": 703, "Letter": 725}
"""CSS pixels across an upright page between margins of 12 mm."""
NEVER_RESIZED = """window.ResizeObserver = class extends ResizeObserver {
  constructor(act) { super((...seen) => { if (!window.printing) act(...seen); }); }
};"""
"""A printer lays out once: no script learns the width of the sheet."""
CUT = """width => {
  const cut = [], range = document.createRange(), texts = document.createTreeWalker(document.querySelector('#tab-parameters'), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode, parent = text.parentElement;
    if (!text.data.trim() || parent.closest('.sr-only, .question, svg') || !parent.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    let right = width;
    for (let at = parent; at; at = at.parentElement)
      if (getComputedStyle(at).overflowX !== 'visible') right = Math.min(right, at.getBoundingClientRect().right);
    if (box.width > 1 && box.right > right + 1) cut.push(`${text.data}: ${box.right} > ${right}`);
  }
  return cut;
}"""


def test_no_word_and_no_number_of_parameters_is_cut_off_by_the_sheet(page_at):
    page = page_at(None, 1440, 900)
    page.add_init_script(NEVER_RESIZED)
    page.goto(f"{page.guard.home}/?v=1&tab=parameters&fold=sizes&sizes=table")
    is_whole_on_every_sheet(page)
    page.evaluate("window.printing = false")
    page.emulate_media(media="screen")
    resize(page, 1440, 900)
    walk(page, "/?v=1&tab=parameters&family=mini")
    is_whole_on_every_sheet(page)


def is_whole_on_every_sheet(page):
    expect(page.locator(".pm-inspector td").first).to_be_visible()
    page.evaluate("window.printing = true")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    for sheet, width in SHEETS.items():
        resize(page, width, 1000)
        assert page.evaluate(CUT, width) == [], sheet


def every_bar_keeps_its_colour_in_the_file(page):
    for key, fill in {"bert": "rgb(47, 127, 208)", "albert": "rgb(15, 155, 118)"}.items():
        bar = page.locator(f".pr-column[data-model={key}] .pr-bar").first
        shown = bar.evaluate(
            "b => [getComputedStyle(b), getComputedStyle(b.firstElementChild ?? b)].map(s => [s.backgroundColor, s.printColorAdjust])"
        )
        assert [fill, "exact"] in shown
