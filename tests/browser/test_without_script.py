"""Without JavaScript the page shows the answer of every tab, and links and Compare work."""

from contextlib import contextmanager

import pytest

from explorer.links.page_state import TABS
from explorer.ui.kit.strings import NEEDS_SCRIPT
from explorer.ui.shell.first import HOST
from explorer.ui.shell.tabs import TABS as TABS_OF_PAGE
from tests.waiting import until

pytestmark = pytest.mark.browser
SIZES = [(1440, 900), (390, 844)]


@contextmanager
def without_script(chromium):
    """Yield a page whose scripts are off, and a function that returns what a reader is told."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    tree = context.new_cdp_session(page)

    def told():
        nodes = tree.send("Accessibility.getFullAXTree")["nodes"]
        return [
            (node["role"]["value"], node.get("name", {}).get("value", ""))
            for node in nodes
            if not node["ignored"]
        ]

    try:
        yield page, told
    finally:
        context.close()


def open_with_answer(page, url):
    """Open an address until its page comes with the answer: at first the server is warming up."""

    def is_there():
        page.goto(url)
        return f"<{HOST}" in page.content()

    until(is_there)


def test_every_tab_opens_readable_and_leads_to_every_other(chromium, app_url):
    with without_script(chromium) as (page, told):
        for tab in TABS_OF_PAGE:
            open_with_answer(page, f"{app_url}/?tab={tab.ID}")
            heard = told()
            said = " ".join(text for _, text in heard)
            assert tab.QUESTION in said, tab.ID
            assert NEEDS_SCRIPT in said, tab.ID
            names = {name for role, name in heard if role == "link"}
            assert {other.LABEL for other in TABS_OF_PAGE} <= names, tab.ID
            assert {"BERT", "claims", "rows"} & set(said.replace("mini-", "").split()), tab.ID
            assert any(char.isdigit() for char in said.replace(tab.QUESTION, "")), tab.ID
            is_as_wide_as_its_window(page)
    assert len(TABS_OF_PAGE) == len(TABS)


def is_as_wide_as_its_window(page):
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width


def test_compare_asks_the_server_by_itself(chromium, app_url):
    with without_script(chromium) as (page, told):
        open_with_answer(page, f"{app_url}/")
        page.set_viewport_size({"width": 1440, "height": 900})
        page.mouse.click(300, 79)
        page.keyboard.press("Control+a")
        page.keyboard.insert_text("Paris is the capital of [MASK].")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url("**/*Paris*")
        open_with_answer(page, page.url)
        assert "Paris" in " ".join(text for _, text in told())
