"""Laws of every tab with all of its folds open: axe finds nothing, a phone shows it whole, files hold what is drawn."""

import urllib.parse

import pytest
from playwright.sync_api import expect

from explorer.links.tabs import FOLDS
from explorer.ui.shell.tabs import TABS
from tests.browser import axe
from tests.browser.printed import SAVED, unsaved, untold
from tests.browser.rest import rests
from tests.browser.tabs.test_save_menus import EMPTY, covered_menus
from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
FINDING = ".finding:visible"


EVERYTHING = "Then [she|he] was [MASK] [MASK]. [SEP] It rained."
"""A text that leaves no fold without an answer."""
SEEN = {
    "predictions": (".pr-asked", ".pw-panel td", ".pr-contrast", ".pr-joint"),
    "attention": (
        "[data-kind='attention/summary'] canvas",
        ".hs-head",
    ),
    "layer": (".ly-grid", "[data-kind='layer/steps'] .main-svg", ".lc-wanted"),
    "depth": ("[data-kind='depth/lens'] > *", "#fold-depth-similarity .canvas > *"),
    "distillation": (".dl-strip", ".dm-text"),
    "tasks": (".tp-column", ".pq-bar", ".tp-tables td"),
    "parameters": (
        ".pt-calls",
        ".pt-layers",
        "[data-kind='parameters/sizes'] .main-svg",
        ".pt-modes",
        ".pt-built",
        "[data-kind='parameters/memory'] .fg",
    ),
    "latency": (".lt-paradox",),
    "claims": (".cl-row", ".cc-row", ".bm-kept"),
}
"""What every tab shows once all of its folds are open and answered."""
OPEN_ALL = """tab => document.querySelectorAll(`#tab-${tab} .fold .label-wrap:not(.open)`)
  .forEach(header => header.click())"""
OUTSIDE = """tab => [...document.querySelectorAll(`#tab-${tab} *`)].filter(node => {
  const box = node.getBoundingClientRect();
  if (!box.width || !box.height || (box.right <= innerWidth + 1 && box.left >= -1)) return false;
  for (let up = node.parentElement; up; up = up.parentElement) {
    if (getComputedStyle(up).overflowX !== 'visible' && up !== document.body) return false;
  }
  return true;
}).map(node => node.outerHTML.slice(0, 120))"""
MARKS = """tab => [...document.querySelectorAll(`#tab-${tab} .fold .label-wrap`)].filter(header => {
  const [question, mark] = [...header.children].map(part => part.getBoundingClientRect());
  const box = header.getBoundingClientRect(), gap = question.left - mark.right;
  const inside = mark.left >= box.left - 1 && mark.top >= box.top - 1 && mark.bottom <= box.bottom + 1;
  return !inside || gap < 0 || gap > 20;
}).map(header => header.textContent)"""


def everything(page, tab):
    """A tab with every fold open and answered."""
    walk(page, f"/?{urllib.parse.urlencode({'text': EVERYTHING, 'tab': tab})}")
    expect(page.locator(f"#tab-{tab} {FINDING}").first).to_be_visible()
    page.evaluate(OPEN_ALL, tab)
    if tab == "predictions":
        page.locator("#fold-predictions-ask").get_by_role("textbox").fill("late, tired")
        page.get_by_role("button", name="Ask", exact=True).click()
    for part in SEEN[tab]:  # a chart is drawn when it is near
        page.locator(f"#tab-{tab} {part.split(' ')[0]}").first.scroll_into_view_if_needed()
        expect(page.locator(f"#tab-{tab} {part}").first).to_be_visible()
    rests(page, tab)


def every_answered_fold_has_a_save(page, tab):
    for name in FOLDS[tab]:
        if (tab, name) not in EMPTY | {("depth", "changed")}:  # of two models of one shape
            expect(page.locator(f"#fold-{tab}-{name} .take").first).to_be_visible()


def move(page, tab):
    """Another state of a tab's pictures, drawn from what the page has or asks for."""
    if tab == "layer":
        before = page.locator(".ly-grid").element_handle()
        page.locator(".ly-controls select").nth(1).select_option("2")
        before.wait_for_element_state("hidden")
    if tab == "distillation":
        page.locator("[data-t='20']").click()
        expect(page.locator("#tab-distillation .finding").first).to_contain_text("T = 20")
    if tab == "attention":
        page.locator(".aw-lens [data-key=difference]").click()
    if tab == "depth":
        page.locator(".canvas[data-kind='depth/lens'] [data-key=words]").click()
        expect(page.locator(".canvas[data-kind='depth/lens'] .dw").first).to_be_visible()
    if tab == "parameters":
        page.locator("[data-kind='parameters/map'] [aria-pressed=false]").last.click()


def not_in_files(page, tab):
    """What the pictures of a tab print that their files lack, at first and in another state."""
    told = []
    for acts in (lambda *_: None, move):
        acts(page, tab)
        saved = page.evaluate(SAVED, f"#tab-{tab}")
        assert saved
        told += [(one["kind"], lost) for one in saved if (lost := unsaved(one) + untold(one))]
    return told


GATE = (("light", 1440), ("dark", 390))
"""Both themes and both widths; colours hang on the theme alone and room on the width alone."""
BY_HAND = (("light", 390), ("dark", 1440))


def seen_in(page, theme, width):
    resize(page, width, 900)
    is_dark = page.locator("body.dark")
    if is_dark.count() != (theme == "dark"):
        page.locator("#theme-switch").click()
    expect(is_dark).to_have_count(int(theme == "dark"))


VISITS = (
    ("predictions", "attention", "layer"),
    ("depth",),
    ("distillation", "tasks", "latency", "claims"),
    ("parameters",),
)
"""Tabs of one page: those with the most elements have their own, because a page draws all that it holds in a new theme."""


def test_every_tab_is_visited():
    assert sorted(tab for tabs in VISITS for tab in tabs) == sorted(SEEN)


@pytest.mark.parametrize("tabs", VISITS, ids=" ".join)
@pytest.mark.parametrize("views", [GATE, pytest.param(BY_HAND, marks=pytest.mark.slow)])
def test_with_every_fold_open_axe_finds_nothing_and_a_phone_shows_it_whole(page_at, tabs, views):
    """And the pointer meets every item of every Save menu where it stands; what is drawn is in its files."""
    page = page_at("/", media={"reduced_motion": "reduce"})
    for tab in tabs:
        seen_in(page, "light", 1440)
        everything(page, tab)
        it_is_whole(page, tab, views)


def it_is_whole(page, tab, views):
    told = []
    for theme, width in views:
        seen_in(page, theme, width)
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(MARKS, tab) == [], "a fold's mark stands before its question"
        assert page.evaluate(OUTSIDE, tab) == [], width
        every_answered_fold_has_a_save(page, tab)
        # What is around the tabs is the same for all of them: looked at once.
        part = None if tab == "claims" else f"#tab-{tab}"
        told += [(tab, width, rule, nodes[:4]) for rule, nodes in axe.violations(page, part)]
        told += [(tab, width, item) for item in covered_menus(page, page.locator(f"#tab-{tab}"))]
    told += not_in_files(page, tab)
    assert not told, "\n".join(map(str, told))
    expect(page.locator("#tabs [role=tab][data-tab-id]:visible")).to_have_count(len(TABS))
    resize(page, 360, 900)
    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
