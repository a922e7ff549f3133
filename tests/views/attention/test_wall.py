"""What the browser receives can be unpacked to the numbers that were computed."""

import base64
import json
import zlib

import numpy as np
import pytest

from explorer.analysis.attention import head_statistics, word_heads
from explorer.views.attention.wall import (
    attention_wall_canvas,
    exact_heads_canvas,
    floats,
    pack,
    pool,
    pool_factor,
    quantise,
)

TEXT = "The unbelievable capital of France is [MASK]."


def canvas_of(runs, cards=None):
    heads = word_heads(runs)
    statistics = {k: head_statistics(a, heads.alignment) for k, a in heads.attention.items()}
    return json.loads(attention_wall_canvas(runs, heads, statistics, cards or {}, {})), heads


def test_every_drawn_value_is_within_one_255th(tiny_family):
    data, heads = canvas_of(tiny_family.runs(TEXT))
    raw = np.frombuffer(zlib.decompress(base64.b64decode(data["packed"])), np.uint8)
    expected = np.concatenate([heads.attention[m["key"]].ravel() for m in data["models"]])
    assert np.abs((raw / 255) ** 2 - expected).max() <= 1 / 255


@pytest.mark.parametrize("value", [0, 1e-6, 0.001, 0.5, 0.999, 1])
def test_quantised_values_are_near(value):
    assert (quantise(np.array([value])) / 255.0) ** 2 == pytest.approx(value, abs=1 / 255)


def test_exact_floats_travel_with_a_short_text(tiny_family):
    runs = tiny_family.runs("the cat is [MASK].")
    data, _ = canvas_of(runs)
    for model, exact in zip(data["models"], data["exact"], strict=True):
        values = np.frombuffer(base64.b64decode(exact), "<f4")
        assert np.array_equal(values, runs[model["key"]].attention.ravel())


def test_a_long_text_sends_bytes_and_answers_for_single_heads(tiny_family):
    runs = tiny_family.runs("one two three " * 9)
    data, heads = canvas_of(runs)
    assert data["exact"] == []
    asked = [("albert", 5, 11), ("bert", 0, 3), ("distilbert", 3, 0), ("gpt", 0, 0)]
    answer = json.loads(exact_heads_canvas(runs, heads.alignment, asked))["heads"]
    assert [(h["model"], h["layer"], h["head"]) for h in answer] == asked[:2]
    values = np.frombuffer(base64.b64decode(answer[0]["pieces"]), "<f4")
    assert np.array_equal(values, runs["albert"].attention[5, 11].ravel())


def test_a_very_long_text_is_pooled_and_answered_between_words(tiny_family):
    runs = tiny_family.runs("the cat . " * 50)
    data, heads = canvas_of(runs)
    assert data["pool"] == 3
    side = -(-len(data["words"]) // 3)
    raw = zlib.decompress(base64.b64decode(data["packed"]))
    assert len(raw) == side * side * sum(m["layers"] * m["heads"] for m in data["models"])
    (answer,) = json.loads(exact_heads_canvas(runs, heads.alignment, [("bert", 1, 2)]))["heads"]
    values = np.frombuffer(base64.b64decode(answer["words"]), "<f4")
    assert values == pytest.approx(heads.attention["bert"][1, 2].ravel(), abs=1e-7)


def test_pooling_keeps_the_largest_value():
    matrix = np.zeros((5, 5))
    matrix[4, 1] = 0.9
    assert pool(matrix, 2).tolist() == [[0, 0, 0], [0, 0, 0], [0.9, 0, 0]]
    assert (pool_factor(64), pool_factor(65), pool_factor(512)) == (1, 2, 8)


def test_64_tokens_of_the_base_family_stay_under_2_mb():
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 2, (360, 64, 64))
    random = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    assert len(pack([quantise(random)])) < 1_990_000
    assert len(floats(np.zeros((64, 64)))) * 3 < 70_000


def test_layers_of_the_student_stand_beside_their_teachers(tiny_family):
    data, _ = canvas_of(tiny_family.runs(TEXT), {"albert": ("ALBERT", "It is <b>gone</b>.")})
    assert [m["rows"] for m in data["models"]] == [list(range(6)), [1, 3, 5], list(range(6))]
    card = {"key": "albert", "label": "ALBERT", "sentence": "It is <b>gone</b>.", "code": ""}
    assert data["cards"] == [card]


def test_nothing_can_end_the_script_element(tiny_family):
    runs = tiny_family.runs("</script><b>[MASK]")
    heads = word_heads(runs)
    statistics = {k: head_statistics(a, heads.alignment) for k, a in heads.attention.items()}
    assert "<" not in attention_wall_canvas(runs, heads, statistics, {}, {})
