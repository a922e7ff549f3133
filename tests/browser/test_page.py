"""The page as a reader uses it: opens computed, words mask, links reopen, bad input is survived."""

import urllib.parse

import pytest
from playwright.sync_api import expect

from explorer.assets import examples
from explorer.links.page_state import FOLDS
from explorer.ui.kit import strings
from explorer.ui.shell.scripts import FIRST_PACK
from explorer.ui.shell.tabs import TABS
from tests.browser import axe
from tests.browser.held import hold
from tests.browser.printed import SAVED, unsaved, untold
from tests.browser.tabs.test_save_menus import EMPTY, covered_menus
from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
FINDING = ".finding:visible"


def link_of(page):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page.url).query))


def compare(page, text):
    page.locator("#text textarea").fill(text)
    page.keyboard.press("Control+Enter")


def test_the_page_opens_computed_and_answers_one_thing_after_the_other(page_at):
    page = page_at("/")
    it_opens_with_an_example_already_computed(page)
    walk(page, "/?text=The+cat+sat+on+the+mat.")
    click_masks_a_word_and_click_again_brings_it_back(page)
    walk(page, "/?text=%3Cimg+src%3Dx+onerror%3D%22window.hit%3D1%22%3E+[MASK]")
    bad_text_gives_one_sentence_and_the_next_request_works(page)
    walk(page, "/?tab=depth")
    an_example_opens_the_tab_and_the_question_that_it_is_about(page)
    walk(page, "/")
    a_tab_opened_while_compare_runs_shows_the_new_text(page)
    walk(page, "/")
    the_keyboard_does_what_the_page_says_and_nothing_is_left_unsaid(page)


def it_opens_with_an_example_already_computed(page):
    expect(page.locator(FINDING)).to_be_visible()
    expect(page.locator(".status")).to_contain_text("mini-albert")
    assert link_of(page)["family"] == "mini"
    policy = page.request.get(page.url).headers["content-security-policy"]
    assert "default-src 'self'" in policy, "what it forbids is an error of the console"


def silent(page_at, path):
    """A page whose models never answer."""
    page = page_at(None)
    hold(page, "*/queue/join*")
    page.goto(f"{page.guard.home}{path}", wait_until="domcontentloaded")
    return page


def test_the_example_is_there_before_any_model_has_answered(page_at):
    page = silent(page_at, "/")
    expect(page.locator(FINDING)).to_contain_text(examples()[0]["accepted"][0][0])
    expect(page.locator(".pr-column:visible")).to_have_count(3)


def test_a_link_to_another_text_does_not_show_the_example_first(page_at):
    page = silent(page_at, "/?text=The+cat+sat+on+the+[MASK].")
    expect(page.locator("#tab-predictions .pr-column")).to_have_count(3)
    expect(page.locator(FINDING)).to_have_count(0)


def test_a_family_that_cannot_be_had_says_the_way_back_and_takes_it(page_at):
    page = page_at("/?family=base&tab=parameters")
    page.get_by_role("button", name=strings.WAY_BACK).click()
    expect(page.locator(".status")).to_contain_text("mini-albert")
    page.get_by_role("button", name=strings.BADGES["mini"]).click()
    expect(page.get_by_role("radio", name=strings.SIZES["mini"])).to_be_checked()
    assert link_of(page)["family"] == "mini"


def an_example_opens_the_tab_and_the_question_that_it_is_about(page):
    page.get_by_role("button", name="Every word", exact=True).click()
    expect(page.get_by_role("tab", name="Predictions", exact=True)).to_have_attribute(
        "aria-selected", "true"
    )
    expect(page.locator("#fold-predictions-words .pw-tile").first).to_be_visible()


def test_what_is_typed_while_the_page_opens_stays(page_at):
    page, box = page_at("/?text=A+[MASK]+day&tab=attention"), "#text textarea"
    page.locator(box).fill("The dog [MASK] at the moon.")
    expect(page.locator("#status .status")).to_contain_text("mini-albert")
    page.evaluate("new Promise(done => setTimeout(done, 1000))")
    expect(page.locator(box)).to_have_value("The dog [MASK] at the moon.")
    expect(page.locator(".strip .word").nth(1)).to_have_text("dog")


