"""Which pieces are hidden: n-grams of whole words, n with weight 1/n, as in ALBERT's paper."""

from dataclasses import replace

import numpy as np
import pytest

from training.recipe import TINY
from training.text.batch import CLS, MASK, PAD, SEP
from training.text.masking import mask_pieces, ngrams
from training.text.pieces import Pieces

NAMES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
NAMES += [f"w{i}" for i in range(100)] + [f"##p{i}" for i in range(100)]
PIECES = Pieces.of(NAMES, np.full(len(NAMES), 1e-3))
RECIPE = replace(TINY, vocabulary=len(NAMES), longest_ngram=3)


def text(rng, rows=8, length=128):
    """Rows of words of one piece (three in four) or more, with specials and padding."""
    ids = np.where(rng.random((rows, length)) < 0.75, rng.integers(5, 105, (rows, length)), 0)
    ids = np.where(ids == 0, rng.integers(105, 205, (rows, length)), ids)
    ids[:, 0], ids[:, 1], ids[:, 60], ids[:, 100], ids[:, 101:] = CLS, 5, SEP, SEP, PAD
    ids[:, 61] = 6
    return ids


def runs_of(chosen, starts):
    """Lengths in words of the runs of chosen places."""
    found, last = [], -2
    for place in chosen:
        if place != last + 1:
            found.append(0)
        found[-1] += bool(starts[place])
        last = place
    return found


def test_lengths_are_one_to_three_words_with_weight_one_over_n():
    """Few pieces of a long text: runs do not touch, so each is one n-gram."""
    rng, counts = np.random.default_rng(0), np.zeros(4)
    for _ in range(60):
        flat = text(rng, 64).reshape(-1)
        starts = PIECES.starts(flat)
        for words in runs_of(ngrams(rng, flat, starts, 64, 3), starts):
            counts[min(words, 3)] += 1
    expected = np.array([6, 3, 2]) / 11  # 1, 1/2, 1/3, normalised
    np.testing.assert_allclose(counts[1:] / counts.sum(), expected, atol=0.03)


def test_words_are_hidden_whole_and_never_a_special_piece():
    rng = np.random.default_rng(1)
    for _ in range(20):
        flat = text(rng).reshape(-1)
        starts = PIECES.starts(flat)
        chosen = ngrams(rng, flat, starts, 112, 3)
        picked = np.zeros(len(flat), dtype=bool)
        picked[chosen] = True
        word = np.cumsum(starts)
        for number in np.unique(word[picked]):
            assert picked[word == number].all()
        assert (flat[picked] >= 5).all()
        assert 100 <= len(chosen) <= 112


@pytest.mark.parametrize("longest", [0, 3])
def test_eighty_ten_ten_of_fifteen_percent_either_way(longest):
    rng = np.random.default_rng(2)
    hidden = positions = masked = kept = 0
    for _ in range(30):
        ids = text(rng)
        before = ids.copy().reshape(-1)
        chosen, labels = mask_pieces(rng, ids, replace(RECIPE, longest_ngram=longest), PIECES)
        np.testing.assert_array_equal(labels, before[chosen])
        after = ids.reshape(-1)
        positions += np.count_nonzero(before != PAD)
        hidden += len(chosen)
        masked += np.count_nonzero(after[chosen] == MASK)
        kept += np.count_nonzero(after[chosen] == labels)
        untouched = np.delete(np.arange(len(after)), chosen)
        np.testing.assert_array_equal(after[untouched], before[untouched])
    assert hidden / positions == pytest.approx(0.15, abs=0.015)
    assert masked / hidden == pytest.approx(0.8, abs=0.02)
    assert kept / hidden == pytest.approx(0.105, abs=0.02)


def test_whole_words_need_to_be_known():
    with pytest.raises(ValueError, match="where they begin"):
        mask_pieces(np.random.default_rng(0), text(np.random.default_rng(0)), RECIPE, None)
