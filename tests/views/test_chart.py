"""Charts as they reach the browser: without a look of their own, bands only where both ends are."""

import json
from itertools import combinations

import numpy as np
import plotly.graph_objects as go
import pytest

from explorer.analysis.records import Records
from explorer.views import chart
from explorer.views.chart import band, chart_canvas, label_sides, line
from explorer.views.markup import note
from explorer.views.theme import COLOURS, PAGES, chart_template, faint
from tests.markup import every
from tests.views.test_theme import CSS, contrast


def test_a_chart_brings_its_numbers_and_no_look():
    figure = go.Figure(line([1, 2], [0.5, None], "JS", "bert"), {"title": "One"})
    sent = json.loads(chart_canvas([figure], Records(("a",), [[1]]), note="</script>"))
    (drawn,) = sent["figures"]
    assert "template" not in drawn["layout"]
    assert drawn["data"][0]["y"] == [0.5, None]
    assert drawn["data"][0]["connectgaps"] is False
    assert drawn["data"][0]["line"]["color"] == COLOURS["bert"].fill
    assert (sent["numbers"]["rows"], sent["note"]) == ([[1]], "</script>")
    assert "color" not in line([1], [2], "ink").to_plotly_json()["line"]


def test_a_band_goes_up_one_side_and_down_the_other_and_breaks_where_an_end_is_missing():
    ends = [(1, 2), (3, 4), None, (5, 6), (7, 8), (9, 10)]
    first, second = band([10, 20, 30, 40, 50, 60], ends, "albert")
    assert (list(first.x), list(first.y)) == ([10, 20, 20, 10], [1, 3, 4, 2])
    assert (list(second.x), list(second.y)) == ([40, 50, 60, 60, 50, 40], [5, 7, 9, 10, 8, 6])
    assert band([1, 2], [(1, 2), None], "bert") == []
    assert first.fillcolor == faint(COLOURS["albert"].fill, 0.18)


def test_a_faint_colour_is_the_same_colour():
    assert faint("#0f9b76", 0.25) == "rgba(15,155,118,0.25)"


@pytest.mark.parametrize("theme", PAGES)
def test_the_looks_are_the_pages_own_colours_and_can_be_read(theme):
    page, look = PAGES[theme], chart_template(theme).layout
    sheet = (CSS / "page.css").read_text("utf-8")
    for name in ("paper", "ink", "line", "accent"):
        assert f"--{name}: {getattr(page, name)}" in sheet
    assert f"--ink-soft: {page.ink_soft}" in sheet
    assert contrast(look.font.color, page.paper) >= 4.5
    assert contrast(look.colorway[0], page.paper) >= 4.5
    assert look.font.size >= 12
    assert look.xaxis.gridcolor == look.yaxis.gridcolor == page.line


def test_names_stand_where_they_touch_neither_each_other_nor_a_point_nor_leave_the_chart():
    middle = ((5, (0, 10)), (5, (0, 10)))
    assert label_sides([middle], ["BERT"]) == ["top right"]
    assert label_sides([((9.9, (0, 10)), (5, (0, 10)))], ["mini-DistilBERT"]) == ["top left"]
    assert label_sides([((5, (0, 10)), (10, (0, 10)))], ["BERT"]) == ["bottom right"]
    assert label_sides([middle, middle, middle], ["BERT"] * 3) == [
        "top right",
        "bottom right",
        "top left",
    ]


@pytest.mark.long
def test_names_of_models_that_take_the_same_time_hardly_ever_meet():
    """Six models, BERT and ALBERT within 10% of each other in time, at 400 drawn places.

    One name after the other, without looking back, let names meet at 34 of them.
    """
    names = ["BERT, printed", "DistilBERT, printed", "ALBERT, printed"]
    names += ["mini-BERT", "mini-DistilBERT", "mini-ALBERT"]
    random = np.random.default_rng(0)
    meeting = 0
    for _ in range(400):
        bert = random.uniform(20, 60)
        times = bert * np.array([1, random.uniform(0.48, 0.6), random.uniform(0.95, 1.1)])
        times = [*times, *random.uniform(2, 6, 3)]
        scores = [92.7, 91.3, random.uniform(91.9, 93.9), *random.uniform(50, 85, 3)]
        margin = 0.25 * (max(scores) - min(scores))
        up = (min(scores) - margin, min(100, max(scores) + margin))
        spots = [((x, (0, 1.15 * max(times))), (y, up)) for x, y in zip(times, scores, strict=True)]
        sides = label_sides(spots, names)
        boxes = [
            chart._box(chart._on_phone(spot), name, *chart.SIDES[side])
            for spot, name, side in zip(spots, names, sides, strict=True)
        ]
        meeting += any(
            a[0] < b[2] - 1 and b[0] < a[2] - 1 and a[1] < b[3] - 3 and b[1] < a[3] - 3
            for a, b in combinations(boxes, 2)
        )
    assert meeting <= 8


def test_no_name_lies_over_the_dot_of_a_point_close_by():
    points = {
        "BERT, printed": (437.9, 92.7),
        "DistilBERT, printed": (265.5, 91.3),
        "ALBERT, printed": (46.7, 92.9),
        "mini-BERT": (60.1, 81.3),
        "mini-DistilBERT": (38.2, 81.8),
        "mini-ALBERT": (13.5, 76.7),
    }
    places = [((x, (0, 503)), (y, (69, 98))) for x, y in points.values()]
    sides = dict(zip(points, label_sides(places, [*points]), strict=True))
    assert sides["mini-DistilBERT"] == "top right", "below its dot lies mini-BERT's"


def test_a_note_hides_what_is_below_its_first_line():
    for one in (note("Units.\nMore < of it."), note("Units.", details="More < of it.")):
        (box,) = every(one, "details", cls="note")
        assert [part.text() for part in box.children] == ["Units.", "More < of it."]
    (line,) = every(note("Units, all."), "p", cls="note")
    assert line.text() == "Units, all."
