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


def a_link_sets_the_controls_and_the_fold_computes_from_them(page):
    fold = page.locator("#fold-parameters-memory")
    expect(fold.get_by_text("(1 × 64 tokens)")).to_be_visible()
    expect(fold.get_by_role("radio", name="Bundled mini")).to_be_checked()
    expect(fold.get_by_role("checkbox")).to_be_checked()
    expect(fold.get_by_role("spinbutton").first).to_have_value("64")
    fold.get_by_role("radio", name="Base, full size").check()
    expect(page).to_have_url(re.compile(r"form=memory.keeps%3Ayes%2Cmemory.length%3A64(&|$)"))
    fold.get_by_role("checkbox").uncheck()
    expect(page).to_have_url(re.compile(r"form=memory.length%3A64(&|$)"))
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(fold.get_by_text("(1 × 64 tokens)")).to_be_visible()
    expect(fold.get_by_role("radio", name="Base, full size")).to_be_checked()


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
