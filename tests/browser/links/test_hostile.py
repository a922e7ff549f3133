"""A link that holds anything in any of its fields opens the page, which names what it repaired."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
LINKS = (
    {"tab": '"]x } body * { visibility: hidden', "fold": 'a"b', "family": "mini,constructor=x"},
    {"tab": "constructor", "fold": "__proto__", "embed": "1"},
)


def opened_one_by_one(page_at):
    """A page that goes from one of the links to the next."""
    page = page_at(f"/?{urlencode(LINKS[0])}")
    yield page
    for link in LINKS[1:]:
        page.goto(f"{page.guard.home}/?{urlencode(link)}", wait_until="domcontentloaded")
        yield page


def test_a_link_with_quotes_and_brackets_opens_the_page(page_at):
    """``page_at`` fails on an uncaught error or one in the console."""
    for page in opened_one_by_one(page_at):
        expect(page.locator("#status .status")).to_be_attached()
        expect(page.locator("#tab-predictions .finding").first).to_be_visible()
        page.wait_for_function("![...document.querySelectorAll('.generating')].length")
        page.guard.expect("contained invalid values")
