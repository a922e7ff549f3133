"""Heads that are copies are found, and the matching is the best there is."""

from itertools import permutations

import numpy as np
import pytest

from explorer.analysis.alignment import AlignedWord, Alignment
from explorer.analysis.attention.compare import head_divergence, head_twins, shared_drift
from explorer.analysis.measures import LN2, js

N = 6
WORDS = Alignment(tuple(AlignedWord(str(i), i, i + 1, i in (0, N - 1)) for i in range(N)), {})
ROWS = [1, 2, 3, 4]


def heads(seed, layers, n_heads):
    return np.random.default_rng(seed).dirichlet(np.ones(N) / 2, (layers, n_heads, N))


def test_divergence_is_the_mean_js_of_the_rows():
    a, b = heads(0, 2, 3)[:, :, ROWS], heads(1, 1, 4)[:, :, ROWS]
    found = head_divergence(a, b)
    assert found.shape == (6, 4)
    for i in range(6):
        for j in range(4):
            expected = js(a.reshape(6, 4, N)[i], b.reshape(4, 4, N)[j]).mean()
            assert found[i, j] == pytest.approx(expected, abs=1e-12)
    assert head_divergence(b, a) == pytest.approx(found.T, abs=1e-12)
    assert np.diagonal(head_divergence(a, a)) == pytest.approx(0, abs=1e-12)
    assert found.max() <= LN2


def test_shuffled_copies_find_their_originals():
    first = heads(2, 3, 2)
    order = np.array([4, 0, 5])
    second = first.reshape(6, 1, N, N)[order]
    twins = head_twins(first, second, WORDS)
    assert twins.nearest.tolist() == twins.partner.tolist() == order.tolist()
    assert twins.layers.argmin(1).tolist() == [2, 0, 2]


def test_layers_are_compared_by_the_mean_over_heads_of_the_nearest():
    first, second = heads(7, 3, 2), heads(8, 2, 4)
    found = head_twins(first, second, WORDS).layers
    for b, layer in enumerate(second):
        for a, other in enumerate(first):
            nearest = [min(js(own[ROWS], head[ROWS]).mean() for head in other) for own in layer]
            assert found[b, a] == pytest.approx(np.mean(nearest), abs=1e-12)


def test_the_matching_has_the_least_total_and_uses_no_head_twice():
    first, second = heads(3, 1, 5), heads(4, 1, 5)
    twins = head_twins(first, second, WORDS)
    totals = [twins.js[list(p), range(5)].sum() for p in permutations(range(5))]
    assert twins.js[twins.partner, range(5)].sum() == pytest.approx(min(totals))
    assert sorted(twins.partner) == list(range(5))


def test_too_few_heads_leave_some_without_a_partner():
    twins = head_twins(heads(3, 1, 2), heads(4, 1, 3), WORDS)
    assert sorted(twins.partner)[0] == -1
    assert sorted(twins.partner)[1:] == [0, 1]


def test_only_rows_of_words_count():
    first, second = heads(5, 1, 2), heads(5, 1, 2).copy()
    second[:, :, [0, N - 1]] = np.eye(N)[0]
    assert head_twins(first, second, WORDS).js[[0, 1], [0, 1]] == pytest.approx(0, abs=1e-12)


def test_drift_from_one_application_to_the_next():
    attention = heads(6, 4, 3)
    drift = shared_drift(attention, WORDS)
    assert drift.step.shape == (3, 3)
    assert drift.from_first[0] == pytest.approx(0, abs=1e-12)
    expected = js(attention[1, 2][ROWS], attention[2, 2][ROWS]).mean()
    assert drift.step[1, 2] == pytest.approx(expected, abs=1e-12)
    assert drift.from_first[1] == pytest.approx(drift.step[0], abs=1e-12)
