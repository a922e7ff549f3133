"""The tasks tab in a real Chromium: a pair in three orders, and what a link to it opens."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
PAIR = "The cat sat on the [MASK]. [SEP] It </script> was good."


def test_an_older_link_opens_the_quadrants_below_the_pair(visit):
    page = visit("/?" + urlencode({"tab": "attention", "fold": "pairs", "text": PAIR}))
    expect(page.get_by_role("tab", name="Tasks")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#tab-tasks .tp-legend dd").nth(1)).to_contain_text("It </script> was good")
    expect(page.locator("#tab-tasks .tp-column[data-model=bert] li")).to_have_count(3)
    expect(page.locator("#tab-tasks .columns.tp .card[data-model=distilbert]")).to_be_visible()
    expect(page.locator(".pq-column")).to_have_count(3)
    for bar in page.locator(".pq-bar").all():
        widths = [
            float(re.search(r"[\d.]+", i.get_attribute("style"))[0]) for i in bar.locator("i").all()
        ]
        assert sum(widths) == pytest.approx(100, abs=0.05)
    page.wait_for_function("location.search.includes('tab=tasks')")
    assert "fold=pairs" in page.url
    expect(page.locator(".toast-body")).to_have_count(0)


def test_which_one_to_use_is_a_link_away_and_an_older_link_opens_it(page_at):
    page = page_at("/?tab=tasks&family=mini&text=A+cat+[MASK].")
    link = page.get_by_role("link", name="Which should I use?")
    verdicts = page.locator("#fold-latency-choose td[data-label=Verdict]")
    link.click()  # before the page has answered anything
    expect(verdicts).to_have_count(6)
    page.get_by_role("tab", name="Tasks").click()
    expect(page.locator(".tp-column").first).to_be_visible()
    page.wait_for_function("location.search.includes('tab=tasks')")
    link.click()
    expect(page.get_by_role("tab", name="Latency")).to_have_attribute("aria-selected", "true")
    expect(verdicts).to_have_count(6)
    page.wait_for_function("location.search.includes('fold=choose')")
    assert "tab=latency" in page.url
    assert "A+cat" in page.url
    page.go_back()
    expect(page.get_by_role("tab", name="Tasks")).to_have_attribute("aria-selected", "true")
    page.goto(page.url.partition("?")[0] + "?v=1&tab=tasks&fold=tuned,choose")
    expect(page.get_by_role("tab", name="Latency")).to_have_attribute("aria-selected", "true")
    expect(verdicts).to_have_count(6)
    expect(page.locator(".toast-body")).to_have_count(0)


PARTS = {"pair": "tp", "sentiment": "ts", "question": "tq"}


def test_a_link_or_the_row_of_parts_brings_one_in_sight_its_box_on_top_and_no_other(visit):
    page = visit("/?tab=tasks&fold=sentiment", height=844)
    for name in ("sentiment", "question", "pair"):
        walk(page, f"/?tab=tasks&fold={name}")
        one_part_is_in_sight_and_no_other(page, name)
    resize(page, 1440, 900)
    the_row_of_parts_changes_what_is_in_sight_the_box_on_top_and_the_link(page)


def one_part_is_in_sight_and_no_other(page, name):
    for width in (1440, 390):
        resize(page, width, 844)
        for other, column in PARTS.items():
            shown = page.locator(f"#part-tasks-{other} .{column}-column").first
            expect(shown).to_be_visible(visible=other == name)
        chosen = page.locator("#tab-tasks .part-tab[aria-selected=true]")
        expect(chosen).to_have_id(f"fold-tasks-{name}")
        if name == "sentiment":
            a_bar_stands_in_the_line_of_its_word(page)
        if width == 1440:
            columns_align_and_the_caption_is_above_the_menu(page.locator(f"#part-tasks-{name}"))
    page.wait_for_function("location.search.includes('tab=tasks')")
    assert (f"fold={name}" in page.url) or name == "pair"


def columns_align_and_the_caption_is_above_the_menu(part):
    """Bars, strips and passages begin at one height in every column, whatever stands above."""
    for inside in (".tp-track", ".tq-strip", ".tq-passage", ".ts-column table"):
        tops = part.locator(":is(.tp-column, .tq-column, .ts-column)").evaluate_all(TOPS, inside)
        assert all(one == pytest.approx(tops[0], abs=1) for one in tops), inside
    caption = part.locator(".drawn > .note").first.bounding_box()
    assert caption["y"] + caption["height"] <= part.locator(".take").first.bounding_box()["y"]


def top_of(page, selector):
    page.evaluate("scrollTo(0, 0)")
    return page.locator(selector).bounding_box()["y"]


def the_row_of_parts_changes_what_is_in_sight_the_box_on_top_and_the_link(page):
    expect(page.locator(".tp-column").first).to_be_visible()
    text, sentiment = page.locator("#text textarea"), page.get_by_label("Text to classify")
    question, passage = (page.get_by_label(name, exact=True) for name in ("Question", "Passage"))
    expect(text).to_be_visible()
    tabs = top_of(page, "#tabs")
    page.get_by_role("tab", name="Classification", exact=True).click()
    expect(page.locator(".ts-column").first).to_be_visible()
    expect(page.locator(".tp-column").first).to_be_hidden()
    page.wait_for_function("location.search.includes('fold=sentiment')")
    expect(text).to_be_hidden()
    assert top_of(page, "#tabs") == tabs
    assert sentiment.bounding_box()["y"] < tabs
    sentiment.fill("Not a good film.")
    page.get_by_role("button", name="Classify").click()
    expect(page.locator(".ts-column").first).to_contain_text("Not")
    printed = (
        "(dispatchEvent(new Event('beforeprint')), document.querySelector('#tabs').dataset.text)"
    )
    page.wait_for_function(f"{printed} === '“Not a good film.”'")
    page.get_by_role("tab", name="Classification", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tq-column").first).to_be_visible()
    page.wait_for_function("location.search.includes('fold=question')")
    expect(sentiment).to_be_hidden()
    assert top_of(page, "#tabs") == tabs
    assert max(box.bounding_box()["y"] for box in (question, passage)) < tabs
    passage.click()  # it opens over the examples, and nothing moves
    opened = passage.bounding_box()
    assert opened["height"] > 80
    assert opened["y"] + opened["height"] < tabs
    assert top_of(page, "#tabs") == tabs
    page.get_by_role("tab", name="Latency").click()
    expect(question).to_be_hidden()
    expect(text).to_be_visible()
    page.get_by_role("tab", name="Tasks").click()
    expect(question).to_be_visible()
    page.get_by_role("tab", name="Question answering").focus()
    page.keyboard.press("Home")
    page.wait_for_function("!location.search.includes('fold=')")
    expect(page.locator(".tp-column").first).to_be_visible()
    expect(text).to_be_visible()


TOPS = """(columns, inside) => columns.map(column =>
  [...column.querySelectorAll(inside)].map(one => one.getBoundingClientRect().top))"""

MIDDLES = """row => [...row.querySelectorAll('th, .ts-track')].map(one => {
  const range = document.createRange();
  range.selectNodeContents(one);
  const {top, height} = (one.matches('th') ? range : one).getBoundingClientRect();
  return top + height / 2;
})"""


def a_bar_stands_in_the_line_of_its_word(page):
    expect(page.locator(".ts-column tbody tr").first).to_be_visible()
    for row in page.locator(".ts-column tbody tr").all():
        word, *bars = row.evaluate(MIDDLES)
        n = 1 if row.get_attribute("class") == "ts-base" else 2  # no word to leave out
        assert bars == pytest.approx([word] * n, abs=4)
