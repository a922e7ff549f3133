"""The page asks one question at a time and never contradicts itself."""

import pytest
from playwright.sync_api import expect

from tests.browser.walked import walk

pytestmark = pytest.mark.browser
LONG = "The old man walked slowly through the narrow streets of the town " * 4 + "to the [MASK]."
SHORT = "The sky is [MASK]."


def compare(page, text):
    page.locator("#text textarea").fill(text)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_function(
        "text => document.querySelector('#words .strip').dataset.text === text", arg=text
    )


def joins(page):
    """The events that the page sends from now on."""
    sent = []
    page.on("request", lambda r: sent.append(r.url) if "/queue/join" in r.url else None)
    return sent


ABLATION = f"/?tab=attention&fold=ablation&text={SHORT}"


def test_attention_answers_for_the_text_and_the_heads_that_were_asked_for_last(page_at):
    page = page_at("/?tab=attention")
    the_exact_numbers_come_again_for_a_text_that_was_shown_before(page)
    walk(page, ABLATION)
    two_heads_switched_off_stay_off_in_the_words_and_in_the_switches(page)
    page.get_by_role("button", name="All on", exact=True).click()
    a_picture_that_asks_while_it_waits_is_answered_for_what_it_asked_last(page)


def the_exact_numbers_come_again_for_a_text_that_was_shown_before(page):
    expect(page.locator("#status .status")).to_be_visible()
    note = page.locator(".aw-lens .note")
    for text in (LONG, SHORT, LONG):
        compare(page, text)
        expect(note).to_contain_text("percent")


def two_heads_switched_off_stay_off_in_the_words_and_in_the_switches(page):
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


def a_picture_that_asks_while_it_waits_is_answered_for_what_it_asked_last(page):
    fold = page.locator("#fold-attention-ablation")
    expect(fold).to_contain_text("All heads are on")
    for head in range(4):
        page.locator(".hs-head").nth(head).click()
        page.wait_for_timeout(140)  # each click asks for itself
    expect(fold).to_contain_text("With 4 heads off")


def test_nobody_is_asked_again_open_folds_rest_and_a_refusal_changes_nothing(page_at):
    page = page_at(f"/?text={SHORT}&fold=words")
    a_tab_that_shows_this_text_already_asks_nobody_and_open_folds_rest(page)
    walk(page, f"/?text={SHORT}")
    a_refused_text_changes_neither_the_link_nor_the_tabs(page)
    walk(page, "/?tab=parameters&fold=sizes")
    a_link_opens_its_fold_and_the_fold_is_in_the_link(page)


def a_tab_that_shows_this_text_already_asks_nobody_and_open_folds_rest(page):
    expect(page.locator("#fold-predictions-words .pw-tile").first).to_be_visible()
    for tab in ("Attention", "Claims"):
        page.get_by_role("tab", name=tab).click()
        expect(page.locator(".finding:visible")).to_be_visible()
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
    compare(page, "The sea is [MASK].")
    expect(page.locator("#fold-predictions-words .pw-tile", has_text="sea")).to_be_visible()


def test_a_head_that_does_not_exist_is_repaired_with_a_notice(page_at):
    page = page_at("/?tab=attention&layer=40&head=50")
    page.guard.expect("layer, head")
    page.wait_for_function(
        "!location.search.includes('layer') && !location.search.includes('head')"
    )


def test_a_link_to_a_fold_that_is_gone_shows_its_tab_and_says_so_once(page_at):
    page = page_at("/?tab=claims&fold=savings")
    expect(page.locator(".cl-row").first).to_be_visible(timeout=180_000)
    expect(page.locator("#tab-claims .fold .label-wrap.open")).to_have_count(0)
    page.wait_for_function("!location.search.includes('fold=')")
    assert page.guard.expect("reset to the default: fold") == 1


def a_link_opens_its_fold_and_the_fold_is_in_the_link(page):
    expect(page.locator("#fold-parameters-sizes table").first).to_be_visible()
    page.get_by_role("button", name="Weight sharing: does ALBERT run").click()
    linked = "names => new URLSearchParams(location.search).get('fold') === names"
    page.wait_for_function(linked, arg="sizes,sharing")
    page.get_by_role("button", name="Weight sharing: does ALBERT run").click()
    page.wait_for_function(linked, arg="sizes")


def a_refused_text_changes_neither_the_link_nor_the_tabs(page):
    expect(page.locator(".finding:visible")).to_contain_text("black")
    page.locator("#text textarea").fill("")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("#message")).to_contain_text("There is no text yet")
    assert "sky" in page.url
    page.get_by_role("tab", name="Attention").click()
    expect(page.locator("#tab-attention .aw-word", has_text="sky")).to_be_visible()
