"""Without JavaScript the page shows the answer of every tab, and links and Compare work."""

from contextlib import contextmanager

import pytest

from explorer.links.tabs import TABS
from explorer.ui.first.picture import HOST
from explorer.ui.kit.strings import NEEDS_SCRIPT
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


def boxes(page, wanted):
    """Return class, parent's class and x0, y0, x1, y1 of the elements that ``wanted`` takes.

    The root of the first picture is closed to selectors.
    """
    tree, found = page.context.new_cdp_session(page), []

    def box(node):
        x0, y0, _, _, x1, y1, *_ = tree.send("DOM.getBoxModel", {"nodeId": node["nodeId"]})[
            "model"
        ]["border"]
        return x0, y0, x1, y1

    def look(node, around):
        given = node.get("attributes", [])
        classes = dict(zip(given[::2], given[1::2], strict=True)).get("class", "").split()
        if wanted(node["localName"], classes, around[0]):
            found.append((box(node), box(around[1])))
        for child in (*node.get("children", ()), *node.get("shadowRoots", ())):
            look(child, (classes, node))

    root = tree.send("DOM.getDocument", {"depth": -1, "pierce": True})["root"]
    look(root, ([], root))
    return found


def test_on_a_phone_the_chosen_tab_is_in_sight_and_no_name_is_cut(chromium, app_url):
    with without_script(chromium) as (page, _):
        page.set_viewport_size({"width": 390, "height": 844})
        for tab in ("latency", "parameters", "claims"):
            open_with_answer(page, f"{app_url}/?tab={tab}")
            ((name, row),) = boxes(page, lambda _, classes, __: "selected" in classes)
            assert row[0] <= name[0] < name[2] <= row[2], tab
            assert row[1] <= name[1] < name[3] <= row[3] + 1, tab
            if tab == "claims":
                said = boxes(page, lambda tag, *_: tag == "td")
                assert max(x1 - x0 for (x0, _, x1, _), _ in said) > 200
        open_with_answer(page, f"{app_url}/?tab=parameters")
        named = boxes(
            page, lambda tag, _, around: tag == "span" and {"pm-cell", "pm-ghost"} & {*around}
        )
        shown = [(name, part) for name, part in named if name[1] < part[3] - 1]
        assert shown
        assert len(shown) < len(named), "the embeddings' name has no room here"
        assert all(name[2] <= part[2] + 1 for name, part in shown)
