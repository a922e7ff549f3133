"""Hostile text and links: markup stays text, what cannot be is repaired or refused in one sentence."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
FINDING = ".finding:visible"
LINKS = (
    {"tab": '"]x } body * { visibility: hidden', "fold": 'a"b', "family": "mini,constructor=x"},
    {"tab": "constructor", "fold": "__proto__", "embed": "1"},
)


def opened_one_by_one(page_at):
    """A page that goes from one of the links to the next."""
    page = page_at(f"/?{urlencode(LINKS[0])}")
    yield page
    for link in LINKS[1:]:
        page.goto(f"{page.guard.home}/?{urlencode(link)}", wait_until="domcontentloaded")
        yield page


def test_a_link_with_quotes_and_brackets_opens_the_page(page_at):
    """``page_at`` fails on an uncaught error or one in the console."""
    for page in opened_one_by_one(page_at):
        expect(page.locator("#status .status")).to_be_attached()
        expect(page.locator("#tab-predictions .finding").first).to_be_visible()
        page.wait_for_function("![...document.querySelectorAll('.generating')].length")
        page.guard.expect("contained invalid values")


def test_a_bad_link_is_repaired_with_one_notice(page_at):
    page = page_at("/?v=1&family=huge&temperature=nan&layer=-4&tab=nowhere&unknown=1")
    expect(page.locator(FINDING)).to_be_visible()
    page.wait_for_function("!location.search.includes('temperature')")
    assert page.guard.expect("tab, layer, temperature, family") == 1


def test_a_head_that_does_not_exist_is_repaired_with_a_notice(visit):
    page = visit("/?tab=attention&layer=40&head=50")
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


def test_a_link_whose_texts_cannot_be_read_says_so(page_at):
    page = page_at("/?v=1&z=none&tab=depth")
    page.guard.expect("could not be read")
    assert "z=" not in page.locator("#link input").input_value()


def test_a_link_to_a_refused_text_shows_no_other_text(page_at):
    page = page_at("/?text=" + "%E6%BC%A2" * 600)
    expect(page.locator("#message")).to_contain_text("512 fit")
    expect(page.locator(".pr-column:visible")).to_have_count(0)
    # Each ideograph is a word; the row shows the first 400.
    expect(page.locator(".strip .word")).to_have_text(["\u6f22"] * 400)


def test_the_words_are_those_of_a_link_that_is_refused(page_at):
    page = page_at(f"/?text={'cat+' * 1000}")
    expect(page.locator("#message [role=alert]")).to_be_visible()
    expect(page.locator(".strip .word").first).to_have_text("cat")


def test_a_link_reopens_exactly_this(visit, page_at):
    text = "Ümläut & 100 % <b>[MASK]</b> <script>alert(1)</script> 北京"
    page = visit("/")
    expect(page.locator(FINDING)).to_be_visible()
    page.locator("#text textarea").fill(text)
    page.keyboard.press("Control+Enter")
    page.wait_for_function("location.search.includes('script')")
    again = page_at("/" + page.url[page.url.index("?") :])
    expect(again.locator("#text textarea")).to_have_value(text)
    expect(again.locator(FINDING)).to_have_text(page.locator(FINDING).inner_text())


def compare(page, text):
    page.locator("#text textarea").fill(text)
    page.keyboard.press("Control+Enter")


def test_bad_text_gives_one_sentence_and_the_next_request_works(visit):
    page = visit("/?text=%3Cimg+src%3Dx+onerror%3D%22window.hit%3D1%22%3E+[MASK]")
    expect(page.locator(FINDING)).to_be_visible()
    assert page.evaluate("window.hit") is None, "markup in the text stays text"
    assert page.locator("img[src='x']").count() == 0
    for text, sentence in (
        ("", "There is no text yet"),
        ("word " * 3000, "tokens for mini-BERT; 512 fit"),
    ):
        before = page.locator(FINDING).inner_text()
        compare(page, text)
        expect(page.locator("#message")).to_contain_text(sentence)
        assert page.locator(FINDING).inner_text() == before
        compare(page, "The sky is [MASK].")
        expect(page.locator("#message")).not_to_contain_text(sentence)
