"""The tour: each stop is a view of the gallery, with what it speaks of in sight, and a link."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.viewport import resize
from tests.ui.shell.test_gallery import GALLERY, STOPS, VIEWS

pytestmark = pytest.mark.browser
LOW = ((1280, 720), (390, 844))
"""Windows with the least room for a picture."""
NUMBER = re.compile(r"(?<![\w.])\d(?:[\d,]*\d)?(?:\.\d+)?(?!\w)")


def every_number_of_the_view_is_there(page, view):
    """What a view says of itself stands in the tab where its link opens."""
    tab, fold = view["link"]["tab"], view["link"].get("fold")
    panel, spoken = page.locator(f"#tab-{tab}"), f"{view['title']}. {view['says']}"
    if fold:
        drawn = page.locator(f"#fold-{tab}-{fold} :is(.finding, figure, table):visible").first
        expect(drawn, view["title"]).to_be_visible()
    for number in sorted(set(NUMBER.findall(spoken))):
        stands = re.compile(rf"(?<![\d.]){re.escape(number)}(?![\d])")
        expect(panel, view["title"]).to_contain_text(stands, use_inner_text=True)
    if also := ALSO.get(view["holds"]):
        also(view, panel)


def the_quotient_and_what_is_stored_are_those_of_the_picture(view, panel):
    said = panel.locator(".finding:visible").first.inner_text()
    albert, bert = (float(n) for n in re.findall(r"([\d.]+)\sM", said) if n != "66.4")
    assert f"{bert / albert:.1f} times fewer" in view["title"]
    assert re.findall(r"([\d.]+)\sM", view["says"]) == [f"{n}" for n in (bert, albert)]


def half_the_work_and_all_of_it_are_those_of_the_card(_view, panel):
    work = panel.inner_text().split("Compute of one pass")[1].split("CPU time")[0]
    assert [round(float(n), 1) for n in re.findall(r"([\d.]+) ×", work)] == [1.0, 0.5, 1.0]


ALSO = {
    "stores_little_applies_much": the_quotient_and_what_is_stored_are_those_of_the_picture,
    "half_the_work": half_the_work_and_all_of_it_are_those_of_the_card,
}


def test_both_of_them_are_views():
    assert set(ALSO) <= {view["holds"] for view in VIEWS}


LIT = """place => [...document.querySelectorAll(place)]
  .filter(node => getComputedStyle(node).outlineStyle === 'solid' && node.getClientRects().length).length"""


def stands_at(page, number):
    view, stop = STOPS[number - 1], page.locator("#tour li:visible")
    expect(stop).to_have_count(1)
    expect(stop).to_contain_text(view["title"])
    page.wait_for_function(
        "([lit, place]) => eval(lit)(place) > 0", arg=[LIT, stop.get_attribute("data-lit")]
    )
    tab = page.locator("#tabs [role=tab][aria-selected=true]").first
    expect(tab).to_have_attribute("data-tab-id", view["link"]["tab"])
    assert parse_qs(urlsplit(page.url).query)["tour"] == [str(GALLERY["tour"][number - 1])]


IN_SIGHT = """place => {
  const lit = [...document.querySelectorAll(place)]
    .find(node => getComputedStyle(node).outlineStyle === 'solid' && node.getClientRects().length);
  if (!lit) return 'nothing is lit';
  const {top, height} = lit.getBoundingClientRect(), end = top + Math.min(height, 300);
  const from = document.querySelector('#tabs > .tab-wrapper').getBoundingClientRect().bottom;
  const to = document.querySelector('.tour').getBoundingClientRect().top;
  return top >= from && end <= to ? '' : `${lit.dataset.kind} from ${top} to ${end}, in sight: ${from} to ${to}`;
}"""
"""Whether the lit picture stands below the row of tabs and above the tour's bar, wholly or by its first 300 px."""


def test_every_stop_of_the_tour_by_buttons_and_keys_each_of_them_a_link(visit, page_at):
    page = visit("/")
    expect(page.locator(".status")).to_contain_text("mini-albert")
    page.get_by_role("button", name="Tour", exact=True).click()
    for number in range(1, len(STOPS) + 1):
        stands_at(page, number)
        place = page.locator("#tour li:visible").get_attribute("data-lit")
        for width, height in LOW:
            resize(page, width, height)
            page.wait_for_function(f"place => ({IN_SIGHT})(place) === ''", arg=place)
            if width == LOW[0][0]:
                every_number_of_the_view_is_there(page, STOPS[number - 1])
        expect(page.locator(".toast-body")).to_have_count(0)
        page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Back", exact=False).first.click()
    stands_at(page, len(STOPS) - 1)
    page.keyboard.press("Escape")
    expect(page.locator(".tour")).to_be_hidden()
    assert "tour=" not in page.url
    link = page.locator("#tour li a").nth(5).get_attribute("href")
    a_stop_is_a_link_and_the_projector_shows_nothing_but_box_tab_and_picture(page_at, link)


def a_stop_is_a_link_and_the_projector_shows_nothing_but_box_tab_and_picture(page_at, link):
    page = page_at(f"/{link}&projector=1")  # in a page of its own: the first may still be asking
    stands_at(page, 6)
    for part in ("#masthead header", "#examples", "footer", "#link", ".fold"):
        expect(page.locator(part).first).to_be_hidden()
    tall = "node => node.getBoundingClientRect().height"
    large = page.locator("#tabs [role=tab]").first.evaluate(tall)
    page.get_by_role("button", name="Exit projector mode").click()
    expect(page.locator("#masthead header")).to_be_visible()
    assert large > 1.3 * page.locator("#tabs [role=tab]").first.evaluate(tall)
    assert "projector" not in page.url


def test_the_number_of_a_stop_alone_leads_to_its_place(page_at):
    page = page_at(f"/?v=1&tour={GALLERY['tour'][0]}")
    stands_at(page, 1)
    # Its code comes from the cache, before the page has opened on the link.
    for link in ("?tour=6", "?tour=6&tab=depth"):
        page.goto(page.url.partition("?")[0] + link, wait_until="domcontentloaded")
        stands_at(page, GALLERY["tour"].index(6) + 1)
        place = page.locator("#tour li:visible").get_attribute("data-lit")
        page.wait_for_function(f"place => ({IN_SIGHT})(place) === ''", arg=place)


def test_a_projector_shows_the_cell_that_is_pointed_at(page_at):
    page = page_at("/?tab=attention&projector=1")
    matrix = page.locator(".aw-matrix canvas").first
    expect(matrix).to_be_visible()
    box = matrix.bounding_box()
    matrix.hover(position={"x": 0.98 * box["width"], "y": 0.98 * box["height"]})
    expect(page.get_by_text("[SEP] attends to [SEP]").first).to_be_visible()
