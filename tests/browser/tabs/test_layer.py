"""The layer tab in a real Chromium: a reader sees the flow, computes by hand, and chooses."""

import math
import re
from itertools import pairwise
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import expect

from explorer.analysis.measures import log_softmax
from explorer.inference.runs import get_run
from explorer.links.page_state import PageState
from explorer.models.forward import state_logits
from explorer.models.inside.activations import block_states
from explorer.models.loading import load_model
from explorer.models.specs import MINI
from explorer.models.tokens import spelling_of
from tests.browser import axe
from tests.browser.modules import MODULE
from tests.browser.printed import RAISED, SAVED, unsaved
from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
TEXT = "The capital of France is [MASK]."
STAGES = "stages:input.attention.norm1.feed.norm2"
"""In a link: every box of the flow is open."""
LONG = f"It was not [MASK], {'and the water of the river was cold and dark, ' * 32}he said."


def link(**fields):
    return "/?" + urlencode({"tab": "layer", "text": TEXT, "layer": 2, **fields})


def opened(visit, **fields):
    page = visit(link(**fields))
    expect(page.locator(".ly-stage")).to_have_count(5)
    return page


def opened_too(page, **fields):
    """The same in a page that is there."""
    walk(page, link(**fields))
    expect(page.locator(".ly-stage")).to_have_count(5)


def number(text):
    digits, _, power = text.translate(RAISED).partition("×10")
    return float(digits) * 10.0 ** int(power or 0)


def open_station(page, station):
    button = page.locator(f"[data-station={station}] h4 button")
    if button.get_attribute("aria-expanded") == "false":
        button.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")


def table_of(page, station, model, which=0):
    """The rows of one table of an opened station as a reader sees them."""
    open_station(page, station)
    place = page.locator(f"[data-station={station}] .ly-sum[data-model={model}]")
    figure = place.locator("figure").nth(which)
    expect(figure.locator("tbody tr").first).to_be_visible()
    rows = figure.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
    )
    return rows, place


def test_the_arithmetic_is_done_by_hand_from_what_is_shown_and_all_fits_a_phone_and_paper(visit):
    page = opened(visit, head=1, look=STAGES)
    (saved,) = page.evaluate(SAVED, "#tab-layer")
    assert unsaved(saved) == []
    for model in MINI:
        an_attention_weight_by_hand(page, model)
    sums_and_norms_by_hand(page)
    all_fits_a_phone_and_paper(page)


def an_attention_weight_by_hand(page, model):
    products, place = table_of(page, "scores", model)
    said = place.locator(".note").inner_text()
    d, key = len(products), place.locator("select").evaluate("box => box.selectedIndex")
    for _, q, k, part in products:
        assert number(q) * number(k) == pytest.approx(number(part), abs=5e-5)
    score = sum(number(part) for *_, part in products) / math.sqrt(d)
    assert score == pytest.approx(number(re.search(r"score (−?[\d.]+)", said)[1]), abs=5e-5)
    rows, _ = table_of(page, "softmax", model)
    scores = [number(row[1]) for row in rows]
    assert scores[key] == pytest.approx(score, abs=5e-5)
    exps = [math.exp(one - max(scores)) for one in scores]
    run = get_run(MINI[model], PageState(text=TEXT).ask)
    at = run.tokens.mask_positions[0]
    layer = {"bert": 2, "albert": 2, "distilbert": 0}[model]
    if model == "distilbert":
        origins = MINI[model].initialised_from
        layer = max((i for i, origin in enumerate(origins) if origin <= 2), default=0)
    for (_, _, exp, weight), mine, true in zip(
        rows, exps, run.attention[layer, 1, at], strict=True
    ):
        assert f"{mine:.5f}" == pytest.approx(exp) or abs(mine - number(exp)) <= 1.1e-5
        assert abs(mine / sum(exps) - number(weight)) <= 1.1e-5
        assert number(weight) == pytest.approx(true, abs=6e-6)
    strip = page.locator(f"[data-station=softmax] .ly-cell[data-model={model}] li b")
    assert [number(text) for text in strip.all_inner_texts()] == pytest.approx(
        [number(row[3]) for row in rows], abs=6e-4
    )


