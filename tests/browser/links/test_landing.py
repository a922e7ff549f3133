"""A link opens with what it names in sight, and there it stays while the rest of the page comes."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from explorer.links.tabs import PARTS

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[3]
DOCUMENTS = "".join((ROOT / name).read_text("utf-8") for name in ("README.md", "docs/usage.md"))
QUERIES = re.findall(r"http://127\.0\.0\.1:7860/\?([^)\s]*tab=[^)\s]*)\)", DOCUMENTS)
SIZES = [(1440, 900), (1280, 720), (390, 844)]
FOLDS = ["tab=parameters&fold=sizes", "tab=attention&fold=summary", "tab=predictions&fold=joint"]
TOP = """selector => {
  const own = [...document.querySelectorAll(selector)].find(node => node.getClientRects().length).getBoundingClientRect();
  const bar = document.querySelector('#tabs > .tab-wrapper'), sticks = getComputedStyle(bar).position === 'sticky';
  return {top: own.top - (sticks ? bar.offsetHeight : 0), bottom: own.bottom, scrolled: scrollY};
}"""
RESTED = """() => new Promise(done => {
  let last = scrollY, still = 0;
  const look = () => {
    still = scrollY === last ? still + 1 : 0;
    last = scrollY;
    still < 20 ? requestAnimationFrame(look) : done();
  };
  look();
})"""
"""The page has stood still for twenty frames."""
QUIET = """() => new Promise(done => {
  const awaited = '[data-testid=status-tracker]:not(.hide), .fold:has(> button.open) .canvas:empty:not([data-empty])';
  let still = 0;
  const watch = new ResizeObserver(() => { still = 0; });
  watch.observe(document.querySelector('main'));
  const look = () => {
    still = [...document.querySelectorAll(awaited)].some(one => one.getClientRects().length) ? 0 : still + 1;
    still < 20 ? requestAnimationFrame(look) : (watch.disconnect(), done());
  };
  look();
})"""
"""Nothing is awaited, and nothing has changed its height for twenty frames."""


def landed(page, query):
    """Where the link's own place is once everything is there."""
    fields = dict(re.findall(r"(\w+)=([^&]*)", query))
    place = f"#tab-{fields['tab']} .finding"
    expect(page.locator("#status .status")).to_be_visible()
    expect(page.locator(f"{place}:visible").first).to_be_visible()
    if "fold" in fields and fields["fold"] not in PARTS.get(fields["tab"], ()):
        place = f"#fold-{fields['tab']}-{fields['fold']}"
        expect(page.locator(f"{place} > button.open")).to_be_visible()
    page.evaluate(QUIET)
    return page.evaluate(TOP, place) | {"is_fold": place.startswith("#fold")}


def is_right(place, height):
    if place["is_fold"]:
        return abs(place["top"]) <= 40
    return place["top"] >= 0 and place["bottom"] <= height


def test_the_documents_have_links_to_land_on():
    assert len(QUERIES) >= 10
    assert any("fold=" in query for query in QUERIES)


DESK, LAPTOP, PHONE = SIZES
LANDINGS = [("tab=claims", DESK), ("tab=tasks&fold=question", PHONE)]
"""Each kind of place but a fold; the tests below land on three folds."""


@pytest.mark.parametrize(("query", "size"), LANDINGS)
def test_a_link_shows_what_it_names(page_at, query, size):
    page = page_at(f"/?v=1&{query}", *size)
    place = landed(page, query)
    assert is_right(place, size[1]), place


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("query", QUERIES)
def test_every_link_of_the_readme_lands_ten_times_of_ten(page_at, query, width, height):
    for _ in range(10):
        page = page_at(f"/?{query}", width, height)
        place = landed(page, query)
        assert is_right(place, height), place
        page.context.close()


@pytest.mark.parametrize(("act", "size"), [("wheel", LAPTOP), ("key", PHONE)])
def test_what_grows_above_moves_the_fold_until_the_reader_scrolls(page_at, act, size):
    query = FOLDS[0]
    page = page_at(f"/?v=1&{query}", *size)
    place = landed(page, query)
    assert is_right(place, size[1]), place
    for room in ("400px", "10px"):
        page.evaluate(f"document.querySelector('#tabs').style.paddingTop = '{room}'")
        page.wait_for_function(f"Math.abs(({TOP})('#fold-parameters-sizes').top) <= 2")
    page.mouse.move(size[0] / 2, size[1] / 2)
    page.mouse.wheel(0, -300) if act == "wheel" else page.keyboard.press("Home")
    page.wait_for_function(f"({TOP})('#fold-parameters-sizes').top > 100")
    page.evaluate(RESTED)
    at = page.evaluate("scrollY")
    page.evaluate("document.querySelector('#tabs').style.paddingTop = '410px'")
    page.evaluate(RESTED)
    moved = page.evaluate("scrollY") - at
    assert moved in (0, 400), "the browser may hold on to what is in sight; nobody else scrolls"


def test_the_room_below_the_last_fold_goes_when_nobody_sees_it(page_at):
    query = FOLDS[2]
    page = page_at(f"/?v=1&{query}", *LAPTOP)
    place = landed(page, query)
    assert is_right(place, LAPTOP[1]), place
    assert page.evaluate("document.body.style.minHeight") != ""
    page.mouse.move(700, 400)
    at = page.evaluate("scrollY")
    page.mouse.wheel(0, -8)
    page.wait_for_function(f"scrollY < {at}")
    page.evaluate(RESTED)
    assert page.evaluate("scrollY") == at - 8, "room in sight stays"
    page.mouse.wheel(0, -5000)
    page.wait_for_function("document.body.style.minHeight === ''")
    assert page.evaluate("scrollY") == 0