def test_what_is_typed_before_the_modules_are_there_stays(page_at):
    page = page_at(None)
    go_on = hold(page, f"*/{FIRST_PACK}")
    # The document waits for its modules.
    page.goto(f"{page.guard.home}/?text=A+[MASK]+day", wait_until="commit")
    page.locator("#text textarea").fill("The dog [MASK] at the moon.")
    go_on()
    expect(page.locator("#status .status")).to_contain_text("mini-albert")
    expect(page.locator(".strip .word").nth(1)).to_have_text("dog")
    expect(page.locator("#text textarea")).to_have_value("The dog [MASK] at the moon.")


def test_a_links_text_tab_and_family_stand_in_the_box_the_row_and_the_settings(page_at):
    page = page_at("/?text=A+[MASK]+day&tab=depth&family=base")
    expect(page.locator("#text textarea")).to_have_value("A [MASK] day")
    depth = page.get_by_role("tab", name="Depth", exact=True)
    expect(depth).to_have_attribute("aria-selected", "true")
    page.locator(".badge-chip").click()
    expect(page.get_by_role("radio", name=strings.SIZES["base"])).to_be_checked()


LATE_END = """(() => {
  const ask = window.fetch.bind(window);
  window.fetch = async (...asked) => {
    const answer = await ask(...asked);
    if (!String(asked[0].url ?? asked[0]).includes('/queue/data')) return answer;
    return new Response(answer.body.pipeThrough(new TransformStream({async transform(chunk, out) {
      if (new TextDecoder().decode(chunk).includes('close_stream')) {
        window.ending = true;
        await new Promise(done => setTimeout(done, 1500));
      }
      out.enqueue(chunk);
    }})), answer);
  };
})()"""


def test_a_compare_pressed_as_the_event_stream_ends_is_answered(page_at):
    page = page_at(None)
    page.add_init_script(LATE_END)
    page.goto(page.guard.home, wait_until="domcontentloaded")
    page.wait_for_function("window.ending")
    compare(page, "The sky is [MASK].")
    page.wait_for_function("location.search.includes('sky')")


def a_tab_opened_while_compare_runs_shows_the_new_text(page):
    for tab, word in (("Attention", "long"), ("Parameters", "short")):
        compare(page, f"A {word} way [MASK] home. " * 12)
        page.get_by_role("tab", name=tab).click()
        page.wait_for_function(
            "([tab, word]) => location.search.includes(`${word}+way`) && location.search.includes(`tab=${tab}`)",
            arg=[tab.lower(), word],
        )
        expect(page.locator(FINDING)).to_be_visible()
        drawn = page.locator(f"#tab-{tab.lower()} .canvas").first
        expect(drawn.locator("> *").first).to_be_visible()
        if tab == "Attention":
            expect(drawn).to_contain_text(word)


def test_a_link_to_a_refused_text_shows_no_other_text(page_at):
    page = page_at("/?text=" + "%E6%BC%A2" * 600)
    expect(page.locator("#message")).to_contain_text("512 fit")
    expect(page.locator(".pr-column:visible")).to_have_count(0)
    expect(page.locator(".strip .word")).to_have_text(["\u6f22" * 600])


GRADIO_PROGRESS = """document.querySelector('#message').insertAdjacentHTML('beforeend',
  `<p id="step" class="progress-level-inner">${['Loading.', '-', '0.0%'].join('<!---->')}</p>`)"""


def the_keyboard_does_what_the_page_says_and_nothing_is_left_unsaid(page):
    box = page.locator("#text textarea")
    box.fill("One")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("[MASK] two")
    expect(box).to_have_value("One\n[MASK] two")
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('two')")
    chosen = page.locator("#tabs [role=tab][aria-selected=true]")
    chosen.focus()
    for key, tab in (("ArrowLeft", "Claims"), ("ArrowRight", "Predictions"), ("End", "Claims")):
        page.keyboard.press(key)
        expect(chosen).to_have_text(tab)
        expect(chosen).to_be_focused()
    box.fill("word " * 450)
    expect(page.locator(".strip .word")).to_have_count(400)
    expect(page.locator(".strip")).to_contain_text("not shown: 50")
    page.evaluate(GRADIO_PROGRESS)
    expect(page.locator("#step")).to_have_text("Loading.")


