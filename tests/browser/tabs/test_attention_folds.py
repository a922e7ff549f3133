"""The deeper questions of the attention tab in Chromium: switches and BertViz offline."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from explorer.ui.attention import strings as texts_attention_ablation
from explorer.ui.attention import strings as texts_bertviz
from tests.browser.viewport import resize

pytestmark = pytest.mark.browser
PAIR = "The cat sat on the [MASK]. [SEP] It </script> was good."


def open_fold(page, question):
    page.get_by_role("button", name=question, exact=False).first.click()


def test_heads_are_switched_off_and_bertviz_draws_three_views(visit):
    page = visit("/?" + urlencode({"v": 1, "tab": "attention", "text": PAIR}))
    # A fold that is opened before the first answer is drawn once more with it.
    expect(page.locator("#status .status")).to_be_visible()
    a_head_switched_off_changes_the_answer_and_a_sweep_ranks_them(page)
    bertviz_draws_three_views_from_this_server_alone(page)


def a_head_switched_off_changes_the_answer_and_a_sweep_ranks_them(page):
    open_fold(page, texts_attention_ablation.ABLATION_QUESTION)
    heads = page.locator(".hs-column[data-model=bert] .hs-head")
    expect(heads).to_have_count(72)
    heads.nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(heads.nth(13)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".ab-column")).to_have_count(1)
    expect(page.locator(".ab-column .badge")).to_have_text("1 head off")
    page.get_by_role("button", name="All off", exact=True).click()
    expect(page.locator(".ab-column .badge").first).to_have_text("72 heads off")
    page.get_by_role("button", name="All on", exact=True).click()
    expect(page.locator(".ab-column")).to_have_count(0)
    the_heads_stay_where_they_are_on_a_phone(page)
    resize(page, 1440, 900)
    page.get_by_role("button", name="All on", exact=True).click()
    expect(page.locator(".ab-column")).to_have_count(0)
    page.get_by_role("button", name=texts_attention_ablation.SWEEP, exact=True).click()
    page.get_by_role("button", name="Switch off the 5 most important", exact=True).click()
    expect(page.locator(".hs-head.off")).to_have_count(15)
    expect(page.locator(".ab-column")).to_have_count(3)


def the_heads_stay_where_they_are_on_a_phone(page):
    """A sentence that grows would move another head below the finger."""
    resize(page, 390, 844)
    fold, said = page.locator("#fold-attention-ablation"), {}
    for n, model in enumerate((None, "bert", "albert")):
        if model:
            page.locator(f".hs-column[data-model={model}] .hs-head").nth(5).click()
        expect(page.locator(".ab-column")).to_have_count(n)
        said[fold.locator(".finding").inner_text()] = fold.evaluate(
            "fold => fold.querySelector('.hs-grid').getBoundingClientRect().y - fold.getBoundingClientRect().y"
        )
    assert len(said) == 3, said
    assert len(set(said.values())) == 1, said
    heights = fold.locator(".hs-column .badge").evaluate_all("all => all.map(e => e.offsetHeight)")
    assert len(set(heights)) == 1, "each number in one line"


def bertviz_draws_three_views_from_this_server_alone(page):
    open_fold(page, texts_bertviz.BERTVIZ_QUESTION)
    frame = page.frame_locator("iframe.bertviz")
    n = frame.locator("#vis #left text").count
    expect(frame.locator("#vis #left text").first).to_have_text("[CLS]")
    tokens = n()
    expect(frame.locator("#vis line")).to_have_count(tokens * tokens * 12)
    frame.get_by_label("Attention").select_option("3")
    expect(frame.locator("#vis #right text").last).to_have_text("[SEP]")
    assert frame.locator("#vis #left text").count() < tokens
    page.get_by_role("radio", name="Model view", exact=True).check()
    expect(frame.locator("#vis svg[viewBox]")).to_have_count(1)
    expect(frame.locator("#vis line")).to_have_count(tokens * tokens * 72)
    page.get_by_role("radio", name="Neuron view", exact=True).check()
    page.get_by_role("radio", name="ALBERT", exact=True).check()
    expect(frame.get_by_label("Head")).to_have_count(1)
    expect(frame.locator("#vis #collapsed #leftText text").first).to_have_text("[CLS]")
