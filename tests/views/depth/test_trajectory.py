"""How words move, and a shared layer's heads: the curves are the analysis's own numbers."""

import json

import numpy as np
import pytest

from explorer.analysis.depth.states import SharedDrift, WordTrajectory
from explorer.models.specs import MINI
from explorer.ui.depth.strings import CANVAS, MOVES, SHARED
from explorer.views.depth.lens import dial_figure
from explorer.views.depth.states import shared_drift_figure, travel_figures

START = np.array([[1.0, 1.0], [0.75, 0.5], [0.5, -0.25]])
END = np.array([[0.25, 0.125], [0.5, 0.375], [1.0, 1.0]])


def test_a_model_has_a_curve_to_its_start_and_one_to_its_end_on_one_scale():
    found = {"bert": WordTrajectory(START, END), "albert": WordTrajectory(START[:2], END[1:])}
    bert, albert = travel_figures(found, {"bert": "BERT", "albert": "ALBERT"}, 1, MOVES)
    assert [list(trace.y) for trace in bert.data] == [START[:, 1].tolist(), END[:, 1].tolist()]
    assert [trace.line.dash for trace in bert.data] == ["dash", None]
    assert (bert.layout.title.text, albert.layout.title.text) == ("BERT", "ALBERT")
    assert bert.layout.yaxis.range == albert.layout.yaxis.range == pytest.approx((-0.31, 1.06))
    assert list(bert.layout.xaxis.ticktext) == [MOVES["embeddings"], "1", "2"]


def test_a_shared_layer_has_a_line_for_each_head():
    from_first = np.array([[0.0, 0.0], [0.25, 0.5], [0.125, 0.75]])
    drift = SharedDrift(np.array([[0.25, 0.5], [0.3, 0.25]]), from_first)
    figure = shared_drift_figure(drift, MINI["albert"], SHARED)
    assert [list(trace.y) for trace in figure.data] == from_first.T.tolist()
    assert [list(trace.x) for trace in figure.data] == [[1, 2, 3]] * 2
    assert figure.layout.yaxis.range[1] >= 0.75
    still = shared_drift_figure(SharedDrift(drift.step * 0, from_first * 0), MINI["albert"], SHARED)
    assert still.layout.yaxis.range == (0, 0.01)


def test_the_dial_marks_the_usual_depth_and_leaves_the_values_to_the_browser():
    figure = dial_figure(MINI["albert"], 12, CANVAS)
    usual = MINI["albert"].architecture.n_layers
    assert [(shape.x0, shape.line.dash) for shape in figure.layout.shapes] == [
        (usual, "dot"),
        (usual, "solid"),
    ]
    assert json.loads(figure.to_json())["data"][0]["y"] == [None] * 12
    assert figure.layout.title.text == CANVAS["dial_chart"]
