"""The answer on the first screen: where things stand at scroll 0, on the text that the page opens with."""

import json

import pytest
from playwright.sync_api import expect

from explorer.assets import DATA
from explorer.links.page_state import TABS
from tests.browser.screens import PICTURE
from tests.browser.viewport import resize

pytestmark = pytest.mark.browser
DESKS, PHONE = ((1440, 900), (1280, 720)), (390, 844)
LOW = (DESKS[1], PHONE)
"""Those with the least room for a picture."""


def opened(page_at, **context):
    page = page_at("/", **context)
    expect(page.locator(".status")).to_contain_text("mini-albert")
    return page


def top(page, selector):
    return page.locator(f"{selector}:visible").first.bounding_box()["y"]


@pytest.mark.parametrize(
    ("screens", "by"),
    [(DESKS, "key"), ((PHONE,), "click")],
    ids=["desks", "phone"],
)
def test_the_answer_is_on_the_first_screen_and_the_tabs_stay_in_sight(page_at, screens, by):
    page = opened(page_at, width=screens[0][0], height=screens[0][1])
    for is_dark in (False, True):
        expect(page.locator("body.dark")).to_have_count(int(is_dark))
        for width, height in screens:
            resize(page, width, height)
            is_on_the_first_screen(page, width)
        page.locator("#theme-switch").click()
    scrolled_down(page)
    expect(page.locator("#tabs [role=tablist]").first).to_be_in_viewport()
    the_next_tab_begins_at_its_top(page, by)


def is_on_the_first_screen(page, width):
    """The tabs, the finding, and each model's answer with the two after it."""
    assert page.evaluate("scrollY") == 0
    parts = page.locator("#tabs > .tab-wrapper, .finding:visible, .pr-first:visible").all()
    assert len(parts) >= 5
    for part in parts:
        expect(part).to_be_in_viewport(ratio=1)
    rows = 3 if width == 390 else 10
    for column in page.locator(".pr-list").all():
        expect(column.locator(".pr-row")).to_have_count(rows)
        expect(column.locator(".pr-row").nth(2)).to_be_in_viewport(ratio=1)


def scrolled_down(page):
    """To the end of a long fold, as a reader scrolls: Playwright's own clicks scroll by themselves."""
    page.get_by_role("button", name="Every word", exact=True).click()
    expect(page.locator("#fold-predictions-words .pw-tile").first).to_be_visible()
    page.mouse.move(200, 400)
    page.mouse.wheel(0, 5000)
    page.wait_for_function("document.querySelector('#tabs').getBoundingClientRect().top < -100")


def the_next_tab_begins_at_its_top(page, by):
    tab = page.get_by_role("tab", name="Claims", exact=True)
    if by == "key":
        page.locator("#tab-predictions-button").evaluate("tab => tab.focus({preventScroll: true})")
        page.keyboard.press("End")
    else:
        tab.evaluate("tab => tab.parentElement.scrollTo({left: 9999})")
        box = tab.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator("#tab-claims .finding").first).to_be_in_viewport(ratio=1)
    page.wait_for_function(
        "Math.abs(document.querySelector('#tabs').getBoundingClientRect().top) < 2"
    )


def test_the_box_the_keys_the_badge_and_the_heads_of_the_columns(page_at):
    page = opened(page_at)
    every_columns_head_has_the_drawing_of_its_model(page)
    the_first_tab_is_eight_presses_from_the_box_at_most(page)
    more_examples_are_one_stop_and_the_arrows_move_among_them(page)
    at_rest_words_when_typed_in_a_text_box(page)
    a_second_sentence_has_a_box_and_is_the_same_text(page)
    the_badge_opens_the_choice_of_models_and_names_those_in_use(page)


def every_columns_head_has_the_drawing_of_its_model(page):
    widths = page.locator(".pr-column h3").evaluate_all(
        "heads => heads.map(head => getComputedStyle(head, '::after').width)"
    )
    assert len(widths) == 3
    assert all(float(width.removesuffix("px")) > 40 for width in widths)


def the_first_tab_is_eight_presses_from_the_box_at_most(page):
    page.locator("#text textarea").focus()
    stops = []
    while not stops or not stops[-1].startswith("tab-"):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("(n => n.id || n.className)(document.activeElement)"))
        assert len(stops) <= 8, stops
    assert {"word", "compare", "chip", "add-sentence"} <= set(stops), "each has a stop of its own"


def more_examples_are_one_stop_and_the_arrows_move_among_them(page):
    page.get_by_role("button", name="More", exact=True).press("Enter")
    chips = page.locator("#more-examples .chips button")
    page.keyboard.press("Tab")
    expect(chips.first).to_be_focused()
    for key, place in (("ArrowRight", 1), ("End", -1), ("ArrowRight", 0)):
        page.keyboard.press(key)
        expect(chips.nth(place)).to_be_focused()
    page.keyboard.press("Tab")
    assert chips.evaluate_all("all => all.includes(document.activeElement)") is False
    page.keyboard.press("Escape")
    expect(chips.first).to_be_hidden()


def at_rest_words_when_typed_in_a_text_box(page):
    strip, box = page.locator(".strip"), page.locator("#text textarea")
    seen = "node => getComputedStyle(node).opacity"
    assert (strip.evaluate(seen), box.evaluate(seen)) == ("1", "0")
    page.locator("#text-row").click(position={"x": 700, "y": 20})
    expect(box).to_be_focused()
    assert (strip.evaluate(seen), box.evaluate(seen)) == ("0", "1")
    page.keyboard.press("Control+A")
    page.keyboard.type("The cat [MASK] on the mat.")
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('cat')")
    expect(strip.locator(".masked")).to_have_text("[MASK]")
    assert (strip.evaluate(seen), box.evaluate(seen)) == ("1", "0")


