import numpy as np
import pytest

from explorer.analysis.predictions.contrast import contrast
from explorer.analysis.predictions.every_word import SpanScore
from explorer.models.tokens import Word


def score(p, word="w"):
    return SpanScore(Word(word, 0, 1), (word,), float(np.log(p)), 1, ())


def test_shares_are_probabilities_divided_by_their_sum():
    found = contrast("bert", "BERT", [score(0.3), score(0.1)])
    assert found.shares == pytest.approx([0.75, 0.25])
    assert found.preferred == 0


def test_two_hopeless_words_still_compare():
    found = contrast(
        "bert",
        "BERT",
        [
            SpanScore(Word("a", 0, 1), ("a",), -900.0, 9, ()),
            SpanScore(Word("b", 0, 1), ("b",), -899.0, 8, ()),
        ],
    )
    assert found.shares == pytest.approx([1 / (1 + np.e), np.e / (1 + np.e)])
    assert found.shares.sum() == pytest.approx(1)
    assert found.preferred == 1
