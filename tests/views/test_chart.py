"""Charts as they reach the browser: without a look of their own, bands only where both ends are."""

import json

import plotly.graph_objects as go
import pytest

from explorer.views.chart import band, chart_canvas, label_sides, line
from explorer.views.numbers import Numbers
from explorer.views.theme import COLOURS, PAGES, chart_template, faint
from tests.views.test_theme import CSS, contrast


def test_a_chart_brings_its_numbers_and_no_look():
    figure = go.Figure(line([1, 2], [0.5, None], "JS", "bert"), {"title": "One"})
    sent = json.loads(chart_canvas([figure], Numbers(("a",), [[1]]), note="</script>"))
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
