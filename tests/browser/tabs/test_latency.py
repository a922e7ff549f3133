"""Latency tab in a real browser: a link times nothing, Measure does, Stop stops it."""

import json
import re

import pytest
from playwright.sync_api import expect

from explorer.analysis.latency.report import FORMAT
from explorer.ui.latency import strings
from tests.browser.held import hold
from tests.browser.viewport import resize
from tests.waiting import until

PATIENT_MS = 240_000
"""The first page of a session waits for imports and models on whatever machine this is."""
pytestmark = pytest.mark.browser


def test_a_link_never_starts_a_measurement_and_the_buttons_do_what_they_say(visit):
    page = visit("/?v=1&tab=latency", width=360, theme="dark")
    card = page.locator(".lt-paradox")
    expect(card).to_be_visible(timeout=PATIENT_MS)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "on a phone too"
    resize(page, 1440, 900)
    page.wait_for_function("document.querySelector('.lt-paradox').clientWidth > 360")
    expect(card.get_by_text("not measured yet", exact=True)).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    button, times = (
        page.locator("#measure").bounding_box(),
        card.locator(".lt-group").nth(2).bounding_box(),
    )
    assert 0 <= times["y"] - button["y"] - button["height"] < 40, (
        "the button stands at the empty card"
    )
    assert button["x"] + button["width"] == pytest.approx(times["x"] + times["width"], abs=2)
    expect(page.locator(".lt-said p")).to_contain_text(
        "Published base size, 32 tokens, batch size 1"
    )
    page.locator("#latency-settings .label-wrap").click()
    page.get_by_label("Sizes").click()
    page.get_by_role("option", name="Bundled miniatures").click()
    page.get_by_label("Tokens", exact=True).click()
    page.get_by_role("option", name="16", exact=True).click()
    expect(card.get_by_text("stores 4.4 times fewer weights").first).to_be_visible()
    expect(page.locator(".lt-said p")).to_contain_text("Bundled miniatures, 16 tokens")
    expect(card.get_by_text("not measured yet", exact=True)).to_have_count(3)

    link = "/?v=1&tab=latency&timed=base-64-8-encoder-wait-float32-60"
    page.goto(f"{page.guard.home}{link}")  # several controls at once, some of them never drawn
    expect(page.locator(".lt-said p")).to_contain_text("64 tokens, batch size 8")
    expect(card.get_by_text("88.2", exact=False)).to_have_count(1)
    expect(page).to_have_url(re.compile("timed=base-64-8-encoder-wait-float32-60"))
    page.go_back()
    expect(page.locator(".lt-said p")).to_contain_text("Bundled miniatures, 16 tokens")

    # Three minutes: on a busy machine 20 s may be over before the press on Stop.
    go_on = hold(page, "*/queue/join*")
    page.goto(f"{page.guard.home}/?v=1&tab=latency&timed=mini-16-1-encoder-wait-float32-180")
    expect(page.locator("#measure")).to_be_disabled()  # it would measure other settings
    go_on()
    page.get_by_role("button", name="Measure here").click()
    expect(page.locator(".lt-said p")).to_contain_text("Bundled miniatures, 16 tokens")
    expect(page.get_by_text("rounds in").or_(page.get_by_text("1 round in")).first).to_be_visible(
        timeout=PATIENT_MS
    )
    told = page.get_by_text("it stops when the intervals are narrow").bounding_box()
    assert 0 <= told["y"] - button["y"] - button["height"] < 40, "within sight of who pressed"
    page.locator("#measure-stop").click()
    expect(page.get_by_text("you stopped it").first).to_be_visible()
    expect(card.get_by_text("not measured yet", exact=True)).to_have_count(0)

    expect(
        page.get_by_role("heading", name="Confidence intervals: how sure is this result?")
    ).to_be_visible()
    expect(page.locator("[data-kind='latency/samples'] .fg svg").first).to_be_visible()
    expect(page.get_by_role("link", name="latency.json")).to_be_visible()


