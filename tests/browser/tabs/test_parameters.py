"""The parameters tab in a real browser: the bars switch, the keys inspect, the folds answer."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"


def open_fold(page, question):
    page.get_by_role("button", name=question).click()


def test_bars_switch_keys_inspect_and_folds_answer(visit):
    page = visit("/?v=1&tab=parameters")
    bars_switch_between_stored_and_applied_and_keys_inspect(page)
    walk(page, "/?v=1&tab=parameters")
    a_shape_of_one_s_own_is_counted_or_refused(page)
    walk(page, "/?v=1&tab=parameters")
    resize(page, 390, 900)
    page.locator("#theme-switch").click()
    what_a_phone_has_no_room_for_is_left_out(page)


def bars_switch_between_stored_and_applied_and_keys_inspect(page):
    albert = page.locator('.pm-row[data-model="albert"]')
    expect(albert.locator(".pm-total")).to_have_text("11.7 M")
    expect(page.locator("#tab-parameters .finding").first).to_contain_text("runs it 12 times")
    expect(albert.locator(".pm-caption")).to_contain_text("one shared layer 78.0 M (79.7%)")
    page.get_by_role("button", name="Applied in one pass", exact=True).click()
    expect(albert.locator(".pm-total")).to_have_text("89.7 M")
    expect(albert.locator(".pm-cell.again:not(.folded)")).to_have_count(33)
    # 109.48 M less 89.66 M: what is stored less is not applied less.
    expect(albert.locator(".pm-caption")).to_contain_text("19.8 M less applied than BERT")
    expect(albert.locator(".pm-caption")).not_to_contain_text("one shared layer 78.0 M")
    albert.locator(".pm-bar").focus()
    page.keyboard.press("End")
    expect(page.locator(".pm-line")).to_contain_text("590,592")
    expect(page.locator(".pm-inspector tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Bundled miniatures", exact=True).click()
    said = page.locator("#tab-parameters .finding:visible").first
    expect(said).to_contain_text("Among the bundled miniatures mini-ALBERT stores")
    expect(said).to_contain_text("runs it 6 times")


def a_shape_of_one_s_own_is_counted_or_refused(page):
    expect(page.locator(".pm-row").first).to_be_visible()
    open_fold(page, "Model sizes: how large are all seven")
    heads = page.get_by_label("Heads A", exact=True)
    heads.fill("7")
    expect(page.locator(".pt-refused")).to_contain_text("7 heads cannot share a width of 768")
    heads.fill("16")
    expect(page.locator(".pt-built .finding")).to_contain_text("109,482,240")


SAID = """all => all.filter(one => one.offsetWidth > 20 && one.firstChild.scrollWidth <= one.clientWidth)
  .map(one => one.innerText.trim().replace(/\\s+/g, ' '))"""


def what_a_phone_has_no_room_for_is_left_out(page):
    expect(page.locator("body.dark")).to_have_count(1)
    expect(page.locator(".pm-row").nth(2)).to_be_visible()
    says = page.locator(".pm-ghost:not(.folded)").evaluate_all(SAID)
    assert says == ["fewer layers: −42.5 M", "one shared layer: −78.0 M", "−19.4 M"]
    open_fold(page, "Memory: how much does a forward pass")
    expect(page.locator("#fold-parameters-memory .fg .svg-container").first).to_be_visible()
    every_knob_and_every_label_is_whole(page.locator("#fold-parameters-memory"))
    page.evaluate("window.kept = document.querySelector('.fg .svg-container')")
    page.locator("#tab-parameters").evaluate("tab => { tab.style.display = 'none'; }")
    page.evaluate(FRAMES)
    assert page.evaluate("kept.isConnected"), "a curve that goes out of sight is not drawn again"
    page.locator("#tab-parameters").evaluate("tab => { tab.style.display = ''; }")


CUT_KNOBS = """all => all.filter(slider => {
  const {top, bottom} = slider.getBoundingClientRect(), box = slider.closest('.block').getBoundingClientRect();
  return (top + bottom) / 2 - 10 < box.top || (top + bottom) / 2 + 10 > box.bottom;
}).map(slider => slider.getAttribute('aria-label'))"""
"""Sliders whose knob, of 20 pixels, is larger than the box that shows it."""
BESIDE = """chart => [...chart.querySelectorAll('.bartext')].filter(label =>
  label.getBoundingClientRect().right > chart.getBoundingClientRect().right).map(label => label.textContent)"""


def every_knob_and_every_label_is_whole(fold):
    sliders = fold.locator("input[type=range]")
    expect(sliders).to_have_count(2)
    assert sliders.evaluate_all(CUT_KNOBS) == []
    fold.get_by_role("button", name="Measure here", exact=True).click()
    chart = fold.locator(".js-plotly-plot").nth(1)
    expect(chart.locator(".bartext")).to_have_count(6)
    assert chart.evaluate(BESIDE) == []


SIZES = ((1440, 900), (1280, 720), (390, 844))


def the_names_of_the_seven_sizes_touch_neither_each_other_nor_the_frame(page):
    fold = page.locator("#fold-parameters-sizes")
    chart = fold.locator(".js-plotly-plot").first
    tokens = fold.get_by_label("Tokens", exact=True).first
    for width, height in SIZES:
        resize(page, width, height)
        for key, length in (("Home", 1), ("End", 512)):
            tokens.focus()
            page.keyboard.press(key)
            expect(chart.locator(".ytitle")).to_have_text(f"GFLOP at length {length}")
            expect(chart.locator(".textpoint text")).to_have_count(7)
            page.wait_for_function(
                "chart => Math.abs(chart._fullLayout.width - chart.clientWidth) <= 1",
                arg=chart.element_handle(),
            )
            names_are_apart(chart)
        layers_are_apart(fold.locator(".pt-layers"))
    expect(page).to_have_url(re.compile("length%3A512"))


def boxes(found):
    return found.evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")


def are_apart(all_boxes):
    for i, a in enumerate(all_boxes):
        for b in all_boxes[i + 1 :]:
            apart = (
                a["right"] <= b["left"] + 1
                or b["right"] <= a["left"] + 1
                or a["bottom"] <= b["top"] + 1
                or b["bottom"] <= a["top"] + 1
            )
            assert apart, (a, b)


def names_are_apart(chart):
    """Names of sizes and of lines from each other; the former are inside the frame."""
    names = boxes(chart.locator(".textpoint text"))
    lines = boxes(chart.locator(".annotation-text"))
    assert len(lines) == 3
    are_apart([*names, *lines])
    (frame,) = boxes(chart.locator(".bglayer .bg, .plot .bg, .nsewdrag").first)
    whole = chart.bounding_box()
    for one in names:
        assert frame["left"] <= one["left"]
        assert one["right"] <= frame["right"]
        assert frame["top"] <= one["top"]
        assert one["bottom"] <= frame["bottom"]
    for one in lines:
        assert whole["x"] <= one["left"]
        assert one["right"] <= whole["x"] + whole["width"] + 1


def layers_are_apart(legend):
    """Each size's name, drawing and number stay in their own place."""
    places = legend.locator("li")
    assert places.count() == 7
    are_apart(boxes(places))
    inside = """all => all.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent)"""
    assert places.evaluate_all(inside) == []


