"""The depth tab in a real Chromium: a link's mask and dial, every word, and the way back."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from explorer.analysis.predictions import mask_predictions
from explorer.inference.runs import get_run
from explorer.links.page_state import PageState
from explorer.models.specs import MINI
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
TEXT = "The first [MASK] of the United [MASK] was a general."


KEYS = ("bert", "distilbert", "albert")
FIRST, SECOND = "The [MASK] of Paris is old.", "The [MASK] of London is old."


def test_the_strips_the_dial_every_word_and_a_second_text(visit):
    page = visit("/?" + urlencode({"tab": "depth", "text": TEXT, "mask": 1, "times": 9}))
    the_strips_the_dial_and_every_word(page)
    walk(page, "/?" + urlencode({"tab": "depth", "text": DISAGREE}))
    one_model_s_answer_is_followed_in_all_of_them(page)
    walk(page, "/?" + urlencode({"tab": "depth", "fold": "patching", "text": FIRST}))
    a_second_text_is_followed_and_stays_in_the_link(page)


DISAGREE = "The river flows into the [MASK] Ocean."


def one_model_s_answer_is_followed_in_all_of_them(page):
    runs = {key: get_run(MINI[key], PageState(text=DISAGREE).ask) for key in MINI if key in KEYS}
    word = mask_predictions(runs["distilbert"]).words[0][0]
    ranks = {}
    for key, run in runs.items():
        logits, piece = run.mask_logits[0], f"{'▁' if key == 'albert' else ''}{word}"
        ranks[key] = 1 + int((logits > logits[run.vocabulary.index(piece)]).sum())
    assert sorted(ranks.values()) != [1, 1, 1], "the models disagree about this text"
    page.get_by_role("button", name=word, exact=True).click()
    for key, rank in ranks.items():
        strip = page.locator(f".dp-strip[data-model={key}]")
        expect(strip.locator(".dp-word.first")).to_have_text(word)
        expect(strip.locator(".dp-place").last).to_have_text(f"{rank:,}")
        expect(strip.locator(".dp-row.decides")).to_have_count(int(rank == 1))
    expect(page.locator("#tab-depth .finding")).to_contain_text(f"Followed in all models: {word}.")
    page.wait_for_function("location.search.includes('look=follow%3Adistilbert')")
    walk(page, page.url)
    expect(page.locator(".dp-strip[data-model=bert] .dp-word.first")).to_have_text(word)
    page.get_by_role("button", name="each its own answer").click()
    page.wait_for_function("!location.search.includes('look=')")


def the_strips_the_dial_and_every_word(page):
    answers = {
        key: mask_predictions(get_run(MINI[key], PageState(text=TEXT).ask)).words[1][0]
        for key in ("bert", "distilbert", "albert")
    }
    for key, rows in (("bert", 7), ("distilbert", 4), ("albert", 7)):
        strip = page.locator(f".dp-strip[data-model={key}]")
        expect(strip.locator(".dp-row")).to_have_count(rows)
        expect(strip.locator(".dp-row.decides")).to_have_count(1)
        expect(strip.locator(".dp-word.first")).to_have_text(answers[key])
        expect(strip.locator(".dp-place").last).to_have_text("1")
    expect(page.locator("#tab-depth .finding")).to_contain_text(re.compile(r"in layer \d of 6"))
    dial = page.locator(".dd")
    expect(dial.locator("output")).to_have_text("9 ×")
    expect(dial.locator(".dd-facts")).to_contain_text("1.50 × the usual compute")
    page.locator(".dd input").fill("6")
    expect(dial.locator(".dd-facts")).to_contain_text("0 nats")
    page.wait_for_function("!location.search.includes('times=')")
    page.get_by_role("button", name="every word", exact=True).click()
    expect(page.locator("#tab-depth .finding")).to_contain_text("Each word masked in turn")
    expect(page.locator(".dw[data-model=bert] tbody tr")).to_have_count(7)
    expect(page.locator(".dw[data-model=bert] tbody tr").last.locator("td").nth(6)).to_have_text(
        "1"
    )
    page.wait_for_function("location.search.includes('lens=words')")
    page.get_by_role("button", name="a mask", exact=True).click()
    expect(page.locator(".dp-strip")).to_have_count(3)
    page.wait_for_function("!location.search.includes('lens=')")


def a_second_text_is_followed_and_stays_in_the_link(page):
    fold = page.locator("#fold-depth-patching")
    offered = fold.locator(".dq-offers .chip")
    expect(offered.filter(has_text="Paris → London")).to_have_count(1)
    box = fold.get_by_role("textbox")
    expect(fold.locator(".fold-finding")).to_contain_text("at first that word")
    box.fill(SECOND)
    fold.get_by_role("button", name="Patch every state", exact=True).click()
    expect(fold.locator(".fold-finding")).to_contain_text("Paris or London")
    expect(fold.get_by_role("button", name="Stop", exact=True)).to_be_hidden()
    for key, rows in (("bert", 7), ("distilbert", 4), ("albert", 7)):
        model = fold.locator(f".dq[data-model={key}]")
        if not model.locator(".dq-map").count():
            expect(model).to_contain_text("pieces")
            continue
        cells = model.locator(".dq-row.framed").last.locator(".dq-cell")
        expect(cells).to_have_count(rows)
        expect(cells.last).to_have_text("0")
        expect(model.locator(".dq-row.framed").first.locator(".dq-cell").last).to_have_text("1")
    page.wait_for_function("location.search.includes('other=The')")
    box.fill("Something else entirely was here before us all.")
    fold.get_by_role("button", name="Patch every state", exact=True).click()
    expect(fold.locator(".note").first).to_contain_text("The two texts may differ in one place")
    expect(fold.locator(".dq-map")).to_have_count(0)
    offered.filter(has_text="Paris → London").click()
    expect(fold.locator(".fold-finding")).to_contain_text("Paris or London")
    expect(box).to_have_value(SECOND)
