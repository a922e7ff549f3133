"""Compare: words are masked and typed, models are chosen, and every tab answers for the text that was asked for last."""

import urllib.parse

import pytest
from playwright.sync_api import expect

from explorer.limits import QUESTIONS
from explorer.links.page_state import DEFAULT_TEXT
from explorer.ui.kit import strings
from explorer.ui.kit.strings import LINK
from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
FINDING = ".finding:visible"


def link_of(page):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page.url).query))


def compare(page, text):
    page.locator("#text textarea").fill(text)
    page.keyboard.press("Control+Enter")


def test_click_masks_a_word_and_click_again_brings_it_back(visit):
    page = visit("/?text=The+cat+sat+on+the+mat.")
    page.locator(".strip .word", has_text="mat").click()
    expect(page.locator(".strip .masked")).to_have_text("[mat]")
    page.wait_for_function("location.search.includes('MASK')")
    assert link_of(page)["text"] == "The cat sat on the [MASK]."
    page.locator(".strip .masked").click()
    expect(page.locator(".strip .masked")).to_have_count(0)
    page.wait_for_function("!location.search.includes('MASK')")
    assert link_of(page)["text"] == "The cat sat on the mat."


TEXT = "The ship sailed across the [MASK] to America."


SHIP = f"/?text={TEXT.replace(' ', '+')}"


def test_a_word_hidden_beside_a_typed_mask_is_found_and_comes_back(visit):
    page = visit(SHIP)
    page.locator(".strip .word", has_text="sailed").click()
    expect(page.locator(".strip .masked")).to_have_text(["[sailed]", "[MASK]"])
    yours = page.locator(".pr-yours")
    expect(yours).to_have_count(3)
    expect(yours.first).to_contain_text("your word “sailed”: 0.")
    assert "hidden=sailed" in page.url
    page.reload()
    expect(page.locator(".strip .masked")).to_have_text(["[sailed]", "[MASK]"])
    page.locator(".strip .masked").first.click()
    expect(page.locator(".strip .masked")).to_have_text(["[MASK]"])
    expect(page.locator("#text textarea")).to_have_value(TEXT)
    expect(yours).to_have_count(0)


def test_a_gap_is_filled_by_typing_or_by_a_predicted_word(visit):
    page = visit(SHIP)
    # Read and clicked at once: the list of the opening example may give way to the text's own.
    first = page.locator(".pr-column .pr-word").first.evaluate(
        "word => { const said = word.innerText; word.click(); return said; }"
    )
    expect(page.locator("#text textarea")).to_have_value(TEXT.replace("[MASK]", first))
    expect(page.locator(".pr-column:visible")).to_have_count(0)
    page.go_back()
    page.locator(".strip .masked").click()
    page.keyboard.type("Pacific")
    expect(page.locator("#text textarea")).to_have_value(TEXT.replace("[MASK]", "Pacific"))


def test_the_words_are_those_of_a_link(visit):
    page = visit("/?text=A+[MASK]+sat+on+the+[MASK].&hidden=dog")
    expect(page.locator(".pr-column:visible")).to_have_count(6)
    expect(page.locator(".strip .masked")).to_have_text(["[dog]", "[MASK]"])


def test_an_example_opens_the_tab_and_the_question_that_it_is_about(visit):
    page = visit("/?tab=depth")
    page.get_by_role("button", name="Every word", exact=True).click()
    expect(page.get_by_role("tab", name="Predictions", exact=True)).to_have_attribute(
        "aria-selected", "true"
    )
    expect(page.locator("#fold-predictions-words .pw-tile").first).to_be_visible()


def test_a_tab_opened_while_compare_runs_shows_the_new_text(visit):
    page = visit("/")
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


LONG = "The old man walked slowly through the narrow streets of the town " * 4 + "to the [MASK]."


SHORT = "The sky is [MASK]."


def joins(page):
    """The events that the page sends from now on."""
    sent = []
    page.on("request", lambda r: sent.append(r.url) if "/queue/join" in r.url else None)
    return sent


def compared(page, text):
    page.locator("#text textarea").fill(text)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_function(
        "text => document.querySelector('#words .strip').dataset.text === text", arg=text
    )


