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


def test_limits_choose_among_what_was_measured_here(page_at):
    page = page_at("/?tab=tasks&fold=choose")
    fold = page.locator(".fold[id$=choose]")
    expect(fold.locator("td[data-label=Verdict]")).to_have_count(3)
    expect(fold.locator("td[data-label=Verdict]").first).to_contain_text(
        "its time was not measured"
    )
    expect(fold.locator(".ch-plot svg")).to_have_count(1)
    fold.get_by_role("button", name="Measure here").click()
    expect(fold).to_contain_text("Timed here: one pass of the encoder over")
    expect(fold.locator(".ch-plot svg")).to_have_count(2)
    expect(fold.get_by_role("button", name="Stop")).to_be_hidden()
    expect(fold.locator("td[data-label=Verdict]").first).to_have_text("keeps to the limits")
    fold.get_by_label("Largest size in MB").fill("20")
    page.keyboard.press("Tab")
    expect(fold.locator(".finding")).to_contain_text(
        "mini-ALBERT alone surely keeps to these limits"
    )
    expect(fold.locator("tr", has_text="mini-BERT").locator("td").last).to_have_text("too large")
    expect(fold.locator("svg .ch-rule")).to_have_count(1)
