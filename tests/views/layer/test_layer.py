"""The pictures of a layer: their numbers are the results', their size is bounded."""

import base64
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from explorer.analysis.layer import AnswerSteps, ContextScore, context_answers
from explorer.links.page_state import PageState
from explorer.models.run import READINGS
from explorer.models.specs import MINI
from explorer.ui.layer import strings, tab
from explorer.ui.shell.tabs import values_of
from explorer.views.layer.folds import (
    context_rows,
    held_out_canvas,
    recurrent_canvas,
    steps_canvas,
)

LABELS = {"bert": "BERT", "albert": "ALBERT"}


def floats(packed):
    return np.frombuffer(base64.b64decode(packed), np.float32)


def test_the_picture_has_the_very_vectors_of_the_run(tiny_family):
    state = PageState(text="The cat sat on the [MASK].", layer=1, head=1)
    data = json.loads(values_of(tab, state)[1])
    assert data["chosen"]["words"][data["chosen"]["at"]] == "[MASK]"
    for model in data["models"]:
        run = tiny_family.run(model["key"], state.text)
        layer, at = model["layer"], model["position"]
        assert at == run.tokens.mask_positions[0]
        np.testing.assert_array_equal(
            floats(model["vectors"]["input"]), run.hidden_states[layer, at]
        )
        after = run.hidden_states[layer + 1, at]
        np.testing.assert_allclose(floats(model["vectors"]["output"]), after, atol=1e-5)
        weights = run.attention[layer, model["head"], at]
        np.testing.assert_allclose(model["weights"], weights, atol=1e-6)
        keys = floats(model["keys"]).reshape(len(run.tokens), -1)
        scores = keys @ floats(model["query"]) / keys.shape[1] ** 0.5
        np.testing.assert_allclose(model["scores"], scores, atol=1e-5)
        parts = [floats(row) for row in model["embedding"]["parts"].values()]
        assert len(parts) == (2 if model["key"] == "distilbert" else 3)
        assert (model["embedding"]["dimensions"] < model["embedding"]["width"]) is (
            model["key"] == "albert"
        )


def test_the_picture_of_32_words_is_small():
    text = " ".join(["river"] * 31 + ["[MASK]"])
    data = values_of(tab, PageState(text=text))[1]
    width = MINI["bert"].architecture.d_model
    assert width == 384
    assert len(data) < 300_000 / 2, "base shapes are twice as wide"


def test_steps_stand_where_the_one_before_ended():
    found = {
        "bert": AnswerSteps(np.array([-9.0, -7, -8, -2, -1])),
        "albert": AnswerSteps(np.array([-3.0, -2, -1])),
    }
    told = {"POSITIONS": {"BERT": 3, "ALBERT": 4}}
    drawn = json.loads(
        steps_canvas(found, LABELS, dict.fromkeys(LABELS, "cat"), told, strings.STEPS)
    )
    assert drawn["numbers"]["said"] == {"state": {"piece": "cat", "token": 3}}
    first, second = drawn["figures"]
    attention, feed_forward, start, end = first["data"]
    assert (attention["base"], attention["y"]) == ([-9, -8], [2, 6])
    assert (feed_forward["base"], feed_forward["y"]) == ([-7, -2], [-1, 1])
    assert (start["y"], end["y"]) == ([-9], [-1])
    order = first["layout"]["xaxis"]["categoryarray"]
    assert [*start["x"], *attention["x"][:1], *feed_forward["x"][:1]] == order[:3]
    assert [*attention["x"][1:], *feed_forward["x"][1:], *end["x"]] == order[3:]
    assert first["layout"]["yaxis"]["range"] == second["layout"]["yaxis"]["range"]
    low, high = first["layout"]["yaxis"]["range"]
    assert low < -9
    assert high > 0, "certainty, ln P = 0, is on the axis"
    rows = drawn["numbers"]["rows"]
    assert rows[0] == ["BERT", 0, "embedding", -9, None]
    assert rows[3] == ["BERT", 2, "attention", -2, 6]


def test_a_cell_names_the_answer_and_where_the_wanted_word_stands():
    vocabulary = ("cat", "dog", "<b>")
    logits = np.array([[4.0, 1, 0]] + [[0.0, 1, 4]] * 5)
    found = {"bert": context_answers(logits, vocabulary, None)}
    head, rows = context_rows(found, LABELS, strings.CONTEXTS)
    assert head == ["Reading", "BERT"]
    assert len(rows) == len(READINGS)
    p = np.exp(logits[1]) / np.exp(logits[1]).sum()
    assert "cat" in rows[0][1]
    assert "rank" not in rows[0][1]
    assert f"{p[2]:.3f}" in rows[1][1]
    assert f"{p[0]:.3f}, rank 3" in rows[1][1]
    assert "&lt;b&gt;" in rows[1][1]


def test_unequal_probabilities_of_a_row_never_print_alike_and_none_as_zero():
    vocabulary = ("cat", "dog", "fox")
    sure = np.array([[9.0, 0, 0]] + [[0.0, 9.0, 0]] * 5)
    found = {"bert": context_answers(sure, vocabulary, 2)}
    found["albert"] = context_answers(sure * 1.05, vocabulary, 2)
    _, rows = context_rows(found, LABELS, strings.CONTEXTS)
    printed = [
        [re.findall(r"[\d.]+(?:×10\S\d)?(?=<|,| )", cell) for cell in row[1:]] for row in rows
    ]
    for first, second in ([cell for cell in row if cell] for row in printed):
        assert first[0] != second[0]
        assert "0.000" not in [*first, *second]


def test_bars_and_their_intervals_are_the_scores():
    score = ContextScore(0.5, (0.3, 0.6), 0.8, (0.7, 0.95))
    drawn = json.loads(
        held_out_canvas({"bert": (score,) * 6}, LABELS, strings.CONTEXTS, {"sentences": 9})
    )
    among, first = drawn["figures"][0]["data"]
    assert (first["y"][0], among["y"][0]) == (0.5, 0.8)
    assert first["error_y"]["array"][0] == pytest.approx(0.1)
    assert first["error_y"]["arrayminus"][0] == pytest.approx(0.2)
    assert drawn["numbers"]["rows"][:2] == [
        ["BERT", "both", 1, 0.5, 0.3, 0.6, 9],
        ["BERT", "both", 5, 0.8, 0.7, 0.95, 9],
    ]
    assert "overstates" in drawn["note"]


def test_times_are_drawn_as_they_were_measured():
    ratio = SimpleNamespace(ratio=2.0, low=1.5, high=2.5)
    point = {"us_per_token": (10.0, 20.0), "flops": (3e9, 2e9), "ratio": ratio}
    points = [SimpleNamespace(length=n, steps=(1, n), **point) for n in (16, 32)]
    drawn = json.loads(recurrent_canvas(points, "bert", strings.RECURRENT))
    layer, lstm = drawn["figures"][0]["data"]
    assert (layer["y"], lstm["y"], lstm["x"]) == ([10, 10], [20, 20], [16, 32])
    assert lstm["customdata"] == [[16, 2], [32, 2]]
    assert drawn["numbers"]["rows"][1] == [16, "LSTM", 20, 2, 16, 2, 1.5, 2.5]
