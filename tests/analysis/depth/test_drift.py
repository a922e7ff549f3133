"""How far heads are apart, and how shared ones drift."""

import numpy as np
import pytest

from explorer.analysis.alignment import AlignedWord, Alignment
from explorer.analysis.depth.states import head_divergence, shared_drift
from explorer.analysis.measures import js

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
    assert found.max() <= np.log(2)


def test_only_rows_of_words_count():
    first = heads(5, 1, 2)[0]
    second = first.copy()
    second[:, [0, N - 1]] = np.eye(N)[0]
    drift = shared_drift(np.stack([first, second]), WORDS)
    assert drift.step == pytest.approx(0, abs=1e-12)


def test_drift_from_one_application_to_the_next():
    attention = heads(6, 4, 3)
    drift = shared_drift(attention, WORDS)
    assert drift.step.shape == (3, 3)
    assert drift.from_first[0] == pytest.approx(0, abs=1e-12)
    expected = js(attention[1, 2][ROWS], attention[2, 2][ROWS]).mean()
    assert drift.step[1, 2] == pytest.approx(expected, abs=1e-12)
    assert drift.from_first[1] == pytest.approx(drift.step[0], abs=1e-12)
