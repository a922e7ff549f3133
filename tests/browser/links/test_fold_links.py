"""A link to a fold opens it for good, and one that the browser itself opens takes the page's own text with it."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_a_fold_s_link_leads_to_this_text(visit):
    """A new tab, a window and the menu's "Copy link" all take the link's address as it is."""
    page = visit("/?v=1&tab=tasks&text=A+[MASK]+fell.+[SEP]+It+broke.")
    expect(page.locator(".status")).to_contain_text("mini-albert")
    link = page.locator("#tab-tasks a[data-fold]:visible").first
    link.focus()
    fields = parse_qs(urlsplit(link.evaluate("link => link.href")).query)
    assert fields["text"] == ["A [MASK] fell. [SEP] It broke."]
    assert (fields["tab"], fields["fold"]) == (["latency"], ["choose"])


LATE_FRAMES = """const soon = requestAnimationFrame.bind(window);
window.requestAnimationFrame = act => soon(() => setTimeout(() => act(performance.now()), 500));"""
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def test_a_fold_stays_open_where_the_first_frames_come_late(page_at):
    """As in a window that is not in sight yet: Gradio sets a new tab's components once more in a frame."""
    page = page_at(None)
    page.add_init_script(LATE_FRAMES)
    page.goto(f"{page.guard.home}/?v=1&tab=parameters&fold=sharing")
    header = page.locator("#fold-parameters-sharing > button")
    expect(header).to_have_class(re.compile(r"\bopen\b"))
    page.evaluate(TWO_FRAMES)
    expect(header).to_have_class(re.compile(r"\bopen\b"), timeout=1000)


def test_a_link_opens_its_fold_and_the_fold_is_in_the_link(visit):
    page = visit("/?tab=parameters&fold=sizes")
    expect(page.locator("#fold-parameters-sizes table").first).to_be_visible()
    page.get_by_role("button", name="Weight sharing: does ALBERT run").click()
    linked = "names => new URLSearchParams(location.search).get('fold') === names"
    page.wait_for_function(linked, arg="sizes,sharing")
    page.get_by_role("button", name="Weight sharing: does ALBERT run").click()
    page.wait_for_function(linked, arg="sizes")
