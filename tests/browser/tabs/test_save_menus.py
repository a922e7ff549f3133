"""Every Save of every fold: each of its items is what the pointer meets where it stands."""

import pytest
from playwright.sync_api import expect

from explorer.links.tabs import PARTS
from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
EMPTY = {
    ("distillation", "agreement"),
    ("distillation", "live"),
    ("latency", "sweep"),
    ("latency", "faster"),
    ("latency", "advanced"),
}
"""Folds with nothing to save before something was asked in them."""

WIDTHS = (1440, 390)

COVERED = """async place => {
  const middle = one => { const b = one.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; };
  const isMet = one => {
    window.scrollBy({top: middle(one)[1] - innerHeight / 2, behavior: 'instant'});
    return one.contains(document.elementFromPoint(...middle(one)));
  };
  const opened = async (menu, isOpen) => {
    menu.open = isOpen;
    await new Promise(done => menu.addEventListener('toggle', done, {once: true}));
  };
  const told = [];
  for (const menu of [...place.querySelectorAll('.take')].filter(one => one.getClientRects().length)) {
    menu.scrollIntoView({block: 'end', behavior: 'instant'});
    await opened(menu, true);
    const {bottom, height} = menu.querySelector('.take-list').getBoundingClientRect(), {top} = menu.getBoundingClientRect();
    if (bottom > innerHeight && top > height) told.push(`opens to ${bottom} in a window of ${innerHeight}`);
    const items = [...menu.querySelectorAll('button')].filter(one => one.getClientRects().length);
    if (items.length < 2) told.push(`${items.length} items`);
    told.push(...[menu.querySelector('summary'), ...items].filter(one => !isMet(one)).map(
      one => `${one.textContent}: ${document.elementFromPoint(...middle(one))?.outerHTML.slice(0, 80) ?? 'off screen'}`));
    await opened(menu, false);
  }
  return told;
}"""
"""What the pointer meets in the middle of a menu's sign and of each item, if not these, once the page is scrolled there.

Also a menu at the window's lower end that opens out of it though there is room above.
"""
DRAWN_AGAIN = """() => new Promise(done => {
  const frames = after => requestAnimationFrame(() => requestAnimationFrame(after));
  frames(() => setTimeout(() => frames(done), 60));
})"""
"""A fold may have more than one picture, each drawn again in a frame after another width is told."""


def covered_menus(page, place):
    """What covers items of a place's menus at the page's width."""
    page.evaluate(DRAWN_AGAIN)
    return place.evaluate(COVERED)


def covered_at_both(page, place):
    """What covers items of a place's menus on a wide screen, and then on a phone."""
    lost = []
    for width in WIDTHS:
        resize(page, width, 900)
        lost += covered_menus(page, place)
    return lost


def test_every_item_of_a_parts_save_and_of_one_that_comes_with_an_answer_can_be_met(visit):
    """All other menus are met in ``test_every_fold``, with every fold open."""
    page = visit("/?tab=tasks")
    for name in PARTS["tasks"][1:]:
        walk(page, f"/?tab=tasks&fold={name}")
        place = page.locator(f"#part-tasks-{name}")
        expect(place.locator(".take:visible").first).to_be_visible()
        assert covered_at_both(page, place) == [], name
    for tab, name in sorted(EMPTY):
        if tab != "latency":
            a_save_that_comes_with_an_answer_can_be_met(page, tab, name)


@pytest.mark.slow
@pytest.mark.parametrize(("tab", "name"), [one for one in sorted(EMPTY) if one[0] == "latency"])
def test_a_save_that_comes_with_a_measurement_can_be_met(visit, tab, name):
    a_save_that_comes_with_an_answer_can_be_met(visit("/"), tab, name)


def a_save_that_comes_with_an_answer_can_be_met(page, tab, name):
    walk(page, f"/?tab={tab}&fold={name}&text=The+[MASK]+of+the+[MASK].&form=live.steps:20")
    place = page.locator(f"#fold-{tab}-{name}")
    place.locator("button.primary:visible").first.click()
    expect(place.locator(".take:visible").first).to_be_visible(timeout=180_000)
    assert covered_at_both(page, place) == [], (tab, name)
