"""Every Save of every fold: each of its items is what the pointer meets where it stands."""

import pytest
from playwright.sync_api import expect

from explorer.page_state import FOLDS, PARTS, TABS
from explorer.ui.predictions.words import ASK_LABEL

pytestmark = pytest.mark.browser
EMPTY = {
    ("predictions", "ask"),
    ("predictions", "joint"),
    ("distillation", "agreement"),
    ("distillation", "live"),
    ("latency", "sweep"),
    ("latency", "faster"),
    ("latency", "advanced"),
}
"""Folds with nothing to save before something was asked in them."""

WIDTHS = (1440, 390)

MET = """button => {
  const middle = () => { const b = button.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; };
  window.scrollBy({top: middle()[1] - innerHeight / 2, behavior: 'instant'});
  const met = document.elementFromPoint(...middle());
  return met === button ? '' : `${button.textContent}: ${met?.outerHTML.slice(0, 80) ?? 'off screen'}`;
}"""
"""What the pointer meets in the middle of an item once the page, and nothing within it, is scrolled there."""


def covered(page, menu):
    """The items of one menu that a pointer does not meet, with what it meets instead."""
    menu.locator("summary").click()
    items = menu.locator("button:visible")
    expect(items.nth(1)).to_be_visible()
    found = [met for met in (item.evaluate(MET) for item in items.all()) if met]
    menu.locator("summary").press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    return found


def covered_at_both(page, place):
    """What covers items of a place's menus on a wide screen, and then on a phone."""
    lost = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(250)  # a fold may have more than one picture, each drawn again
        for number, menu in enumerate(place.locator(".take:visible").all()):
            if found := covered(page, menu):
                lost[f"{width} {number}"] = found
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    return lost


def places(page, tab):
    """The headline, each part and each fold of a tab, opened one after the other."""
    yield "", page.locator(f"#tab-{tab}")
    for name in PARTS.get(tab, ())[1:]:
        page.locator(f"#fold-{tab}-{name}").click()
        yield name, page.locator(f"#part-{tab}-{name}")
    for name in PARTS.get(tab, ())[:1]:
        page.locator(f"#fold-{tab}-{name}").click()
    for name in FOLDS[tab]:
        place = page.locator(f"#fold-{tab}-{name}")
        place.locator("button.label-wrap").click()
        yield name, place
        place.locator("button.label-wrap").click()


@pytest.mark.parametrize("tab", TABS)
def test_every_item_of_every_save_can_be_met(page_at, tab):
    page, lost = page_at(f"/?tab={tab}"), {}
    expect(page.locator("#status .status")).to_be_visible()  # the opening text is there before
    expect(page.locator(f"#tab-{tab} .finding").first).to_be_visible()
    for name, place in places(page, tab):
        if (tab, name) not in EMPTY:
            expect(place.locator(".take:visible").first).to_be_visible()
        if found := covered_at_both(page, place):
            lost[name] = found
    assert not lost, lost


@pytest.mark.parametrize(
    "fold",
    [
        pytest.param(fold, marks=[pytest.mark.slow] * (fold[0] == "latency"))
        for fold in sorted(EMPTY)
    ],
)
def test_a_save_that_comes_with_an_answer_can_be_met(page_at, fold):
    tab, name = fold
    page = page_at(f"/?tab={tab}&fold={name}&text=The+[MASK]+of+the+[MASK].")
    place = page.locator(f"#fold-{tab}-{name}")
    if name == "ask":
        place.get_by_label(ASK_LABEL).fill("king, queen")
    if name != "joint":  # two masks are filled when the fold opens
        place.locator("button.lg:visible").first.click()
    expect(place.locator(".take:visible").first).to_be_visible(timeout=180_000)
    assert not covered_at_both(page, place)