def sums_and_norms_by_hand(page):
    for station in ("embedding", "attended", "summed"):
        for model in MINI:
            rows, _ = table_of(page, station, model)
            assert len(rows) == 8
            for _, *parts, total in rows:
                assert sum(map(number, parts)) == pytest.approx(number(total), abs=1.6e-4)
            has_segment = model != "distilbert"
            assert len(rows[0]) == (4 + has_segment if station == "embedding" else 4)
    for station, which in (("embedding", 1), ("attention_norm", 0), ("output", 0)):
        for model in MINI:
            rows, place = table_of(page, station, model, which)
            caption = place.locator("figcaption").nth(which).inner_text()
            mean, deviation = map(number, re.search(r"− (−?[\d.]+)\) ÷ ([\d.]+)", caption).groups())
            for _, x, scale, shift, result in (map(number, ["0", *row[1:]]) for row in rows):
                made = (x - mean) / deviation * scale + shift
                assert made == pytest.approx(result, abs=1e-3)
    a_projected_dimension_by_hand(page)


def a_projected_dimension_by_hand(page):
    """The last step of ALBERT's embedding gives the input of its first pass."""
    rows, place = table_of(page, "embedding", "albert", 2)
    normalised = {row[0]: number(row[-1]) for row in table_of(page, "embedding", "albert", 1)[0]}
    assert len(rows) == MINI["albert"].architecture.d_embedding
    for i, x, w, part in rows:
        assert number(x) * number(w) == pytest.approx(number(part), abs=5e-5)
        assert number(x) == pytest.approx(normalised.get(i, number(x)), abs=1e-4)
    said = re.search(r"bias (\S+) = (\S+)", place.locator(".note").inner_text())
    bias, result = map(number, said.groups())
    assert sum(number(part) for *_, part in rows) + bias == pytest.approx(result, abs=1e-3)
    run = get_run(MINI["albert"], PageState(text=TEXT).ask)
    at, chosen = run.tokens.mask_positions[0], place.locator("select option:checked").inner_text()
    assert result == pytest.approx(run.hidden_states[0, at, int(chosen) - 1], abs=1e-5)


def test_the_flow_says_what_it_computes_and_is_worked_by_keyboard(visit, page_at, app_url):
    page = opened(visit)
    the_flow_says_what_was_read_what_is_predicted_and_by_how_much_it_turned(page)
    the_flow_is_worked_by_keyboard_kept_in_the_link_and_restored_by_back(page)
    fresh = page_at(page.url.removeprefix(app_url))
    expect(fresh.locator(".ly-details").nth(1)).to_be_visible()
    a_head_chosen_on_the_wall_is_the_one_that_is_shown(page)


