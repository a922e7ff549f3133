"""The 3-D chart: a slider step a layer, each word once in each model, the path of one word."""

import json

import numpy as np

from explorer.analysis.alignment import AlignedWord
from explorer.analysis.depth.states import state_projection
from explorer.ui.depth.strings import PROJECTION
from explorer.views.depth.states import projection_canvas, projection_figure

WORDS = ("the", "[MASK]", "sat")
LABELS = {"bert": "BERT", "distilbert": "DistilBERT"}
RNG = np.random.default_rng(1)
FOUND = state_projection(
    {key: RNG.normal(size=(n, 3, 6)) for key, n in (("bert", 5), ("distilbert", 3))}
)


def test_the_slider_shows_each_model_at_its_layer_of_the_same_depth():
    figure = projection_figure(FOUND, LABELS, WORDS, 1, PROJECTION)
    paths, words = figure.data[:2], figure.data[2:]
    for path, points in zip(paths, FOUND.points.values(), strict=True):
        assert np.allclose(np.array([path.x, path.y, path.z]), points[:, 1].T)
    steps = figure.layout.sliders[0].steps
    assert [step.label for step in steps] == ["emb.", "1", "2", "3", "4"]
    for n, step in enumerate(steps):
        visible = [t for t, on in zip(words, step.args[0]["visible"][2:], strict=True) if on]
        assert list(step.args[0]["visible"][:2]) == [True, True]
        for trace, (points, layer) in zip(
            visible, zip(FOUND.points.values(), (n, round(n / 2)), strict=True), strict=True
        ):
            assert np.allclose(np.array([trace.x, trace.y, trace.z]), points[layer].T)
            assert list(trace.text) == list(WORDS)
    shown = [t.visible for t in words]
    assert shown == list(steps[-1].args[0]["visible"][2:]), "it begins at the last layer"


def test_its_rows_are_its_points_and_the_note_says_how_much_they_show():
    groups = dict.fromkeys(LABELS, ((1,), (2,), (3,)))
    words = [AlignedWord(w, 0, 1) for w in WORDS]
    drawn = json.loads(projection_canvas(FOUND, LABELS, groups, words, PROJECTION))
    assert len(drawn["numbers"]["rows"]) == 3 * (5 + 3)
    assert drawn["numbers"]["rows"][4] == ["BERT", 1, "[MASK]", *FOUND.points["bert"][1, 1]]
    assert f"{FOUND.explained.sum():.1%}" in drawn["note"]
    assert "“[MASK]”" in drawn["note"]