def a_second_sentence_has_a_box_and_is_the_same_text(page):
    page.get_by_role("button", name="Add a second sentence").click()
    page.keyboard.type("It is [MASK].")
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('SEP')")
    text = page.evaluate("new URLSearchParams(location.search).get('text')")
    assert text.endswith(". [SEP] It is [MASK].")
    page.reload()
    expect(page.get_by_label("Second sentence", exact=True)).to_have_value("It is [MASK].")
    expect(page.locator(".strip")).to_have_count(2)
    box = page.get_by_label("Second sentence", exact=True)
    box.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert box.evaluate("e => e === document.activeElement")
    assert box.evaluate(RING) <= 0, "its ring does not lie over the × beside it"


RING = "e => { const s = getComputedStyle(e); return parseFloat(s.outlineOffset) + parseFloat(s.outlineWidth); }"


def the_badge_opens_the_choice_of_models_and_names_those_in_use(page):
    badge = page.get_by_role("button", name="Miniature models")
    badge.click()
    page.get_by_role("radio", name="Published base size").check()
    expect(page.get_by_role("button", name="Published models")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#settings")).to_be_hidden()


EDGES = """() => {
  const row = document.querySelector('#tabs [role=tablist]'), from = row.getBoundingClientRect().left - row.scrollLeft;
  return [...row.querySelectorAll('[data-tab-id]')].map(tab => tab.getBoundingClientRect().left - from);
}"""
"""Where each tab begins in its row."""
WHOLE = """tab => {
  const row = document.querySelector('#tabs [role=tablist]').getBoundingClientRect();
  const {left, right} = document.querySelector(`#tab-${tab}-button`).getBoundingClientRect();
  return left >= row.left && right <= row.right;
}"""
"""Whether the whole name of a tab is in sight."""


def test_every_tab_shows_its_headline_and_the_beginning_of_its_picture(page_at):
    page = opened(page_at)
    edges = page.evaluate(EDGES)
    for tab in TABS:
        page.locator(f"#tab-{tab}-button").evaluate("tab => tab.click()")
        resize(page, 1440, 900)
        expect(page.locator(f"#tab-{tab}-button")).to_have_attribute("aria-selected", "true")
        assert page.evaluate(EDGES) == pytest.approx(edges, abs=0.1), f"{tab} moves the others"
        for width, height in (DESKS[0], PHONE):
            resize(page, width, height)
            page.locator(f"#tab-{tab} {PICTURE}:visible").first.wait_for()
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_function(WHOLE, arg=tab)
            expect(page.locator(f"#tab-{tab} .finding:visible").first).to_be_in_viewport(ratio=1)
            assert top(page, f"#tab-{tab} {PICTURE}") < height, (tab, width)


VIEWS = json.loads((DATA / "gallery.json").read_text("utf-8"))["views"]
LIT = """place => [...document.querySelectorAll(place)]
  .filter(node => getComputedStyle(node).outlineStyle === 'solid' && node.getClientRects().length).length"""


def stands_at(page, number):
    view, stop = VIEWS[number - 1], page.locator("#tour li:visible")
    expect(stop).to_have_count(1)
    expect(stop).to_contain_text(view["title"])
    page.wait_for_function(
        "([lit, place]) => eval(lit)(place) > 0", arg=[LIT, stop.get_attribute("data-lit")]
    )
    tab = page.locator("#tabs [role=tab][aria-selected=true]").first
    expect(tab).to_have_attribute("data-tab-id", view["link"]["tab"])
    assert f"tour={number}" in page.url


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


def test_every_stop_of_the_tour_by_buttons_and_keys_each_of_them_a_link(page_at):
    page = page_at("/")
    expect(page.locator(".status")).to_contain_text("mini-albert")
    page.get_by_role("button", name="Tour", exact=True).click()
    for number in range(1, len(VIEWS) + 1):
        stands_at(page, number)
        place = page.locator("#tour li:visible").get_attribute("data-lit")
        for width, height in LOW:
            resize(page, width, height)
            page.wait_for_function(f"place => ({IN_SIGHT})(place) === ''", arg=place)
        expect(page.locator(".toast-body")).to_have_count(0)
        page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Back", exact=False).first.click()
    stands_at(page, len(VIEWS) - 1)
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
    page = page_at("/?v=1&tour=1")
    stands_at(page, 1)
    # Its code comes from the cache, before the page has opened on the link.
    for link in ("?tour=4", f"?tour=4&tab={VIEWS[3]['link']['tab']}"):
        page.goto(page.url.partition("?")[0] + link, wait_until="domcontentloaded")
        stands_at(page, 4)
        place = page.locator("#tour li:visible").get_attribute("data-lit")
        page.wait_for_function(f"place => ({IN_SIGHT})(place) === ''", arg=place)


def test_a_projector_shows_the_cell_that_is_pointed_at(page_at):
    page = page_at("/?tab=attention&projector=1")
    matrix = page.locator(".aw-matrix canvas").first
    expect(matrix).to_be_visible()
    box = matrix.bounding_box()
    matrix.hover(position={"x": 0.98 * box["width"], "y": 0.98 * box["height"]})
    expect(page.get_by_text("[SEP] attends to [SEP]").first).to_be_visible()
