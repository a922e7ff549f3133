"""A first visit: which models these are, one's own word found again, a refusal in sight."""

import pytest
from playwright.sync_api import expect

from tests.browser.frames import ASKED, FRAMES
from tests.browser.viewport import resize
from tests.browser.walked import walk
from tests.waiting import until

pytestmark = pytest.mark.browser
SIZES = [(390, 844), (1440, 900)]


def opened(page_at, path="/", **options):
    page = page_at(path, **options)
    # Until then the opening example is shown, which no model has computed.
    expect(page.locator("#status .status")).to_be_visible(timeout=180_000)
    return page


def test_the_miniatures_are_named_and_a_refusal_is_in_sight_at_either_width(page_at):
    page = opened(page_at, width=390, height=844, theme="dark")
    for width, height in SIZES:
        resize(page, width, height)
        the_miniatures_are_named_and_nothing_is_wider_than_the_page(page)
    for (width, height), n_words in zip(SIZES, (390, 380), strict=True):
        resize(page, width, height)
        the_words_stay_short_and_a_refusal_is_in_sight(page, n_words, height)


def the_miniatures_are_named_and_nothing_is_wider_than_the_page(page):
    heads = page.locator(".pr-column h3")
    expect(heads).to_have_text(["mini-BERT", "mini-DistilBERT", "mini-ALBERT"])
    expect(page.locator("#masthead")).to_contain_text("Miniature models")
    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")


def test_the_family_is_a_fold_an_example_says_what_it_shows_and_stop_stops(page_at):
    page = opened(page_at)
    the_family_is_a_fold_and_an_example_says_what_it_shows(page)
    walk(page, "/?tab=latency")
    stop_is_there_only_while_something_runs(page)


def test_a_page_at_rest_asks_for_no_frames(page_at):
    """Gradio's signs of progress go on when they are gone: a laptop's battery pays for it."""
    page = page_at(None)
    page.add_init_script(FRAMES)
    page.goto(page.guard.home, wait_until="domcontentloaded")
    for tab in ("Attention", "Depth"):
        page.get_by_role("tab", name=tab, exact=True).click()
        expect(page.locator(f"#tab-{tab.lower()} .finding").first).to_be_visible()
        until(lambda: not page.evaluate(ASKED), 60, lambda: page.evaluate("frames.slice(-3)"))


def the_family_is_a_fold_and_an_example_says_what_it_shows(page):
    page.locator(".skip").focus()
    expect(page.locator(".skip")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    assert page.evaluate("Boolean(document.activeElement.closest('#tabs'))"), "it skips there"
    expect(page.get_by_text("How are the three related?")).to_be_hidden()
    page.get_by_role("tab", name="Parameters", exact=True).click()
    expect(page.locator(".fm-row:visible")).to_have_count(0)
    page.get_by_text("How are the three related?").click()
    expect(page.locator(".fm-row:visible")).to_have_count(3)
    ends = page.locator(".fm-row:visible .fm-into").evaluate_all(
        "all => all.map(e => getComputedStyle(e, '::before').bottom)"
    )
    assert ends == ["-6px", "-6px", "10px"], "the line of the text ends at the last model"
    page.get_by_role("tab", name="Attention", exact=True).click()
    page.get_by_role("button", name="He or she", exact=True).click()
    expect(page.locator(".pr-contrast-row").first).to_be_visible()
    expect(page.locator("#examples .shows")).to_contain_text("Gender bias")
    resize(page, 390, 844)
    box = page.locator("#examples .shows").bounding_box()
    assert box["x"] >= 0, "what an example shows is a line below the row, not at its far end"
    assert 250 < box["width"] < 390
    assert page.locator("#examples .tries").bounding_box()["height"] < 60
    resize(page, 1440, 900)
    page.wait_for_function("location.search.includes('fold=ask')")
    page.get_by_role("button", name="Agreement", exact=True).click()
    page.wait_for_function("location.search.includes('dogs')")
    page.wait_for_function("!location.search.includes('fold=')")
    expect(page.locator("#fold-predictions-ask > button.open")).to_have_count(0)


TEXT = "The ship sailed across the [MASK] to America."
SHIP = f"/?text={TEXT.replace(' ', '+')}"


def test_a_gap_is_filled_and_a_hidden_word_is_found_and_comes_back(page_at):
    page = opened(page_at, SHIP)
    a_word_hidden_beside_a_typed_mask_is_found_and_comes_back(page)
    a_gap_is_filled_by_typing_or_by_a_predicted_word(page)


def a_gap_is_filled_by_typing_or_by_a_predicted_word(page):
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


def a_word_hidden_beside_a_typed_mask_is_found_and_comes_back(page):
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


def test_the_words_are_those_of_a_link(page_at):
    page = page_at("/?text=A+[MASK]+sat+on+the+[MASK].&hidden=dog")
    expect(page.locator(".pr-column:visible")).to_have_count(6)
    expect(page.locator(".strip .masked")).to_have_text(["[dog]", "[MASK]"])


def test_the_words_are_those_of_a_link_that_is_refused(page_at):
    page = page_at(f"/?text={'cat+' * 1000}")
    expect(page.locator("#message [role=alert]")).to_be_visible()
    expect(page.locator(".strip .word").first).to_have_text("cat")


def the_words_stay_short_and_a_refusal_is_in_sight(page, n_words, height):
    refusal = page.locator("#message [role=alert]")
    page.locator("#text textarea").fill("word " * n_words)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("#status")).to_contain_text(f"{n_words + 2} tokens")
    expect(page.locator(".strip .word")).to_have_count(n_words)
    expect(refusal).to_be_hidden()
    assert page.locator(".strip").bounding_box()["height"] <= 0.25 * height
    page.locator("#text textarea").fill("word " * 3000)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(refusal).to_be_visible()
    expect(refusal).to_be_in_viewport(ratio=1)


def stop_is_there_only_while_something_runs(page):
    stop = page.locator("#measure-stop")
    expect(page.get_by_role("button", name="Measure here")).to_be_visible()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Measure here").click()
    expect(stop).to_be_visible()
    stop.click()
    expect(stop).to_have_count(0)