def click_masks_a_word_and_click_again_brings_it_back(page):
    page.locator(".strip .word", has_text="mat").click()
    expect(page.locator(".strip .masked")).to_have_text("[mat]")
    page.wait_for_function("location.search.includes('MASK')")
    assert link_of(page)["text"] == "The cat sat on the [MASK]."
    page.locator(".strip .masked").click()
    expect(page.locator(".strip .masked")).to_have_count(0)
    page.wait_for_function("!location.search.includes('MASK')")
    assert link_of(page)["text"] == "The cat sat on the mat."


def test_a_link_reopens_exactly_this(page_at):
    text = "Ümläut & 100 % <b>[MASK]</b> <script>alert(1)</script> 北京"
    page = page_at("/")
    expect(page.locator(FINDING)).to_be_visible()
    compare(page, text)
    page.wait_for_function("location.search.includes('script')")
    again = page_at("/" + page.url[page.url.index("?") :])
    expect(again.locator("#text textarea")).to_have_value(text)
    expect(again.locator(FINDING)).to_have_text(page.locator(FINDING).inner_text())


ARABIC = "القط [MASK] على"
SIDES = """tab => {
  const panel = document.getElementById(`tab-${tab}`), sides = [];
  const texts = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
  const left = (node, at) => {
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    return range.getBoundingClientRect().left;
  };
  while (texts.nextNode()) {
    const node = texts.currentNode, at = node.data.search(/…[\\u0600-\\u06ff]/);
    if (at < 0 || !node.parentElement.checkVisibility()) continue;
    sides.push([node.data, left(node, at) > left(node, at + 1)]);
  }
  return sides;
}"""


def test_the_ellipsis_of_an_arabic_piece_is_on_its_right(page_at):
    page = page_at("/?tab=predictions")
    for tab in ("predictions", "layer", "depth", "distillation"):
        walk(page, f"/?tab={tab}&text={urllib.parse.quote_plus(ARABIC)}")
        page.wait_for_function(f"tab => ({SIDES})(tab).length > 0", arg=tab)
        assert [text for text, is_right in page.evaluate(SIDES, tab) if not is_right] == []


def test_a_bad_link_is_repaired_with_one_notice(page_at):
    page = page_at("/?v=1&family=huge&temperature=nan&layer=-4&tab=nowhere&unknown=1")
    expect(page.locator(FINDING)).to_be_visible()
    page.wait_for_function("!location.search.includes('temperature')")
    assert page.guard.expect("tab, layer, temperature, family") == 1


def bad_text_gives_one_sentence_and_the_next_request_works(page):
    expect(page.locator(FINDING)).to_be_visible()
    assert page.evaluate("window.hit") is None, "markup in the text stays text"
    assert page.locator("img[src='x']").count() == 0
    for text, sentence in (
        ("", "There is no text yet"),
        ("word " * 3000, "tokens for mini-BERT; 512 fit"),
    ):
        before = page.locator(FINDING).inner_text()
        compare(page, text)
        expect(page.locator("#message")).to_contain_text(sentence)
        assert page.locator(FINDING).inner_text() == before
        compare(page, "The sky is [MASK].")
        expect(page.locator("#message")).not_to_contain_text(sentence)


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


def every_answered_fold_has_a_save(page, tab):
    for name in FOLDS[tab]:
        if (tab, name) not in EMPTY:
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


VISITS = (
    ("predictions", "attention", "layer"),
    ("depth",),
    ("distillation", "tasks", "latency", "claims"),
    ("parameters",),
)
"""Tabs that are looked at in one page: the two with the most elements alone."""


def test_every_tab_is_visited():
    assert sorted(tab for visit in VISITS for tab in visit) == sorted(SEEN)


def seen_in(page, theme, width):
    resize(page, width, 900)
    is_dark = page.locator("body.dark")
    if is_dark.count() != (theme == "dark"):
        page.locator("#theme-switch").click()
    expect(is_dark).to_have_count(int(theme == "dark"))


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
        told += [
            (tab, width, "Save", items)
            for items in covered_menus(page, page.locator(f"#tab-{tab}"))
        ]
    told += not_in_files(page, tab)
    assert not told, "\n".join(map(str, told))
    expect(page.locator("#tabs [role=tab][data-tab-id]:visible")).to_have_count(len(TABS))
    resize(page, 360, 900)
    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
