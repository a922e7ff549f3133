"""The distillation tab in a real Chromium: the dial is instant, exact and silent on the network."""

import re

import pytest
from playwright.sync_api import expect

from explorer.analysis.distillation.soft import soft_pair
from explorer.inference.runs import get_run
from explorer.links.page_state import PageState
from explorer.models.specs import MINI
from explorer.ui.distillation.strings import REPLAY
from explorer.ui.kit.strings import COMPLETE
from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
TEXT = "The capital of France is [MASK]."
PATH = "/?v=1&family=mini&tab=distillation&text=The+capital+of+France+is+[MASK]."
DRAG = """async ([from, to]) => {
  const range = document.querySelector('#ds-t');
  for (let step = 0; step < 20; step++) {
    range.value = from + (to - from) * step / 19;
    range.dispatchEvent(new Event('input', {bubbles: true}));
    await new Promise(requestAnimationFrame);
  }
  range.dispatchEvent(new Event('change', {bubbles: true}));
}"""

MARK = "document.querySelector('.dc .fg').data.at(-1)"
"""The points of the first chart where the dial stands."""


def asked(requests):
    """What was asked besides the charts' library, which comes when a chart is near."""
    return [url for url in requests if not url.endswith(("plotly.min.js", "templates.json"))]


def lab(page):
    expect(page.locator(".ds-row").first).to_be_visible()
    return page.locator('[data-kind="distillation/lab"]')


def printed(page):
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.ds-row[data-id]')].map(row => [row.dataset.id,
        ['bert', 'distilbert'].map(key => Number(row.querySelector(`.ds-p[data-model=${key}]`).dataset.p))]))"""
    )


def measure(page, name):
    return float(page.locator(f"[data-measure={name}]").get_attribute("data-value"))


def turn(page, position):
    page.evaluate(
        """position => {
        const range = document.querySelector('#ds-t');
        range.value = position;
        range.dispatchEvent(new Event('input', {bubbles: true}));
    }""",
        position,
    )


def opens_and_closes(page, word, meaning):
    """A word's box is opened by the keyboard, lies within the page, and closes with Escape."""
    button, box = page.get_by_role("button", name=word, exact=True), page.locator(".meaning")
    button.press("Enter")
    shown = box.filter(has_text=meaning)
    expect(shown).to_be_visible()
    place = shown.bounding_box()
    assert 0 <= place["x"] <= page.viewport_size["width"] - place["width"]
    button.press("Escape")
    expect(shown).to_be_hidden()
    expect(button).to_be_focused()


def value_of(printed):
    """Return the number that is printed, as ``0.104`` or ``3.5×10⁻⁴``."""
    return float(printed.translate(PLAIN).replace("×10", "e"))


def test_the_curves_and_the_bars_follow_the_dial_and_are_exact(visit):
    page = visit(PATH, theme="dark")
    the_curves_come_with_the_scroll_and_mark_what_the_dial_shows(page)
    the_browser_and_python_agree_to_a_thousandth_at_every_temperature(page)
    resize(page, 360, 900)
    page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
    resize(page, 1440, 900)
    walk(page, f"{PATH}&temperature=0.5")
    dragging_asks_nobody_and_another_word_is_hidden_and_announced(page)


def the_browser_and_python_agree_to_a_thousandth_at_every_temperature(page):
    shown_lab, kept = lab(page), []
    teacher, student = (
        get_run(MINI[key], PageState(text=TEXT).ask) for key in ("bert", "distilbert")
    )
    for temperature, position in ((0.05, 0), (1, 300), (2, 369), (20, 600)):
        turn(page, position)
        expect(shown_lab).to_have_attribute("data-t", str(temperature))
        pair = soft_pair(teacher, student, 0, temperature, top_k=8)
        shown = printed(page)
        assert set(shown) == {str(i) for i in pair.ids}
        for i, p, q in zip(pair.ids, pair.teacher, pair.student, strict=True):
            assert shown[str(i)] == pytest.approx([p, q], abs=1e-3)
        first = "#tab-distillation .finding [data-soft={}]"
        told = {n: page.locator(first.format(n)).inner_text() for n in ("t", "teacher", "student")}
        assert told["t"] == f"{temperature:g}", "the headline follows the dial"
        assert value_of(told["teacher"]) == pytest.approx(pair.teacher.max(), abs=1.1e-3)
        assert value_of(told["student"]) == pytest.approx(pair.student.max(), abs=1.1e-3)
        for name in ("js", "entropy_teacher", "entropy_student"):
            assert measure(page, name) == pytest.approx(getattr(pair, name), abs=2e-3)
        for name in ("kl_teacher_student", "kl_student_teacher"):
            assert measure(page, name) == pytest.approx(getattr(pair, name), rel=5e-3, abs=1e-3)
        dark = page.locator(".ds-dark[data-model=bert]").get_attribute("data-p")
        assert float(dark) == pytest.approx(pair.dark_knowledge, abs=1e-3)
        kept.append(float(dark))
    assert kept == sorted(kept), "dark knowledge grows with the temperature"
    opens_and_closes(page, "nats", "the unit of information")
    resize(page, 390, 900)
    opens_and_closes(page, "Dark knowledge", "outside its top prediction")