def test_the_exact_numbers_come_again_for_a_text_that_was_shown_before(visit):
    page = visit("/?tab=attention")
    expect(page.locator("#status .status")).to_be_visible()
    note = page.locator(".aw-lens .note")
    for text in (LONG, SHORT, LONG):
        compared(page, text)
        expect(note).to_contain_text("percent")


ABLATION = f"/?tab=attention&fold=ablation&text={SHORT}"


def test_two_heads_switched_off_stay_off_in_the_words_and_in_the_switches(visit):
    page = visit(ABLATION)
    fold = page.locator("#fold-attention-ablation")
    page.locator(".hs-head").nth(0).click()
    page.locator(".hs-head").nth(5).click()
    expect(fold).to_contain_text("With 2 heads off")
    page.get_by_role("tab", name="Predictions").click()
    expect(page.locator("#tab-predictions .pr-column").first).to_be_visible()
    page.get_by_role("tab", name="Attention").click()
    expect(fold).to_contain_text("2 of 72 heads off")
    expect(fold).to_contain_text("With 2 heads off")
    expect(fold).not_to_contain_text("All heads are on")


FIRED = """() => {
  const later = window.setTimeout;
  window.fired = 0;
  window.setTimeout = (act, ms, ...given) => later((...told) => {
    act(...told);
    if (ms === 120) window.fired += 1;
  }, ms, ...given);
}"""
"""Counts the pauses of the switches that are over: a run of clicks asks once, after 120 ms."""


def test_a_picture_that_asks_while_it_waits_is_answered_for_what_it_asked_last(visit):
    page = visit(ABLATION)
    fold = page.locator("#fold-attention-ablation")
    expect(fold).to_contain_text("All heads are on")
    page.evaluate(FIRED)
    for head in range(4):
        page.locator(".hs-head").nth(head).click()
        page.wait_for_function("n => window.fired > n", arg=head)  # each click asks for itself
    expect(fold).to_contain_text("With 4 heads off")


def test_a_tab_that_shows_this_text_already_asks_nobody_and_open_folds_rest(visit):
    page = visit(f"/?text={SHORT}&fold=words")
    expect(page.locator("#fold-predictions-words .pw-tile").first).to_be_visible()
    for tab in ("Attention", "Claims"):
        page.get_by_role("tab", name=tab).click()
        expect(page.locator(f"#tab-{tab.lower()} .finding").first).to_be_visible()
    sent = joins(page)
    for tab in ("Predictions", "Attention", "Claims", "Predictions"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_function(
            "tab => (new URL(location.href).searchParams.get('tab') || 'predictions') === tab",
            arg=tab.lower(),
        )
    assert sent == []
    page.wait_for_function(
        "document.querySelector('#link input').value === location.href.replace('__theme=light&', '')"
    )
    compared(page, "The sea is [MASK].")
    expect(page.locator("#fold-predictions-words .pw-tile", has_text="sea")).to_be_visible()


def test_a_refused_text_changes_neither_the_link_nor_the_tabs(visit):
    page = visit(f"/?text={SHORT}")
    expect(page.locator(".finding:visible")).to_contain_text("black")
    page.locator("#text textarea").fill("")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("#message")).to_contain_text("There is no text yet")
    assert "sky" in page.url
    page.get_by_role("tab", name="Attention").click()
    expect(page.locator("#tab-attention .aw-word", has_text="sky")).to_be_visible()


HEADLINE = "#tab-predictions > *"


FADED = """() => [...document.querySelectorAll('#tab-predictions > *')].filter(node => node.getClientRects().length)
  .map(node => Number(getComputedStyle(node).opacity))"""


def are(page, condition):
    """Wait until the opacities of all that is in sight satisfy a condition."""
    page.wait_for_function(f"({FADED})().every(opacity => opacity {condition})")


def is_faded(page, compared):
    are(page, "< 0.6")
    note = page.locator("#standing p")
    expect(note).to_contain_text(compared)
    box = note.bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= page.viewport_size["height"], "wherever the page is scrolled"


