"""Settings inside folds travel in the link: a link sets the controls, and what they show is from it."""

import re

import pytest
from playwright.sync_api import expect

from explorer.ui.distillation.strings import RESET, WITHOUT
from tests.browser.walked import walk

pytestmark = pytest.mark.browser


def test_a_link_back_presets_and_reset_set_the_controls_of_a_fold(page_at):
    form = "memory.keeps:yes,memory.length:64,memory.sizes:mini"
    page = page_at(f"/?v=1&tab=parameters&fold=memory&form={form}")
    a_link_sets_the_controls_and_the_fold_computes_from_them(page)
    walk(page, "/?v=1&tab=distillation&fold=losses&form=masking.rounds:100,masking.seed:3")
    back_sets_the_controls_again(page)
    walk(page, "/?v=1&tab=distillation&fold=live&form=live.ce:1.5,live.steps:40")
    presets_and_reset_set_the_controls_and_the_link(page)
    walk(page, "/?v=1&fold=ask&form=ask.words:late.2c.20tired")
    a_link_fills_a_box_and_what_is_typed_goes_into_the_link(page)
    text = "text=the+%5BMASK%5D+sat+on+the+%5BMASK%5D."
    form = "attribution.answer:dog,attribution.mask:2"
    walk(page, f"/?v=1&{text}&fold=attribution&form={form}")
    a_link_names_the_mask_and_the_answer_to_attribute(page)
    one_model_s_answer_is_asked_of_all_and_is_in_the_link(page)
    walk(page, "/?v=1&tab=claims&fold=scores&form=retention.student:Human,retention.table:bert-3")
    a_link_names_a_table_and_one_of_its_systems(page)
    walk(page, "/?v=1&tab=attention&fold=ablation")
    heads_that_are_off_are_in_the_link(page)


def a_link_sets_the_controls_and_the_fold_computes_from_them(page):
    fold = page.locator("#fold-parameters-memory")
    expect(fold.get_by_text("(1 × 64 tokens)")).to_be_visible()
    expect(fold.get_by_role("radio", name="Bundled mini")).to_be_checked()
    expect(fold.get_by_role("checkbox")).to_be_checked()
    expect(fold.get_by_role("spinbutton").first).to_have_value("64")
    fold.get_by_role("checkbox").uncheck()
    expect(page).to_have_url(re.compile(r"form=memory.length%3A64%2Cmemory.sizes%3Amini(&|$)"))


def a_link_fills_a_box_and_what_is_typed_goes_into_the_link(page):
    fold = page.locator("#fold-predictions-ask")
    expect(fold.get_by_role("textbox")).to_have_value("late, tired")
    expect(fold.locator("table").first).to_contain_text("tired")
    fold.get_by_role("textbox").press("Control+a")
    page.keyboard.type("blue")
    fold.get_by_role("button", name="Ask", exact=True).click()
    expect(fold.locator("table").first).to_contain_text("blue")
    expect(page).to_have_url(re.compile(r"form=ask.words%3Ablue(&|$)"))


def a_link_names_the_mask_and_the_answer_to_attribute(page):
    fold = page.locator("#fold-predictions-attribution")
    expect(fold.get_by_role("textbox")).to_have_value("dog")
    mask = fold.get_by_role("spinbutton")
    expect(mask).to_have_value("2")
    expect(fold).to_contain_text("Mask 2 of 2.")
    expect(fold.locator(".finding")).to_contain_text("make dog no likelier")
    mask.fill("1")
    page.keyboard.press("Tab")
    expect(fold).to_contain_text("Mask 1 of 2.")
    expect(page).to_have_url(
        re.compile(r"form=attribution.answer%3Adog%2Cattribution.mask%3A1(&|$)")
    )
    mask.fill("2")
    page.keyboard.press("Tab")
    expect(fold).to_contain_text("Mask 2 of 2.")
    mask.fill("")
    page.keyboard.press("Tab")
    expect(fold).to_contain_text("Mask 1 of 2.")
    expect(page).to_have_url(re.compile(r"form=attribution.answer%3Adog(&|$)"))


def one_model_s_answer_is_asked_of_all_and_is_in_the_link(page):
    text = "text=The+river+flows+into+the+%5BMASK%5D+Ocean."
    walk(page, f"/?v=1&{text}&fold=attribution")
    fold = page.locator("#fold-predictions-attribution")
    own = fold.get_by_role("radio", name="each model's own answer")
    expect(own).to_be_checked()
    offered = fold.get_by_role("radio", name="answer of mini-DistilBERT")
    offered.check()
    columns = fold.locator(".pr-column > p:first-of-type > strong")
    expect(fold.get_by_role("textbox")).not_to_have_value("")
    word = fold.get_by_role("textbox").input_value()
    expect(columns).to_have_text([word] * 3)
    expect(fold.locator(".finding")).to_contain_text("Their shares differ most at")
    expect(page).to_have_url(re.compile(rf"form=attribution.answer%3A{word}(&|$)"))
    walk(page, page.url)
    expect(offered).to_be_checked()
    expect(columns).to_have_text([word] * 3)
    own.check()
    expect(page).not_to_have_url(re.compile("form="))
    expect(fold.get_by_role("textbox")).to_have_value("")
    expect(fold).to_contain_text("Each model is asked about its own answer.")


def a_link_names_a_table_and_one_of_its_systems(page):
    fold = page.locator("#fold-claims-scores")
    expect(fold.locator("input[aria-label=Table]")).to_have_value(re.compile("SQuAD 2.0"))
    expect(fold.locator("input[aria-label='Smaller model']")).to_have_value("Human")
    expect(fold.get_by_text("Human keeps").first).to_be_visible()


def heads_that_are_off_are_in_the_link(page):
    fold = page.locator("#fold-attention-ablation")
    fold.locator(".hs-head").nth(3).click()
    said = fold.locator(".finding").first
    expect(said).to_contain_text("With 1 head off")
    expect(page).to_have_url(re.compile(r"look=off%3A\w+\.bert\.8(&|$)"))
    before, address = said.inner_text(), page.url
    page.goto("about:blank")
    page.goto(address)
    expect(said).to_have_text(before)


def back_sets_the_controls_again(page):
    fold = page.locator("#fold-distillation-losses")
    seed = fold.get_by_role("spinbutton")
    expect(seed).to_have_value("3")
    page.get_by_role("tab", name="Predictions").click()
    expect(page).not_to_have_url(re.compile("tab=distillation"))
    page.get_by_role("tab", name="Distillation").click()
    fold.get_by_role("button", name="Draw again").click()
    expect(seed).to_have_value("4")
    expect(page).to_have_url(re.compile("masking.seed%3A4"))
    page.go_back()
    page.go_back()
    expect(page).to_have_url(re.compile("masking.seed%3A3"))
    expect(seed).to_have_value("3")


def presets_and_reset_set_the_controls_and_the_link(page):
    fold = page.locator("#fold-distillation-live")
    numbers = fold.get_by_role("spinbutton")
    expect(numbers.nth(2)).to_have_value("1.5")
    fold.get_by_role("button", name=WITHOUT).click()
    expect(numbers.nth(2)).to_have_value("0")
    expect(page).to_have_url(re.compile(r"form=live.ce%3A0%2Clive.cos%3A0%2Clive.steps%3A40(&|$)"))
    fold.get_by_role("button", name=RESET, exact=True).click()
    expect(numbers.nth(0)).to_have_value("120")
    expect(page).not_to_have_url(re.compile("form="))
