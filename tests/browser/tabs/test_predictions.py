"""The predictions tab in a real browser: what a reader does with it, and what must not break."""

import re
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser


def link(text):
    return f"/?v=1&text={quote(text)}&tab=predictions"


def opened_too(page, text):
    walk(page, link(text))
    expect(page.locator("#tab-predictions .finding").first).to_be_visible()


def open_fold(page, question):
    page.locator("#tab-predictions").get_by_role("button", name=question).click()


RIVER, OLD_MAN = "The river flows into the [MASK].", "The old man looked at the river."
KING = "The [king|queen] of the north sat on the [MASK]."


def test_columns_words_deeper_questions_and_many_masks_also_on_a_phone(visit):
    page = visit(link(RIVER))
    # Out of sight are the columns of the text that the page opens on.
    page.locator("#tab-predictions .finding").wait_for(timeout=180_000)
    three_columns_cut_to_the_words_asked_for_and_linked_on_hover(page)
    opened_too(page, OLD_MAN)
    every_word_is_hidden_in_turn_and_read_with_the_keyboard(page)
    opened_too(page, KING)
    the_deeper_questions_answer(page)
    opened_too(page, with_masks(4))
    of_many_masks_one_is_chosen_from_a_list(page)
    page.emulate_media(media="screen")
    resize(page, 390, 844)
    walk(page, "/?" + urlencode({"text": with_masks(40), "mask": 33}))
    a_phone_has_room_for_forty_masks_for_long_words_and_for_a_powers_number(page)


def three_columns_cut_to_the_words_asked_for_and_linked_on_hover(page):
    columns = page.locator(".pr-column")
    expect(columns).to_have_count(3)
    expect(columns.first.locator(".pr-row")).to_have_count(10)
    shown = page.get_by_label("Words shown")
    shown.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(columns.first.locator(".pr-row")).to_have_count(13)
    expect(columns.first.locator(".pr-rest")).to_contain_text("outside the top 13")
    numbers = [float(t) for t in columns.first.locator(".pr-p").all_inner_texts()]
    rest = float(columns.first.locator(".pr-rest").inner_text().split()[0])
    assert sum(numbers) + rest == pytest.approx(1, abs=0.01)
    shared = page.locator(".pr-row.shared").first
    shared.hover()
    word = shared.get_attribute("data-word")
    linked = page.locator(".pr-row.linked").evaluate_all("rows => rows.map(r => r.dataset.word)")
    assert len(linked) >= 2
    assert set(linked) == {word}


def the_deeper_questions_answer(page):
    open_fold(page, "Your own words: how likely")
    page.get_by_label("Words or phrases, separated by commas").fill("table, old chair")
    page.get_by_role("button", name="Ask", exact=True).click()
    asked = page.locator("#tab-predictions .pr-asked")
    expect(asked).to_have_count(12)
    expect(page.locator(".pr-contrast-row.preferred")).to_have_count(3)
    open_fold(page, "Filling several masks jointly: do the answers change?")
    expect(page.locator(".pr-joint")).to_have_count(3)
    page.locator("#text textarea").fill("The [day|night] was long.")
    page.get_by_role("button", name="Compare", exact=True).click()
    # What is open answers for the new text by itself.
    expect(page.locator(".pr-alternative h3")).to_have_text(["day", "night"])
    expect(page.locator("#tab-predictions")).to_contain_text("Masks in the text: 1.")


def every_word_is_hidden_in_turn_and_read_with_the_keyboard(page):
    expect(page.locator("#tab-predictions .finding")).to_contain_text("No word is masked yet")
    open_fold(page, "Surprisal: how well is every word predicted?")
    expect(page.locator("#tab-predictions .fold-finding")).to_contain_text("of 8 words first")
    tiles = page.locator(".pw-tile")
    expect(tiles).to_have_count(8)
    tiles.first.click()
    page.keyboard.press("ArrowRight")
    expect(tiles.nth(1)).to_be_focused()
    expect(page.locator(".pw-panel figcaption")).to_have_text("old")
    expect(tiles.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".pw-tile[aria-pressed=true]")).to_have_count(1)
    expect(page.locator(".pw-panel tbody tr")).to_have_count(3)


MARKUP = "<img src=x> " + "w" * 80 + " & the [MASK] [SEP] [MASK]"


def nothing_is_wider_than_a_phone_and_markup_stays_text(page):
    expect(page.locator(".pr-gap")).to_have_count(2)
    open_fold(page, "Surprisal: how well is every word predicted?")
    expect(page.locator(".pw-tile")).to_have_count(12)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("#tab-predictions img").count() == 0


PLACES = (
    """strip => [...strip.querySelectorAll('button')].map(one => one.getBoundingClientRect().x)"""
)


