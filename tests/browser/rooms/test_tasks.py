"""The tasks tab in a real Chromium: a pair in three orders, and what a link to it opens."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
PAIR = "The cat sat on the [MASK]. [SEP] It </script> was good."


def test_an_older_link_opens_the_quadrants_below_the_pair(page_at):
    page = page_at("/?" + urlencode({"tab": "attention", "fold": "pairs", "text": PAIR}))
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


def overprints(fold):
    """Pairs of names in a chart of which one is printed over the other."""
    return fold.evaluate(
        """node => [...node.querySelectorAll('.fg')].flatMap(chart => {
        const boxes = [...chart.querySelectorAll('.textpoint text')].map(name => [name.textContent, name.getBoundingClientRect()]);
        return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) =>
          a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3).map(([other]) => [one, other]));
    })"""
    )


def test_limits_choose_among_what_was_measured_here(page_at):
    page = page_at("/?tab=tasks&fold=choose")
    fold = page.locator(".fold[id$=choose]")
    expect(fold.locator("td[data-label=Verdict]")).to_have_count(6)
    expect(fold.locator("td[data-label=Verdict]").first).to_contain_text(
        "its time was not measured"
    )
    expect(fold.locator(".fg:has(.main-svg)")).to_have_count(1)
    fold.get_by_role("button", name="Measure here").click()
    expect(fold).to_contain_text("Timed here: forward passes of the encoder over")
    expect(fold.locator(".fg:has(.main-svg)")).to_have_count(2)
    expect(fold.get_by_role("button", name="Stop")).to_be_hidden()
    expect(fold.locator("td[data-label=Verdict]").first).to_contain_text("meets the limits")
    expect(fold).to_contain_text("SST-2 dev sentence")
    assert not overprints(fold)
    fold.get_by_label("Maximum size in MB").fill("20")
    page.keyboard.press("Tab")
    expect(fold.locator(".finding")).to_contain_text("mini-ALBERT alone clearly meets these limits")
    expect(fold.locator("tr", has_text="mini-BERT").locator("td").last).to_have_text(
        "over the size limit"
    )
    expect(fold.locator(".fg .shapelayer path")).to_have_count(1)


PARTS = {"pair": "tp", "sentiment": "ts", "question": "tq"}


@pytest.mark.parametrize("name", PARTS)
def test_a_link_brings_one_part_in_sight_and_no_other(page_at, name):
    page = page_at(f"/?tab=tasks&fold={name}", height=844)
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for other, column in PARTS.items():
            shown = page.locator(f"#part-tasks-{other} .{column}-column").first
            expect(shown).to_be_visible(visible=other == name)
        chosen = page.locator("#tab-tasks .part-tab[aria-selected=true]")
        expect(chosen).to_have_id(f"fold-tasks-{name}")
        if name == "sentiment":
            a_bar_stands_in_the_line_of_its_word(page)
    page.wait_for_function("location.search.includes('tab=tasks')")
    assert (f"fold={name}" in page.url) or name == "pair"


def top_of(page, selector):
    page.evaluate("scrollTo(0, 0)")
    return page.locator(selector).bounding_box()["y"]


def test_the_row_of_parts_changes_what_is_in_sight_the_box_on_top_and_the_link(page_at):
    page = page_at("/?tab=tasks")
    expect(page.locator(".tp-column").first).to_be_visible()
    text, sentiment = page.locator("#text textarea"), page.get_by_label("Text to classify")
    question, passage = (page.get_by_label(name, exact=True) for name in ("Question", "Passage"))
    expect(text).to_be_visible()
    tabs = top_of(page, "#tabs")
    page.get_by_role("tab", name="Sentiment", exact=True).click()
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
    page.get_by_role("tab", name="Sentiment", exact=True).focus()
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
