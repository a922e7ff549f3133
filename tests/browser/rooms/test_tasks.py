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