def every_size_is_drawn_with_its_own_layers(page):
    """What lies behind a name: twelve, six of twelve, one applied twelve times; 24 twice as long."""
    names = page.locator(".pt-sizes tbody .model-name")
    expect(names).to_have_count(7)
    drawn = {}
    for place in (names, page.locator(".pm-row .model-name")):
        drawn |= dict(place.evaluate_all(LAYERS))
    stored, again, out = ('opacity="1"', 'opacity="0.2"', "dasharray")
    counts = {
        name: tuple(svg.count(one) for one in (stored, again, out)) for name, svg in drawn.items()
    }
    assert counts == {
        "bert-base-uncased": (12, 0, 0),
        "bert-large-uncased": (24, 0, 0),
        "distilbert-base-uncased": (6, 0, 6),
        "albert-base-v2": (1, 11, 0),
        "albert-large-v2": (1, 23, 0),
        "albert-xlarge-v2": (1, 23, 0),
        "albert-xxlarge-v2": (1, 11, 0),
        "BERT": (12, 0, 0),
        "DistilBERT": (6, 0, 6),
        "ALBERT": (1, 11, 0),
    }, "also where the page shows the small ones"


LAYERS = """all => all.map(one => [one.textContent, decodeURIComponent(
  getComputedStyle(one, '::after').maskImage)])"""


def test_the_seven_sizes_as_a_chart_and_as_a_table(visit):
    link = "/?v=1&tab=parameters&fold=sizes"
    page = visit(link)
    both_forms_are_in_the_link_and_come_back(page)
    walk(page, f"{link}&look=sizes:table,sort:heads.up")
    the_order_of_the_table_is_in_the_link(page)
    every_size_is_drawn_with_its_own_layers(page)
    walk(page, link)
    the_names_of_the_seven_sizes_touch_neither_each_other_nor_the_frame(page)


def the_order_of_the_table_is_in_the_link(page):
    table = page.locator(".pt-sizes")
    expect(table.locator("th[aria-sort=ascending]")).to_have_text("A ▴")
    table.get_by_role("button", name=re.compile("^GFLOP")).click()
    expect(table.locator("tbody tr").first).to_contain_text("albert-xxlarge-v2")
    expect(page).to_have_url(re.compile("look=sizes%3Atable%2Csort%3Awork.down"))


def both_forms_are_in_the_link_and_come_back(page):
    fold = page.locator("#fold-parameters-sizes")
    table, listed = fold.locator(".pt-sizes"), fold.locator(".pt-components table")
    expect(fold.locator(".pt-layers")).to_be_visible()
    expect(fold.locator(".dt .svg-container").first).to_be_visible()
    expect(listed).to_be_hidden()
    fold.get_by_role("button", name="Table", exact=True).click()
    expect(table).to_be_visible()
    fold.get_by_role("button", name="Table of components", exact=True).click()
    expect(listed).to_be_visible()
    expect(fold.locator(".dt")).to_have_count(0)
    page.wait_for_url("**/*look=parts%3Atable%2Csizes%3Atable*")
    page.reload(wait_until="domcontentloaded")
    expect(table).to_be_visible()
    expect(listed).to_be_visible()
    walk(page, page.url.replace("parts%3Atable%2Csizes%3Atable", "bytes%3AMiB"))
    expect(table).to_contain_text("1,278.5")
    expect(listed).to_be_hidden()