def dragging_asks_nobody_and_another_word_is_hidden_and_announced(page):
    dragging_asks_the_server_nothing_and_is_kept_in_the_link(page)
    walk(page, "/?v=1&family=mini&tab=distillation&text=The+dog+sat+on+the+table.")
    another_word_can_be_hidden_here_and_the_losses_know_it(page)
    the_end_of_a_question_is_announced_in_words_and_not_by_gradios_key(page)


def dragging_asks_the_server_nothing_and_is_kept_in_the_link(page):
    expect(lab(page)).to_have_attribute("data-t", "0.5")
    expect(page.locator("#link input")).to_be_visible()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.locator(".dc h3").scroll_into_view_if_needed()
    expect(page.locator(".dc .fg .main-svg").first).to_be_visible()
    page.evaluate(DRAG, [0, 600])
    assert asked(requests) == []
    expect(page).to_have_url(re.compile("temperature=20"))
    page.locator('.ds-presets [data-t="2"]').click()
    expect(page).not_to_have_url(re.compile("temperature"))


def the_curves_come_with_the_scroll_and_mark_what_the_dial_shows(page):
    lab(page)
    expect(page.locator("#link input")).to_be_visible()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.locator(".dc h3").scroll_into_view_if_needed()
    expect(page.locator(".dc .fg .main-svg").first).to_be_visible()
    for position, temperature in ((300, 1), (600, 20)):
        turn(page, position)
        page.wait_for_function(f"{MARK}.x[0] === {temperature}")
        value = page.evaluate(f"{MARK}.y[1]")
        assert value == pytest.approx(measure(page, "kl_teacher_student"), rel=5e-3)
    page.get_by_text("Why T²?").click()
    page.get_by_label("kl_div(reduction=").check()
    page.wait_for_function(f"{MARK}.y.length === 4")
    expect(page.locator(".dc")).to_contain_text("times too small")
    assert asked(requests) == []


def another_word_can_be_hidden_here_and_the_losses_know_it(page):
    expect(page.locator(".ds-word.chosen")).to_have_text("table")
    page.locator(".ds-word", has_text="dog").click()
    expect(page.locator(".ds-word.chosen")).to_have_text("dog")
    page.get_by_role("button", name="Training loss: what would training do").click()
    expect(page.locator(".dl-total")).to_be_visible()
    expect(page.get_by_text("not counted")).to_have_count(0)
    apart = [float(kl) for kl in page.locator(".dl-kl").all_inner_texts()]
    assert len(apart) == 9, "a token each: [CLS] The [MASK] sat on the table . [SEP]"
    expect(page.locator(".dl-word.worst")).to_have_count(1)
    assert float(page.locator(".dl-word.worst .dl-kl").inner_text()) == max(apart)


LISTEN = """() => {
  window.said = new Set();
  const hear = () => document.querySelectorAll('[aria-live]').forEach(
    node => node.textContent.length < 80 && window.said.add(node.textContent.trim()));
  new MutationObserver(hear).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def the_end_of_a_question_is_announced_in_words_and_not_by_gradios_key(page):
    again = page.get_by_role("button", name=REPLAY)
    expect(again).to_be_visible()
    page.evaluate(LISTEN)
    again.click()
    page.wait_for_function("name => window.said.has(name)", arg=COMPLETE)
    assert not [text for text in page.evaluate("[...window.said]") if text.startswith("common.")]


HEIGHTS = """window.heights = new Set();
(function look() {
  const height = document.querySelector('#tab-distillation .dc')?.offsetHeight;
  if (height) window.heights.add(height);
  requestAnimationFrame(look);
})();"""
"""Notes how high the part with the curves is, frame by frame."""


def test_what_lies_below_the_curves_stays_where_it_is_when_they_are_drawn(page_at):
    """On a phone they were half a screen higher than their place: a press on what lies below was lost."""
    page = page_at(None, width=390)
    page.add_init_script(HEIGHTS)
    page.goto(f"{page.guard.home}/?tab=distillation", wait_until="domcontentloaded")
    page.locator("#tab-distillation .dc").scroll_into_view_if_needed()
    expect(page.locator(".dc .fg:has(.main-svg)")).to_have_count(2)
    assert page.evaluate("heights.size") == 1, page.evaluate("[...heights]")
