"""What was compared comes back: by Back, from the list of last texts, after a reload."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
SKY, DOG = "The sky is [MASK].", "A dog [MASK] at the moon."
REFUSED = "for (const place of ['localStorage', 'sessionStorage']) Object.defineProperty(window, place, {get() { throw new Error('refused'); }});"


def compare(page, text):
    page.locator("#text textarea").fill(text)
    page.keyboard.press("Control+Enter")
    shows(page, text)


def shows(page, text):
    page.wait_for_function("t => new URLSearchParams(location.search).get('text') === t", arg=text)
    expect(page.locator("#text textarea")).to_have_value(text)
    expect(page.locator(".strip")).to_have_attribute("data-text", text)


def open_folds(page):
    return page.locator(".fold:visible button.label-wrap.open")


def test_back_and_forward_walk_through_the_texts_and_the_last_ones_can_be_chosen(page_at):
    page = page_at("/?tab=attention")
    expect(page.locator("#status .status")).to_be_visible(timeout=180_000)
    for text in (SKY, DOG):
        compare(page, text)
    places = page.evaluate("history.length")
    page.go_back()
    shows(page, SKY)
    expect(page.locator(".aw-words")).to_contain_text("sky")
    page.go_forward()
    shows(page, DOG)
    expect(page.locator(".aw-words")).to_contain_text("moon")
    assert page.evaluate("history.length") == places
    page.locator("select.recent").select_option(label=SKY)
    shows(page, SKY)
    assert page.locator("select.recent option").all_inner_texts()[1] == DOG


def test_the_theme_and_every_open_fold_are_there_after_a_reload_and_in_no_other_visit(
    app_url, chromium
):
    context = chromium.new_context(color_scheme="light")
    page = context.new_page()
    page.goto(f"{app_url}/?tab=parameters", wait_until="domcontentloaded")
    expect(page.locator("#tab-parameters .finding").first).to_be_visible()
    for fold in ("calls", "embedding"):
        page.locator(f"#fold-parameters-{fold} button.label-wrap").click()
        page.wait_for_function("fold => location.search.includes(fold)", arg=fold)
    page.locator("#theme-switch").click()
    page.reload()
    expect(open_folds(page)).to_have_count(2)
    expect(page.locator("body")).to_have_class("dark")
    page.wait_for_function("location.search.includes('fold=embedding')")
    page.goto(f"{app_url}/?tab=parameters&fold=sizes", wait_until="domcontentloaded")
    expect(open_folds(page)).to_have_count(1)
    context.close()


def test_a_browser_that_keeps_nothing_shows_the_page_all_the_same(app_url, chromium):
    context, errors = chromium.new_context(), []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    page = context.new_page()
    page.add_init_script(REFUSED)
    page.goto(app_url, wait_until="domcontentloaded")
    compare(page, SKY)
    page.locator("#theme-switch").click()
    expect(page.locator("body")).to_have_class("dark")
    page.locator("#fold-predictions-ask button.label-wrap").click()
    page.wait_for_function("location.search.includes('fold=ask')")
    expect(page.locator("select.recent")).to_be_hidden()
    page.go_back()
    page.wait_for_function("!location.search.includes('sky')")
    assert errors == []
    context.close()
