"""The charts of "Which should I use?": scores with their intervals, limits as lines, the front."""

import json

import pytest

from explorer.analysis.latency.model_choice import Candidate, Comparison, Figure, Limits
from explorer.models.specs import MINI
from explorer.ui.latency.choice_strings import titles_of
from explorer.views.latency.model_choice import choose_canvas

SPECS = {spec.name: spec for spec in MINI.values()}
BERT, DISTILBERT, ALBERT = SPECS


def sure(value):
    return Figure(value, value, value)


def drawn(limits, printed=()):
    nan = float("nan")
    candidates = {
        BERT: Candidate(sure(50.0), None, Figure(0.6, 0.5, 0.7)),
        DISTILBERT: Candidate(Figure(30.0, nan, nan), None, sure(0.5)),
        ALBERT: Candidate(Figure(10.0, 9.0, 11.0), None, sure(0.4)),
    }
    compared = Comparison(SPECS, candidates, limits, printed)
    return json.loads(choose_canvas(compared, titles_of("right")))


def test_a_model_stands_at_its_score_in_per_cent_with_the_intervals_it_has():
    sent = drawn(Limits(megabytes=40.0, score=0.45), printed=(BERT,))
    (figure,) = sent["figures"]
    front, *dots = figure["data"]
    assert [(dot["x"], dot["y"]) for dot in dots] == [([50], [60]), ([30], [50]), ([10], [40])]
    assert [dot["text"] for dot in dots] == [
        ["mini-BERT, printed"],
        ["mini-DistilBERT"],
        ["mini-ALBERT"],
    ]
    bars = [[axis for axis in ("error_x", "error_y") if axis in dot] for dot in dots]
    assert bars == [["error_y"], [], ["error_x"]]
    assert dots[0]["error_y"]["array"] == pytest.approx([10])
    assert [dot["marker"]["symbol"] for dot in dots] == ["circle-open"] * 3, "time is not known"
    assert list(zip(front["x"], front["y"], strict=True)) == [(10, 40), (30, 50), (50, 60)]
    assert front["line"]["shape"] == "hv"
    shapes = figure["layout"]["shapes"]
    assert [(shape["x0"], shape["y0"]) for shape in shapes] == [(40, 0), (0, 45)]
    assert figure["layout"]["xaxis"]["range"] == pytest.approx([0, 57.5])
    assert figure["layout"]["yaxis"]["range"] == pytest.approx([32.5, 77.5])
    assert sent["note"].endswith(": not measured yet")
    assert sent["numbers"]["said"] == {"text": None}, "its files do not begin with the text"
    assert sent["numbers"]["rows"][0][:4] == ["mini-BERT", 50, 50, 50]
    assert sent["numbers"]["rows"][1][:4] == ["mini-DistilBERT", 30, None, None]
    assert sent["numbers"]["rows"][2][-2:] == [False, False]


def test_without_limits_there_are_no_lines_and_one_below_all_scores_is_in_sight():
    (free,) = drawn(Limits())["figures"]
    assert "shapes" not in free["layout"]
    (low,) = drawn(Limits(score=0.05))["figures"]
    assert low["layout"]["yaxis"]["range"][0] < 5


def test_a_name_avoids_the_whiskers_of_its_own_and_of_other_points():
    alone = Candidate(sure(30.0), None, Figure(0.5, 0.3, 0.7))
    candidates = {
        BERT: Candidate(sure(50.0), None, Figure(0.1, 0.0, 0.2)),
        DISTILBERT: alone,
        ALBERT: Candidate(Figure(50.0, 31.0, 69.0), None, sure(0.55)),
    }
    compared = Comparison(SPECS, candidates, Limits(), ())
    (figure,) = json.loads(choose_canvas(compared, titles_of("right")))["figures"]
    sides = {dot["text"][0]: dot["textposition"] for dot in figure["data"][1:]}
    assert sides["mini-BERT"] == "middle right", "beside its own, which goes up and down"
    assert sides["mini-DistilBERT"] != "top right", "there lies another's"
