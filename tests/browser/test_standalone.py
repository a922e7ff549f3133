"""Every tab as one file: opened from a disk, with every request blocked, it shows the page's numbers."""

import hashlib
import re
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from explorer.models.specs import MINI
from explorer.ui.shell.tabs import TABS
from tests.browser.viewport import NEXT_FRAME
from tests.waiting import until

pytestmark = pytest.mark.browser
FOLDS = {
    "predictions": ("words",),
    "attention": ("summary",),
    "depth": ("moves",),
    "tasks": ("tuned",),
    "parameters": ("sizes",),
}
"""Opened before a tab is saved, one of each kind: what the browser draws, a matrix, a chart, a table, a form."""
READ = """() => [...document.querySelectorAll('.canvas, .drawn')]
  .filter(c => c.childElementCount && c.getClientRects().length && !c.closest('#link, #words, #asks-texts') && !c.querySelector('iframe'))
  .map(c => {
    const copy = c.cloneNode(true);
    copy.querySelectorAll('svg, .take').forEach(axis => axis.remove());   // an axis has as many ticks as it has room for
    return [c.dataset.kind, copy.textContent.match(/\\d[\\d.,]*/g)];
  })"""
LOOK = """async () => {
  for (const canvas of document.querySelectorAll('.canvas, .drawn')) {
    if (canvas.getClientRects().length) canvas.scrollIntoView({block: 'end'});
    await new Promise(requestAnimationFrame);
  }
}"""
FINDINGS = """() => [...document.querySelectorAll('.finding')]
  .filter(f => f.getClientRects().length).map(f => f.innerText.replace(/\\s+/g, ' '))"""


def says_the_same(page, alone, tab):
    """Wait until page and file show the same numbers and findings, twice in a row."""
    for shown in (page, alone):
        shown.wait_for_function("() => document.querySelector('.canvas > *, .finding')")
        shown.evaluate(LOOK)  # some of a picture is drawn once it is in sight

    def told():
        return [[shown.evaluate(script) for script in (READ, FINDINGS)] for shown in (page, alone)]

    def agree():
        ours, theirs = before = told()
        for shown in (page, alone):
            shown.evaluate(NEXT_FRAME)
        return ours == theirs and all(ours) and told() == before

    until(agree, 300, lambda: f"{tab}: {told()}")


def test_the_first_tab_opened_from_a_disk_shows_the_pages_numbers(visit, chromium, tmp_path):
    page = with_a_nasty_text(visit)
    with offline(chromium) as alone:
        the_file_says_the_same(page, alone, TABS[0], tmp_path)
        the_switch_can_be_seen_by_day_and_by_night(alone)
        alone.locator("#pr-shown").fill("3")
        expect(alone.locator(".pr-list").first.locator("li")).to_have_count(3)
        files_are_made_without_the_server(alone)


def test_every_other_tab_opened_from_a_disk_shows_the_pages_numbers(visit, chromium, tmp_path):
    page = with_a_nasty_text(visit)
    with offline(chromium) as alone:
        for tab in TABS[1:]:
            the_file_says_the_same(page, alone, tab, tmp_path)
            if tab.ID == "tasks":
                files_are_made_without_the_server(alone)


def with_a_nasty_text(visit):
    page = visit("/?text=The+unbelievable+%5BMASK%5D+sat+</script>.")
    expect(page.locator("#link button").first).to_be_visible()
    expect(page.locator(".status")).to_contain_text("mini-albert")
    return page


def the_file_says_the_same(page, alone, tab, folder):
    """Save a tab with its folds open, open the file offline, and compare it with the page."""
    # One page is in front at a time: the other may draw nothing.
    page.bring_to_front()
    path = a_tab_with_its_folds_open(page, tab, folder)
    alone.goto(path.as_uri())
    says_the_same(page, alone, tab.ID)
    assert_told(path.read_text("utf-8"), alone.inner_text("main"), tab.ID)


