"""A first visit: which models these are, one's own word found again, a refusal in sight."""

import pytest
from playwright.sync_api import expect

from explorer.assets import examples
from explorer.ui.first.scripts import FIRST_PACK
from tests.browser.frames import ASKED, FRAMES
from tests.browser.held import hold
from tests.browser.viewport import NEXT_FRAME, resize
from tests.browser.walked import walk
from tests.waiting import until

pytestmark = pytest.mark.browser
FINDING = ".finding:visible"
SIZES = [(390, 844), (1440, 900)]


def opened(visit, path="/", **options):
    page = visit(path, **options)
    # Until then the opening example is shown, which no model has computed.
    expect(page.locator("#status .status")).to_be_visible(timeout=180_000)
    return page


def test_the_miniatures_are_named_and_a_refusal_is_in_sight_at_either_width(visit):
    page = opened(visit, width=390, height=844, theme="dark")
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


def test_the_family_is_a_fold_an_example_says_what_it_shows_and_stop_stops(visit):
    page = opened(visit)
    the_family_is_a_fold_and_an_example_says_what_it_shows(page)
    walk(page, "/?tab=latency")
    stop_is_there_only_while_something_runs(page)


def test_a_page_at_rest_asks_for_no_frames_and_is_english_in_a_german_browser(page_at):
    """Gradio's signs of progress go on when they are gone: a laptop's battery pays for it."""
    page = page_at(None, locale="de-DE")
    page.add_init_script(FRAMES)
    page.goto(page.guard.home, wait_until="domcontentloaded")
    for tab in ("Attention", "Depth"):
        page.get_by_role("tab", name=tab, exact=True).click()
        expect(page.locator(f"#tab-{tab.lower()} .finding").first).to_be_visible()
        until(lambda: not page.evaluate(ASKED), 60, lambda: page.evaluate("frames.slice(-3)"))
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.get_by_role("tab", name="Predictions", exact=True).click()
    for words in (".pr-word", ".pr-first", ".finding em.w", ".strip"):
        own = page.locator(words).locator("visible=true").first
        expect(own.locator("xpath=ancestor-or-self::*[@translate='no']").first).to_be_visible()


def the_family_is_a_fold_and_an_example_says_what_it_shows(page):
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


def test_it_opens_with_an_example_already_computed(visit):
    page = visit("/")
    expect(page.locator(FINDING)).to_be_visible()
    expect(page.locator(".status")).to_contain_text("mini-albert")
    assert "family=mini" in page.url
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


def test_what_is_typed_while_the_page_opens_stays(page_at):
    page, box = page_at("/?text=A+[MASK]+day&tab=attention"), "#text textarea"
    page.locator(box).fill("The dog [MASK] at the moon.")
    expect(page.locator("#status .status")).to_contain_text("mini-albert")
    page.evaluate(NEXT_FRAME)
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
