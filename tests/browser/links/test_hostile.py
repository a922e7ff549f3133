"""A link that holds anything in any of its fields opens the page, which names what it repaired."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
LINKS = (
    ("tab", '"]x', ""),
    ("fold", 'a"b', ""),
    ("tab", "} body * { visibility: hidden", "&fold=joint&embed=1"),
    ("family", "mini,constructor=x", ""),
    ("tab", "constructor", "&fold=__proto__"),
)


def test_a_link_with_quotes_and_brackets_opens_the_page(page_at):
    """``page_at`` fails on an uncaught error or one in the console."""
    page = page_at()
    for field, value, more in LINKS:
        page.goto(f"{page.guard.home}/?{field}={quote(value)}{more}", wait_until="domcontentloaded")
        expect(page.locator("#status .status")).to_be_attached()
        expect(page.locator("#tab-predictions .finding").first).to_be_visible()
        page.wait_for_function("![...document.querySelectorAll('.generating')].length")
        page.guard.expect("contained invalid values")
