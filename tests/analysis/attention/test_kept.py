"""Heads that a student keeps, against scipy and by what must hold."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from explorer.analysis import attention
from explorer.analysis.alignment import AlignedWord, Alignment
from explorer.analysis.attention import KEPT_JS, kept_heads


def words(n):
    """``n`` words between [CLS] and [SEP]."""
    ends = [AlignedWord("[CLS]", 0, 0, special=True)], [AlignedWord("[SEP]", 0, 0, special=True)]
    return Alignment((*ends[0], *(AlignedWord("w", i, i + 1) for i in range(n)), *ends[1]), {})


def heads(rng, layers, n_heads, size, sharpness=2.0):
    raw = np.exp(sharpness * rng.normal(size=(layers, n_heads, size, size)))
    raw[rng.random(raw.shape) < 0.1] = 0  # some weights underflow
    raw[..., 0] += 1e-6
    return raw / raw.sum(-1, keepdims=True)


@pytest.mark.parametrize("n", [0, 1, 7])
def test_every_pair_is_what_scipy_says_over_the_words_of_the_text(n):
    rng = np.random.default_rng(n)
    teacher, student = heads(rng, 2, 3, n + 2), heads(rng, 1, 2, n + 2)
    found = kept_heads(teacher, student, words(n))
    rows = range(1, n + 1) if n else range(2)
    for i, j in itertools.product(range(6), range(2)):
        pairs = (teacher.reshape(6, n + 2, -1)[i], student.reshape(2, n + 2, -1)[j])
        expected = np.mean([jensenshannon(pairs[0][q], pairs[1][q]) ** 2 for q in rows])
        assert found.js[i, j] == pytest.approx(expected, abs=1e-12)
    assert found.n_words == (len(rows), len(rows))


def test_a_copy_keeps_all_heads_and_chance_is_the_mean_over_every_pairing():
    rng = np.random.default_rng(1)
    teacher = heads(rng, 1, 3, 6, 0.4)
    found = kept_heads(teacher, teacher[:, ::-1], words(4))
    assert found.is_kept.all()
    assert found.nearest.tolist() == [2, 1, 0]
    within = found.js <= KEPT_JS
    pairings = list(itertools.product(range(3), repeat=3))
    counts = [sum(bool(within[i, j]) for i, j in enumerate(one)) for one in pairings]
    assert found.by_chance == pytest.approx(float(Fraction(sum(counts), len(pairings))))


def test_of_a_long_text_evenly_spaced_words_stand_for_all(monkeypatch):
    rng = np.random.default_rng(2)
    teacher, student = heads(rng, 1, 2, 12), heads(rng, 1, 2, 12)
    monkeypatch.setattr(attention, "MAX_CELLS", 4 * 12 * 4)
    found = kept_heads(teacher, student, words(10))
    rows = [1, 4, 7, 10]
    expected = jensenshannon(teacher[0, 0][rows], student[0, 1][rows], axis=-1) ** 2
    assert found.n_words == (4, 10)
    assert found.js[0, 1] == pytest.approx(expected.mean(), abs=1e-12)