def arabic_runs_from_the_right_and_its_numbers_do_not(page):
    box = page.locator("#words .strip")
    expect(box.locator("button")).to_have_count(6)
    tiles = page.locator(".pw-strip")
    expect(tiles.locator("button")).to_have_count(7)
    for strip in (box, tiles):
        places = strip.evaluate(PLACES)
        assert places == sorted(places, reverse=True)
    power = tiles.locator(".pw-line", has_text="×10").first
    turned = """node => {
      const range = document.createRange(), text = node.lastChild, at = text.data.indexOf('×');
      const x = place => { range.setStart(text, place); range.setEnd(text, place + 1); return range.getBoundingClientRect().x; };
      return x(0) < x(at);
    }"""
    assert power.evaluate(turned)
    page.locator("#text textarea").focus()
    style = page.locator("#text textarea").evaluate(
        "n => [getComputedStyle(n).unicodeBidi, getComputedStyle(n).textAlign]"
    )
    assert style == ["plaintext", "start"]


def with_masks(n):
    words = [
        "The",
        "old",
        "man",
        "sat",
        "on",
        "the",
        "bench",
        "by",
        "the",
        "river",
        "and",
        "his",
        "dog",
        "ran",
        "after",
        "a",
        "bird",
    ]
    filled = words * 3
    return " ".join("[MASK]" if 1 <= i <= n else word for i, word in enumerate(filled)) + "."


def of_many_masks_one_is_chosen_from_a_list(page):
    expect(page.locator(".pr-gap")).to_have_count(4)
    expect(page.locator(".pr-mask")).to_have_count(0)
    page.locator("#text textarea").fill(with_masks(12))
    page.get_by_role("button", name="Compare", exact=True).click()
    tiles, context = page.locator(".pr-mask"), page.locator(".pr-context")
    expect(tiles).to_have_count(12)
    expect(context).to_have_count(1)
    expect(context).to_contain_text("Mask 1 of 12")
    tiles.nth(6).click()
    page.keyboard.press("ArrowRight")
    expect(tiles.nth(7)).to_be_focused()
    expect(context).to_contain_text("Mask 8 of 12")
    page.wait_for_url("**/*mask=7*")
    page.locator("#text textarea").fill("The [MASK] sat.")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(tiles).to_have_count(0)
    expect(page).not_to_have_url(re.compile("mask="))
    page.go_back()
    expect(context).to_contain_text("Mask 8 of 12")
    expect(page.locator('.pr-mask[aria-pressed="true"]')).to_have_count(1)
    page.reload(wait_until="domcontentloaded")
    expect(context).to_contain_text("Mask 8 of 12")
    page.emulate_media(media="print")
    expect(tiles.last).to_be_visible()
    expect(context).to_be_visible()


def a_phone_has_room_for_forty_masks_for_long_words_and_for_a_powers_number(page):
    forty_masks_take_a_phone_no_more_room_than_five(page)
    resize(page, 360, 900)
    opened_too(page, MARKUP)
    nothing_is_wider_than_a_phone_and_markup_stays_text(page)
    resize(page, 1440, 900)
    walk(page, f"/?{urlencode({'text': 'القطة جلست على [MASK] في البيت.', 'fold': 'words'})}")
    arabic_runs_from_the_right_and_its_numbers_do_not(page)


def forty_masks_take_a_phone_no_more_room_than_five(page):
    """The list is one row, which begins where the chosen mask is in sight."""
    expect(page.locator(".pr-mask")).to_have_count(40)
    chosen = page.locator('.pr-mask[aria-pressed="true"]')
    expect(chosen).to_contain_text("34")
    page.wait_for_function(
        "tile => { const box = tile.getBoundingClientRect(); return box.left > 0 && box.right < innerWidth; }",
        arg=chosen.element_handle(),
    )
    tall = page.locator('[data-kind="predictions/gaps"]').bounding_box()["height"]
    words = page.locator(".pr-mask").evaluate_all(
        "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
    )
    assert words == [], "what a mask says stays inside its tile"
    opened_too(page, with_masks(5))
    expect(page.locator(".pr-mask")).to_have_count(5)
    few = page.locator('[data-kind="predictions/gaps"]').bounding_box()["height"]
    assert tall < 1.3 * few


ARABIC = "القط [MASK] على"


SIDES = """tab => {
  const panel = document.getElementById(`tab-${tab}`), sides = [];
  const texts = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
  const left = (node, at) => {
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    return range.getBoundingClientRect().left;
  };
  while (texts.nextNode()) {
    const node = texts.currentNode, at = node.data.search(/…[\\u0600-\\u06ff]/);
    if (at < 0 || !node.parentElement.checkVisibility()) continue;
    sides.push([node.data, left(node, at) > left(node, at + 1)]);
  }
  return sides;
}"""


def test_the_ellipsis_of_an_arabic_piece_is_on_its_right(visit):
    page = visit("/?tab=predictions")
    for tab in ("predictions", "layer", "depth", "distillation"):
        walk(page, f"/?tab={tab}&text={quote(ARABIC)}")
        page.wait_for_function(f"tab => ({SIDES})(tab).length > 0", arg=tab)
        assert [text for text, is_right in page.evaluate(SIDES, tab) if not is_right] == []
