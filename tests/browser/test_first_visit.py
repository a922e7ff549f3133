"""A first visit: which models these are, one's own word found again, a refusal in sight."""

import httpx
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
SIZES = [(390, 844), (1440, 900)]


def opened(page_at, path="/", **options):
    page = page_at(path, **options)
    # Until then the opening example is shown, which no model has computed.
    expect(page.locator("#status .status")).to_be_visible(timeout=180_000)
    return page


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_miniatures_are_named_and_nothing_is_wider_than_the_page(page_at, width, height, theme):
    page = opened(page_at, width=width, height=height, theme=theme)
    heads = page.locator(".pr-column h3")
    expect(heads).to_have_text(["mini-BERT", "mini-DistilBERT", "mini-ALBERT"])
    expect(page.locator("#masthead")).to_contain_text("three miniatures trained for this page")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_family_is_drawn_until_it_is_folded_and_its_doors_open_every_tab(page_at):
    page = opened(page_at, width=390, height=844)
    expect(page.locator(".fm-row:visible")).to_have_count(3)
    page.locator(".door[data-tab=latency]").click()
    page.wait_for_function("location.search.includes('tab=latency')")
    expect(page.locator("#tabs [role=tab][aria-selected=true]")).to_be_in_viewport(ratio=1)
    page.locator(".fm summary").click()
    page.locator(".fm-body").wait_for(state="hidden")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(page.url.replace("tab=latency", "tab=predictions"))
    expect(page.locator(".pr-answer").first).to_be_in_viewport(ratio=1)
    expect(page.locator(".fm-body")).to_be_hidden()
    page.get_by_role("tab", name="Attention").click()
    page.locator(".chip", has_text="He or she").click()
    expect(page.locator(".pr-contrast-row").first).to_be_visible()
    expect(page.locator("#words .shows")).to_contain_text("Bias")
    page.wait_for_function("location.search.includes('fold=ask')")


def test_a_typed_mask_offers_a_word_to_type(page_at):
    page = opened(page_at)
    page.locator(".strip .masked").click()
    page.keyboard.type("Pacific")
    expect(page.locator("#text textarea")).to_have_value(
        "The ship sailed across the Pacific to America."
    )


def test_a_word_hidden_beside_a_typed_mask_is_found_and_comes_back(page_at):
    page = opened(page_at)
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
    expect(page.locator("#text textarea")).to_have_value(
        "The ship sailed across the [MASK] to America."
    )
    expect(yours).to_have_count(0)


@pytest.fixture
def box_unfilled(app_url, chromium):
    """Gradio fills the box by an event of its own, which a busy page may answer last; here never."""
    events = httpx.get(f"{app_url}/config").json()["dependencies"]
    loading = [e["id"] for e in events if e["targets"] and e["targets"][0][1] == "load"]
    context = chromium.new_context()

    def route(asked):
        if asked.request.post_data_json["fn_index"] not in loading:
            asked.continue_()

    context.route("**/queue/join*", route)
    yield context.new_page()
    context.close()


def test_the_words_are_those_of_a_link_that_is_answered_before_the_box_is_filled(
    app_url, box_unfilled
):
    link = f"{app_url}/?text=A+[MASK]+sat+on+the+[MASK].&hidden=dog"
    box_unfilled.goto(link, wait_until="commit")
    expect(box_unfilled.locator(".pr-column:visible")).to_have_count(6)
    expect(box_unfilled.locator(".strip .masked")).to_have_text(["[dog]", "[MASK]"])


def test_the_words_are_those_of_a_link_that_is_refused_before_the_box_is_filled(
    app_url, box_unfilled
):
    box_unfilled.goto(f"{app_url}/?text={'cat+' * 1000}", wait_until="commit")
    expect(box_unfilled.locator("#message [role=alert]")).to_be_visible()
    expect(box_unfilled.locator(".strip .word").first).to_have_text("cat")


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_refusal_is_in_sight_and_the_words_stay_short(page_at, width, height):
    page = opened(page_at, width=width, height=height)
    page.locator("#text textarea").fill("word " * 390)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator(".strip .word")).to_have_count(390)
    assert page.locator(".strip").bounding_box()["height"] <= 0.25 * height
    page.locator("#text textarea").fill("word " * 3000)
    page.get_by_role("button", name="Compare", exact=True).click()
    refusal = page.locator("#message [role=alert]")
    expect(refusal).to_be_visible()
    expect(refusal).to_be_in_viewport(ratio=1)


def test_the_first_stop_of_the_tab_key_skips_to_the_results(page_at):
    page = opened(page_at)
    page.locator(".skip").focus()
    expect(page.locator(".skip")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    assert page.evaluate("Boolean(document.activeElement.closest('#tabs'))")


def test_stop_is_there_only_while_something_runs(page_at):
    page = opened(page_at, "/?tab=latency")
    stop = page.locator("#measure-stop")
    expect(page.get_by_role("button", name="Measure here")).to_be_visible()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Measure here").click()
    expect(stop).to_be_visible()
    stop.click()
    expect(stop).to_have_count(0)
