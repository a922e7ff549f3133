"""The page by its keys: the box, the words, the examples and the tabs, each in a few presses."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


GRADIO_PROGRESS = """document.querySelector('#message').insertAdjacentHTML('beforeend',
  `<p id="step" class="progress-level-inner">${['Loading.', '-', '0.0%'].join('<!---->')}</p>`)"""


def test_the_keyboard_does_what_the_page_says_and_nothing_is_left_unsaid(visit):
    page = visit("/")
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


def test_the_first_tab_is_eight_presses_from_the_box_at_most(visit):
    page = visit("/")
    page.locator("#text textarea").focus()
    stops = []
    while not stops or not stops[-1].startswith("tab-"):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("(n => n.id || n.className)(document.activeElement)"))
        assert len(stops) <= 8, stops
    assert {"word", "compare", "chip", "add-sentence"} <= set(stops), "each has a stop of its own"


def test_more_examples_are_one_stop_and_the_arrows_move_among_them(visit):
    page = visit("/")
    page.get_by_role("button", name="More", exact=True).press("Enter")
    chips = page.locator("#more-examples .chips button")
    page.keyboard.press("Tab")
    expect(chips.first).to_be_focused()
    for key, place in (("ArrowRight", 1), ("End", -1), ("ArrowRight", 0)):
        page.keyboard.press(key)
        expect(chips.nth(place)).to_be_focused()
    page.keyboard.press("Tab")
    assert chips.evaluate_all("all => all.includes(document.activeElement)") is False
    page.keyboard.press("Escape")
    expect(chips.first).to_be_hidden()


def test_at_rest_words_when_typed_in_a_text_box(visit):
    page = visit("/")
    strip, box = page.locator(".strip"), page.locator("#text textarea")
    seen = "node => getComputedStyle(node).opacity"
    assert (strip.evaluate(seen), box.evaluate(seen)) == ("1", "0")
    page.locator("#text-row").click(position={"x": 700, "y": 20})
    expect(box).to_be_focused()
    assert (strip.evaluate(seen), box.evaluate(seen)) == ("0", "1")
    page.keyboard.press("Control+A")
    page.keyboard.type("The cat [MASK] on the mat.")
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('cat')")
    expect(strip.locator(".masked")).to_have_text("[MASK]")
    assert (strip.evaluate(seen), box.evaluate(seen)) == ("1", "0")


RING = "e => { const s = getComputedStyle(e); return parseFloat(s.outlineOffset) + parseFloat(s.outlineWidth); }"


def test_a_second_sentence_has_a_box_and_is_the_same_text(visit):
    page = visit("/")
    page.get_by_role("button", name="Add a second sentence").click()
    page.keyboard.type("It is [MASK].")
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('SEP')")
    text = page.evaluate("new URLSearchParams(location.search).get('text')")
    assert text.endswith(". [SEP] It is [MASK].")
    page.reload()
    expect(page.get_by_label("Second sentence", exact=True)).to_have_value("It is [MASK].")
    expect(page.locator(".strip")).to_have_count(2)
    box = page.get_by_label("Second sentence", exact=True)
    box.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert box.evaluate("e => e === document.activeElement")
    assert box.evaluate(RING) <= 0, "its ring does not lie over the × beside it"


def test_the_badge_opens_the_choice_of_models_and_names_those_in_use(visit):
    page = visit("/")
    badge = page.get_by_role("button", name="Miniature models")
    badge.click()
    page.get_by_role("radio", name="Published base size").check()
    expect(page.get_by_role("button", name="Published models")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#settings")).to_be_hidden()


def test_the_skip_link_leads_to_the_tabs(visit):
    page = visit("/")
    page.locator(".skip").focus()
    expect(page.locator(".skip")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    assert page.evaluate("Boolean(document.activeElement.closest('#tabs'))"), "it skips there"


def test_the_ledger_of_claims_works_from_the_keyboard(visit):
    page = visit("/?tab=claims", width=360, height=740)
    page.get_by_role("searchbox", name="Search the claims").focus()
    page.keyboard.type("sop")
    expect(page.locator(".cl-count")).not_to_have_text("195 of 195 claims")
    page.get_by_role("button", name="Clear").click()
    page.locator(".cl-more").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".cl-row")).to_have_count(46)
    assert page.evaluate("document.activeElement.closest('.cl-row') !== null")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