def files_are_made_without_the_server(alone):
    for ending in ("csv", "py"):
        taken(alone, ending)


LIGHT = """button => [button.matches('.dark *'), ...['color', 'backgroundColor'].map(name =>
  getComputedStyle(button)[name].match(/[0-9.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0))]"""
"""Whether the page is dark; how light the button's sign and its ground are, from 0 to 765."""


def the_switch_can_be_seen_by_day_and_by_night(alone):
    switch, themes = alone.locator("#theme-switch"), set()
    for _ in range(2):
        is_dark, sign, ground = switch.evaluate(LIGHT)
        assert abs(sign - ground) > 400, (is_dark, sign, ground)
        themes.add(is_dark)
        switch.click()
    assert themes == {False, True}


def a_tab_with_its_folds_open(page, tab, folder):
    """Its file, saved once all of its pictures are there."""
    page.get_by_role("tab", name=tab.LABEL, exact=True).click()
    expect(page.locator(f"#tab-{tab.ID} .finding").first).to_be_visible()
    if tab.ID == "texts":  # a list that is tried
        page.locator("[data-list=facts]").click()
        expect(page.locator("#tab-texts .fg-titled").first).to_be_visible()
    for name in FOLDS.get(tab.ID, ()):
        page.locator(f"#fold-{tab.ID}-{name} > button.label-wrap").click()
        pictures = f"#fold-{tab.ID}-{name} :is(.canvas, .drawn)"
        expect(page.locator(f"{pictures} > *").first).to_be_visible()
        # A fold has several pictures, each an answer of its own: all of them are in the file.
        expect(page.locator(f"{pictures}:empty")).to_have_count(0)
        # Some fill while the models work: what is saved before their job ends is a part of it.
        stop = page.locator(f"#fold-{tab.ID}-{name}").get_by_role("button", name="Stop")
        expect(stop).to_have_count(0)
    return saved(page, tab.ID, folder)


def assert_told(code, shown, tab):
    """The file says where it is from, to a reader and to a program."""
    for spec in MINI.values():
        digest = hashlib.sha256((spec.bundled_path / "model.safetensors").read_bytes()).hexdigest()
        assert digest in code, tab
        assert digest[:8] in shown, tab
    for told in ("torch ", "transformers ", "cpu", "float32", "version 0"):
        assert told in shown, (tab, told)
    now = datetime.now(UTC)  # it may be past midnight since the file was saved
    assert any(str((now - timedelta(hours=h)).date()) in shown for h in (0, 1)), tab
    assert ("The unbelievable [MASK] sat" in shown) or tab in {"texts", "parameters", "claims"}


def saved(page, tab, folder):
    """The file of one tab."""
    with page.expect_download() as waiting:
        page.get_by_text("Save this tab", exact=True).click()
    assert re.fullmatch(rf".*{tab}_\d{{4}}-\d\d-\d\d\.html", waiting.value.suggested_filename)
    path = folder / f"{tab}.html"
    waiting.value.save_as(path)
    return path


@contextmanager
def offline(chromium):
    """A page where there is no network; what it opens asks for nothing and raises nothing."""
    context, asked, errors = chromium.new_context(viewport={"width": 1440, "height": 900}), [], []
    context.route("http*://**/*", lambda route: (asked.append(route.request.url), route.abort()))
    context.set_offline(True)
    alone = context.new_page()
    alone.on("pageerror", lambda error: errors.append(str(error)))
    alone.on(
        "console", lambda message: errors.append(message.text) if message.type == "error" else None
    )
    yield alone
    assert not asked
    assert errors == []
    context.close()


def taken(alone, ending):
    """One file of the first picture's menu, made without the page's server."""
    menu = alone.locator(".take").first
    menu.locator("summary").click()
    with alone.expect_download() as waiting:
        menu.locator(f"[data-take={ending}]").click()
    assert waiting.value.suggested_filename.endswith(f".{ending}")
