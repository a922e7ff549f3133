"""A link to a fold, opened by the browser itself, takes the page's own text with it."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_a_fold_s_link_leads_to_this_text(page_at):
    """A new tab, a window and the menu's "Copy link" all take the link's address as it is."""
    page = page_at("/?v=1&tab=tasks&text=A+[MASK]+fell.+[SEP]+It+broke.")
    expect(page.locator(".status")).to_contain_text("mini-albert")
    link = page.locator("#tab-tasks a[data-fold]:visible").first
    link.focus()
    fields = parse_qs(urlsplit(link.evaluate("link => link.href")).query)
    assert fields["text"] == ["A [MASK] fell. [SEP] It broke."]
    assert (fields["tab"], fields["fold"]) == (["latency"], ["choose"])
