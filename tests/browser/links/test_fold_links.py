"""A link to a fold, opened by the browser itself, takes the page's own text with it."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_a_fold_s_link_in_a_new_tab_has_this_text(page_at):
    page = page_at("/?v=1&tab=tasks&text=A+[MASK]+fell.+[SEP]+It+broke.")
    link = page.locator("#tab-tasks a[data-fold]:visible").first
    expect(link).to_be_visible()
    with page.context.expect_page() as opened:
        link.click(modifiers=["ControlOrMeta"])
    beside = opened.value
    expect(beside).to_have_url(re.compile("fold=choose"))
    fields = parse_qs(urlsplit(beside.url).query)
    assert fields["text"] == ["A [MASK] fell. [SEP] It broke."], beside.url
    assert (fields["tab"], fields["fold"]) == (["latency"], ["choose"])
    beside.close()
