"""A link opens with what it names in sight, and there it stays while the rest of the page comes."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from explorer.page_state import PARTS

pytestmark = pytest.mark.browser
README = (Path(__file__).parents[3] / "README.md").read_text("utf-8")
QUERIES = re.findall(r"http://127\.0\.0\.1:7860/\?([^)\s]*tab=[^)\s]*)\)", README)
SIZES = [(1440, 900), (1280, 720), (390, 844)]
FOLDS = ["tab=parameters&fold=sizes", "tab=attention&fold=summary", "tab=predictions&fold=joint"]
TOP = """selector => {
  const own = [...document.querySelectorAll(selector)].find(node => node.getClientRects().length).getBoundingClientRect();
  const bar = document.querySelector('#tabs > .tab-wrapper'), sticks = getComputedStyle(bar).position === 'sticky';
  return {top: own.top - (sticks ? bar.offsetHeight : 0), bottom: own.bottom, scrolled: scrollY};
}"""
QUIET = """() => new Promise(done => {
  let timer;
  const wait = () => { clearTimeout(timer); timer = setTimeout(done, 700); };
  new ResizeObserver(wait).observe(document.querySelector('main'));
})"""
"""Nothing has changed its height for a while."""


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


def test_the_readme_has_links_to_land_on():
    assert len(QUERIES) >= 10
    assert any("fold=" in query for query in QUERIES)


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("query", [*FOLDS, "tab=claims", "tab=tasks&fold=question"])
def test_a_link_shows_what_it_names(page_at, query, width, height):
    page = page_at(f"/?v=1&{query}", width, height)
    place = landed(page, query)
    assert is_right(place, height), place


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("query", QUERIES)
def test_every_link_of_the_readme_lands_ten_times_of_ten(page_at, query, width, height):
    for _ in range(10):
        page = page_at(f"/?{query}", width, height)
        place = landed(page, query)
        assert is_right(place, height), place
        page.context.close()


@pytest.mark.parametrize("act", ["wheel", "key"])
def test_a_reader_who_scrolls_is_left_alone(page_at, act):
    page = page_at(f"/?v=1&{FOLDS[0]}", 1280, 720)
    expect(page.locator("#fold-parameters-sizes > button.open")).to_be_visible()
    page.mouse.move(640, 360)
    page.mouse.wheel(0, -300) if act == "wheel" else page.keyboard.press("Home")
    page.wait_for_function("scrollY < 1500")
    page.wait_for_timeout(300)
    at = page.evaluate("scrollY")
    page.evaluate("document.querySelector('#tabs').style.paddingTop = '400px'")
    page.wait_for_timeout(300)
    moved = page.evaluate("scrollY") - at
    assert moved in (0, 400), "the browser may hold on to what is in sight; nobody else scrolls"


def test_what_grows_above_does_not_push_the_fold_away(page_at):
    query = FOLDS[0]
    page = page_at(f"/?v=1&{query}", 1280, 720)
    landed(page, query)
    for room in ("400px", "10px"):
        page.evaluate(f"document.querySelector('#tabs').style.paddingTop = '{room}'")
        page.wait_for_timeout(200)
        assert abs(page.evaluate(TOP, "#fold-parameters-sizes")["top"]) <= 2


def test_the_room_below_the_last_fold_goes_when_nobody_sees_it(page_at):
    query = FOLDS[2]
    page = page_at(f"/?v=1&{query}", 1440, 900)
    landed(page, query)
    assert page.evaluate("document.body.style.minHeight") != ""
    page.mouse.move(700, 400)
    page.mouse.wheel(0, -5000)
    page.wait_for_function("document.body.style.minHeight === ''")
    assert page.evaluate("scrollY") == 0
