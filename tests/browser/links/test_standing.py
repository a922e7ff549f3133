"""While another text stands in the box than was compared, the page says what its answers are for."""

import pytest
from playwright.sync_api import expect

from explorer.links.page_state import DEFAULT_TEXT
from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
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


def test_what_is_typed_fades_the_answers_of_the_text_before(page_at):
    page = page_at("/")
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
