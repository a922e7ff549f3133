"""Linear CKA against its definition in plain numpy, and its laws."""

import numpy as np
import pytest

from explorer.analysis.alignment import align
from explorer.analysis.depth.lens import word_states
from explorer.analysis.depth.states import layer_similarity, word_trajectory

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 12)).astype(np.float32)
Y = RNG.normal(size=(40, 7)).astype(np.float32) + 5


def cka(x, y):
    """Kornblith et al. 2019, equation 3, between features."""
    x, y = (a.astype(np.float64) - a.mean(0) for a in (x, y))
    cross = np.linalg.norm(y.T @ x) ** 2
    return cross / (np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y))


def test_every_pair_is_the_definition_and_the_diagonal_is_1():
    found = layer_similarity({"a": np.stack([X, X[:, ::-1] ** 2]), "b": Y[None]}, seed=5)
    layers = [X, X[:, ::-1] ** 2, Y]
    expected = [[cka(one, other) for other in layers] for one in layers]
    assert found.cka == pytest.approx(np.array(expected), abs=1e-5)
    assert np.diagonal(found.cka) == pytest.approx(1, abs=1e-6)
    order = np.random.default_rng(5).permutation(40)
    shuffled = [[cka(one, other[order]) for other in layers] for one in layers]
    assert found.shuffled == pytest.approx(np.array(shuffled), abs=1e-5)
    assert found.rows == (("a", 0), ("a", 1), ("b", 0))
    assert found.nearest("b", 0, "a")[0] == int(found.cka[2, :2].argmax())


def test_a_rotation_a_shift_and_one_scale_change_nothing_a_stretch_does():
    rotation, _ = np.linalg.qr(RNG.normal(size=(12, 12)))
    turned = (3 * X @ rotation + 7).astype(np.float32)
    stretched = X * np.linspace(0.1, 4, 12, dtype=np.float32)
    found = layer_similarity({"a": np.stack([X, turned, stretched])}).cka
    assert found[0, 1] == pytest.approx(1, abs=1e-5)
    assert found[0, 2] < 0.95


def test_rounding_does_not_leave_0_to_1():
    layers = np.random.default_rng(0).normal(size=(40, 9, 24)).astype(np.float32)
    found = layer_similarity({"a": np.concatenate([layers, layers])})
    for values in (found.cka, found.shuffled):
        assert values.min() >= 0
        assert values.max() <= 1


@pytest.mark.parametrize("key", ["bert", "distilbert", "albert"])
def test_a_words_state_is_the_mean_of_its_pieces_and_its_way_is_in_cosines(tiny_family, key):
    runs = tiny_family.runs("the photosynthesis sat on the [MASK].")
    alignment = align({k: run.tokens for k, run in runs.items()})
    groups, states = alignment.groups[key], runs[key].hidden_states
    words = word_states(states, groups)
    way = word_trajectory(runs[key], groups)
    for column, group in enumerate(groups):
        mean = np.mean([states[:, i] for i in group], axis=0)
        assert words[:, column] == pytest.approx(mean, abs=1e-6)
        for row, ends in ((way.to_start, mean[0]), (way.to_end, mean[-1])):
            cosines = mean @ ends / (np.linalg.norm(mean, axis=1) * np.linalg.norm(ends))
            assert row[:, column] == pytest.approx(cosines, abs=1e-5)