def overprints(fold):
    """Pairs of names in a chart of which one is printed over the other."""
    return fold.evaluate(
        """node => [...node.querySelectorAll('.fg')].flatMap(chart => {
        const boxes = [...chart.querySelectorAll('.textpoint text')].map(name => [name.textContent, name.getBoundingClientRect()]);
        return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) =>
          a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3).map(([other]) => [one, other]));
    })"""
    )


OVER_THE_TABS = """names => names.filter(name => {
  const strip = document.querySelector('#tabs > .tab-wrapper');
  scrollBy({top: name.getBoundingClientRect().top - 8, behavior: 'instant'});
  const box = name.getBoundingClientRect();
  return !strip.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2));
}).map(name => name.textContent)"""
"""Names of fields that are seen over the row of tabs when they are scrolled below it."""


def rows_of_boxes(fold):
    """Where the boxes of the limits end: once for each line of them."""
    found = fold.locator(".lt-controls .form > *")
    return found.evaluate_all(
        "all => [...new Set(all.map(e => Math.round(e.getBoundingClientRect().bottom)))]"
    )


def test_limits_choose_among_what_was_measured_here(visit):
    page = visit("/?tab=latency&fold=choose")
    fold = page.locator(".fold[id$=choose]")
    expect(fold.locator("td[data-label=Verdict]")).to_have_count(6)
    expect(fold.locator("td[data-label=Verdict]").first).to_contain_text(
        "its time was not measured"
    )
    expect(fold.locator(".fg:has(.main-svg)")).to_have_count(1)
    fold.get_by_role("button", name="Time these models").click()
    expect(fold).to_contain_text("Timed here: forward passes of the encoder over")
    expect(fold.locator(".fg:has(.main-svg)")).to_have_count(2)
    expect(fold.get_by_role("button", name="Stop")).to_be_hidden()
    expect(fold.locator("td[data-label=Verdict]").first).to_contain_text("no limits set")
    expect(fold.locator(".finding")).to_contain_text("Of the published models, with no limits set:")
    expect(fold).to_contain_text("SST-2 dev sentence")
    for width in (390, 768, 1440):
        resize(page, width, 900)
        # A chart is drawn anew for its width, in steps.
        until(lambda: not overprints(fold), 60, lambda: overprints(fold))
        lines = rows_of_boxes(fold)
        assert len(lines) == {390: 3, 768: 2, 1440: 1}[width], lines
        names = fold.locator("[data-testid=block-info]:visible")
        expect(names).to_have_count(4)
        assert names.evaluate_all(OVER_THE_TABS) == [], "what is scrolled away is not in sight"
    fold.get_by_label("Maximum size in MB").fill("50")
    page.keyboard.press("Tab")
    expect(fold.locator(".finding")).to_contain_text(
        "Of the published models, ALBERT alone clearly meets these limits"
    )
    expect(fold.locator("td[data-label=Verdict]").nth(1)).to_contain_text("over the size limit")
    expect(fold.locator(".fg .shapelayer path")).to_have_count(1)


def test_a_saved_measurement_is_read_without_an_upload(visit, tmp_path):
    numbers = {"median_ms": 12.0, "gflops": 3.0, "weights_bytes": 1000}
    document = {
        "format": FORMAT,
        "protocol": {"batch_size": 1, "sequence_length": 32, "threads": 1},
        "models": [{"model": "bert", "name": "mini-bert", "device": "cpu", **numbers}],
        "ratios": [],
    }
    path = tmp_path / "latency.json"
    page, asked = visit("/?v=1&tab=latency"), []
    expect(page.locator(".status")).to_contain_text("mini-albert")
    page.locator("#fold-latency-advanced button.label-wrap").click()
    page.on("request", lambda request: asked.append(request.url))
    button = page.get_by_role("button", name=strings.RECORDED_BUTTON)
    for processor in ("a machine elsewhere", "another machine"):
        path.write_text(json.dumps(document | {"machine": {"processor": processor}}))
        with page.expect_file_chooser() as chooser:
            button.click()
        chooser.value.set_files(path)
        expect(page.get_by_text(f"Recorded on {processor}")).to_be_visible()
    assert not any("/upload" in url for url in asked)