def the_flow_is_worked_by_keyboard_kept_in_the_link_and_restored_by_back(page):
    box, details = page.locator("[data-stage=attention] .ly-box"), page.locator(".ly-details")
    expect(page.locator(".ly-details:visible")).to_have_count(0)
    page.get_by_label("Layer", exact=True).focus()
    for _ in range(2):
        page.keyboard.press("Tab")
    expect(box.first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(box.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(details.nth(1)).to_be_visible()
    expect(box.nth(1)).to_be_focused()
    for one in box.all():
        expect(one).to_have_attribute("aria-expanded", "true")
    page.wait_for_function("location.search.includes('look=stages%3Aattention')")
    page.get_by_role("tab", name="Depth", exact=True).click()
    page.wait_for_function("location.search.includes('tab=depth')")
    page.go_back()
    expect(details.nth(1)).to_be_visible()


READS = "[data-stage=attention] .ly-lane[data-model={}] .ly-reads > span"


def the_flow_says_what_was_read_what_is_predicted_and_by_how_much_it_turned(page):
    for key, model in MINI.items():
        run = get_run(model, PageState(text=TEXT).ask)
        layer, at = {"bert": 2, "albert": 2, "distilbert": 0}[key], run.tokens.mask_positions[0]
        weights = run.attention[layer, :, at].mean(0)
        most = weights.argsort()[::-1][:3]
        rows = page.locator(READS.format(key)).all()
        spelling = spelling_of(run.vocabulary)
        told = [
            [row.locator(part).inner_text() for part in ("span:first-child", "b")] for row in rows
        ]
        for (token, weight), i in zip(told, most, strict=True):
            assert token == spelling.word(run.tokens.pieces[i])
            assert number(weight) == pytest.approx(weights[i], abs=6e-4)
        states = block_states(load_model(model), run.hidden_states, at)[2 * layer : 2 * layer + 3]
        p = np.exp(log_softmax(state_logits(load_model(model), states)))
        column = page.locator(f".ly-lane[data-model={key}]:has(.ly-says) .ly-says")
        for said, row in zip(column.all_inner_texts(), p, strict=True):
            word, printed = re.match(r"predicts (.+) (\S+)$", said.replace("\n", " ")).groups()
            assert word == spelling.word(run.vocabulary[row.argmax()])
            assert number(printed) == pytest.approx(row.max(), abs=6e-4)
        turned = page.locator(f".ly-lane[data-model={key}] .ly-angle").all_inner_texts()
        for said, (a, b) in zip(turned, pairwise(states.astype(float)), strict=True):
            angle = np.rad2deg(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))
            assert said.strip() == f"turned {angle:.0f}°"
    loops = page.locator(".ly-line.loops")
    assert {one.evaluate("e => e.parentElement.dataset.model") for one in loops.all()} == {"albert"}
    expect(page.locator(".ly-heads [data-model=albert] + small")).to_have_text(
        "layer 3 of 6, the same weights each time"
    )


def lists_of_a_long_text_are_short_until_all_is_asked_for(page):
    list_of = page.locator("[data-station=softmax] .ly-cell[data-model=albert] li")
    expect(list_of).to_have_count(12)
    printed = page.locator("[data-station=softmax] .ly-tokens b").all_inner_texts()
    assert all(number(one) > 0 for one in printed)
    n = len(get_run(MINI["albert"], PageState(text=LONG).ask).tokens)
    more = page.locator("[data-station=softmax] .ly-cell[data-model=albert] .ly-more")
    expect(more).to_have_text(f"Show all {n}")
    more.press("Enter")
    expect(list_of).to_have_count(n)
    expect(more).to_be_focused()
    page.get_by_label("Layer", exact=True).select_option(label="2")
    expect(page.locator(".ly-heads")).to_contain_text("layer 2 of 6")
    expect(list_of).to_have_count(n)
    for width in (1440, 390):
        resize(page, width, 844)
        no_column_runs_into_the_next(page)
    more.press("Enter")
    expect(list_of).to_have_count(12)


def test_another_word_layer_and_head_are_computed_and_lists_of_a_long_text_are_short(
    visit, page_at, app_url
):
    page = opened(visit, look="stages:attention")
    another_word_layer_and_head_are_computed_kept_and_linked(page, page_at, app_url)
    opened_too(page, text=LONG, look="stages:attention")
    lists_of_a_long_text_are_short_until_all_is_asked_for(page)


def another_word_layer_and_head_are_computed_kept_and_linked(page, page_at, app_url):
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.locator("[data-station=softmax] h4 button").click()
    page.get_by_label("Layer", exact=True).focus()
    page.get_by_label("Layer", exact=True).select_option(label="6")
    expect(page.locator(".ly-heads")).to_contain_text("layer 6 of 6")
    expect(page.locator("[data-station=softmax] .ly-open")).to_be_visible()
    expect(page.get_by_label("Layer", exact=True)).to_be_focused()
    page.get_by_label("Head", exact=True).select_option(label="4")
    page.get_by_label("Word", exact=True).select_option(label="capital")
    expect(page.locator(".ly-tokens li.self").first).to_contain_text("capital")
    expect(page.locator("#tab-layer .finding").first).to_contain_text("capital")
    page.wait_for_function("/layer=5.*head=3.*at=1/.test(location.search)")
    assert all("component_server" in url for url in requests), requests
    link = page.locator("#link input").input_value()
    first = page.locator(".ly-grid").inner_text()
    other = page_at(link.removeprefix(app_url))
    expect(other.locator("[data-station=softmax] .ly-open")).to_be_visible()
    again = other.locator(".ly-grid").inner_text()
    norms = [[s for s in text.splitlines() if s.startswith("norm")] for text in (first, again)]
    assert norms[0] == norms[1]
    run = get_run(MINI["bert"], PageState(text=TEXT).ask)
    shown = other.locator("[data-station=softmax] [data-model=bert] li b").all_inner_texts()
    assert [*map(number, shown)] == pytest.approx(run.attention[5, 3, 2], abs=6e-4)


def no_column_runs_into_the_next(page):
    expect(page.locator(".ly-cell, .ly-box").first).to_be_visible()
    over = page.locator(".ly-cell, .ly-box").evaluate_all(
        """cells => cells.flatMap(cell => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            const most = Math.max(...[...range.getClientRects()].map(box => box.right));
            return most > cell.getBoundingClientRect().right + 1 ? [cell.textContent] : [];
        })"""
    )
    assert over == []


def all_fits_a_phone_and_paper(page):
    said = page.locator("#tab-layer .finding").first
    assert said.evaluate("e => e.offsetHeight / parseFloat(getComputedStyle(e).lineHeight)") < 2.1
    for station in ("embedding", "softmax", "attention_norm"):
        open_station(page, station)
    for width in (1440, 390, 360):
        resize(page, width, 844)
        if width != 390:
            assert axe.violations(page, "#tab-layer") == []
        no_column_runs_into_the_next(page)
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.emulate_media(media="print")
    page.wait_for_function(
        "document.querySelector('.ly-strip').getBoundingClientRect().height > 10"
    )


def a_head_chosen_on_the_wall_is_the_one_that_is_shown(page):
    page.get_by_role("tab", name="Attention", exact=True).click()
    expect(page.locator("[data-kind='attention/wall'] canvas").first).to_be_visible()
    page.evaluate(
        f"async () => (await {MODULE}('page/here.js')).choose({{model: 'bert', layer: 4, head: 2}})"
    )
    page.get_by_role("tab", name="Layer", exact=True).click()
    expect(page.locator(".ly-heads")).to_contain_text("layer 5 of 6")
    expect(page.get_by_label("Head", exact=True)).to_have_value("2")


def steps_and_readings_answer_in_their_folds(page):
    fold = page.locator("#fold-layer-steps")
    expect(fold.locator(".fg .main-svg").first).to_be_visible()
    expect(fold.locator(".finding")).to_contain_text("Largest steps")
    box = fold.get_by_role("textbox")
    box.fill("london")
    box.press("Enter")
    expect(fold.locator("figcaption").first).to_contain_text("london")
    box.fill("quokkasaurus")
    box.press("Enter")
    page.guard.expect("not one piece")
    page.locator("#fold-layer-contexts > button.label-wrap").click()
    rows = page.locator("#fold-layer-contexts tbody tr")
    expect(rows).to_have_count(6)
    expect(rows.first).to_contain_text("paris")


def test_folds_answer_also_where_a_live_check_leads_to_them(visit):
    checks = "/?" + urlencode({"tab": "claims", "fold": "checks", "text": TEXT})
    page = visit(checks)
    a_live_check_leads_to_where_the_same_is_seen_on_any_text(page, "LC22", None)
    walk(page, checks)
    a_live_check_leads_to_where_the_same_is_seen_on_any_text(page, "LC24", "contexts")
    opened_too(page, fold="steps")
    steps_and_readings_answer_in_their_folds(page)


def a_live_check_leads_to_where_the_same_is_seen_on_any_text(page, check, fold):
    row = page.locator(f"[data-check-row={check}]")
    row.get_by_role("button", name="See it on your text").click()
    expect(page.locator("#tab-layer .ly-stage")).to_have_count(5)
    if fold:
        expect(page.locator(f"#fold-layer-{fold} tbody tr")).to_have_count(6)
        expect(page.locator(f"#fold-layer-{fold} > button")).to_be_in_viewport()