def is_fresh(page):
    expect(page.locator("#standing p")).to_be_hidden()
    are(page, "=== 1")


def test_what_is_typed_fades_the_answers_of_the_text_before(visit):
    page = visit("/")
    expect(page.locator("#status .status")).to_be_visible()
    is_fresh(page)
    box = page.locator("#text textarea")
    box.fill("The sky is [MASK].")
    for width in (1440, 390):
        resize(page, width, 900)
        is_faded(page, DEFAULT_TEXT)
    box.fill(DEFAULT_TEXT)
    is_fresh(page)
    box.fill("The sky is [mask].")
    is_faded(page, DEFAULT_TEXT)
    page.keyboard.press("Control+Enter")
    page.wait_for_function("location.search.includes('sky')")
    is_fresh(page)
    walk(page, "/?v=1&text=A+cat+sat+on+the+[MASK].")
    after_a_refusal_the_answers_still_say_for_which_text_they_stand(page)


def after_a_refusal_the_answers_still_say_for_which_text_they_stand(page):
    is_fresh(page)
    for refused, sentence in (("", "no text"), ("word " * 700, "512 fit")):
        page.locator("#text textarea").fill(refused)
        page.keyboard.press("Control+Enter")
        expect(page.locator("#message .message")).to_contain_text(sentence)
        is_faded(page, "A cat sat on the [MASK].")
        page.get_by_role("button", name="Restore that text").click()
        expect(page.locator("#text textarea")).to_have_value("A cat sat on the [MASK].")
        is_fresh(page)
    a_tab_that_reads_no_text_stays_as_it_is(page)


def a_tab_that_reads_no_text_stays_as_it_is(page):
    page.locator("#text textarea").fill("The sky is [MASK].")
    is_faded(page, "A cat sat on the [MASK].")
    page.get_by_role("tab", name="Claims", exact=True).click()
    expect(page.locator("#tab-claims .finding").first).to_be_visible()
    page.wait_for_function(
        "getComputedStyle(document.querySelector('#tab-claims > *')).opacity === '1'"
    )


def test_a_family_that_cannot_be_had_says_the_way_back_and_takes_it(visit):
    page = visit("/?family=base&tab=parameters")
    page.get_by_role("button", name=strings.WAY_BACK).click()
    expect(page.locator(".status")).to_contain_text("mini-albert")
    page.get_by_role("button", name=strings.BADGES["mini"]).click()
    expect(page.get_by_role("radio", name=strings.SIZES["mini"])).to_be_checked()
    assert link_of(page)["family"] == "mini"


def test_a_links_text_tab_and_family_stand_in_the_box_the_row_and_the_settings(visit):
    page = visit("/?text=A+[MASK]+day&tab=depth&family=base")
    expect(page.locator("#text textarea")).to_have_value("A [MASK] day")
    depth = page.get_by_role("tab", name="Depth", exact=True)
    expect(depth).to_have_attribute("aria-selected", "true")
    page.locator(".badge-chip").click()
    expect(page.get_by_role("radio", name=strings.SIZES["base"])).to_be_checked()


SAYS = "([id, text]) => getComputedStyle(document.getElementById(id), '::before').content.includes(text)"
"""Script: whether an empty tab says a sentence."""


def test_who_comes_when_too_many_wait_reads_our_sentence(visit):
    page = visit("/")
    expect(page.locator(".status")).to_contain_text("mini-albert")
    busy = {"detail": QUESTIONS.sentence(n=64)}
    page.route("**/queue/join*", lambda route: route.fulfill(status=429, json=busy))
    page.locator("#text textarea").fill("The dog [MASK] at the moon.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(busy["detail"])).to_be_visible()
    depth = page.get_by_role("tab", name="Depth")
    depth.click()
    page.wait_for_function(SAYS, arg=["tab-depth", LINK["unanswered"]])
    page.unroute("**/queue/join*")
    depth.click()
    expect(page.locator("#tab-depth .dp-strip").first).to_be_visible()
    page.locator("#text textarea").press("Control+Enter")
    expect(page.locator("#status")).to_contain_text("9 tokens")
    page.guard.expect("429")
    page.guard.expect(busy["detail"])
