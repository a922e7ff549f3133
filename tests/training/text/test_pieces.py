import numpy as np
import pytest

from training.text.pieces import Pieces

WORDPIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDPIECES += ["the", "mat", "##ter", "s", "'", ".", '"', "19", "##90"]
UNIGRAMS = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
UNIGRAMS += ["▁the", "▁mat", "ter", "s", "'", ".", "▁“", "▁", "19", "90", "(", "mat"]


def starts(names, text):
    pieces = Pieces.of(names, np.full(len(names), 1 / len(names)))
    return pieces.starts(np.array([names.index(piece) for piece in text])).tolist()


@pytest.mark.parametrize(
    ("names", "text", "expected"),
    [
        (WORDPIECES, ["[CLS]", "the", "mat", "##ter", "'", "s", "."], [1, 1, 1, 0, 1, 1, 1]),
        (WORDPIECES, ["19", "##90", "s"], [1, 0, 1]),
        (UNIGRAMS, ["[CLS]", "▁the", "▁mat", "ter", "'", "s", "."], [1, 1, 1, 0, 1, 1, 1]),
        (UNIGRAMS, ["▁", "mat", "ter", "▁“", "mat", "s"], [1, 0, 0, 1, 1, 0]),
        (UNIGRAMS, ["mat", "(", "19", "90"], [1, 1, 1, 0]),
    ],
)
def test_words_begin_at_marks_at_signs_and_after_signs(names, text, expected):
    assert starts(names, text) == [bool(flag) for flag in expected]


def test_common_words_are_hidden_less_often_and_rare_ones_alike():
    shares = np.array([0.0] * 5 + [0.2, 0.002, 0.001, 0.0] + [0.0] * 5)
    weights = Pieces.of(WORDPIECES, shares).weights
    np.testing.assert_allclose(weights[5:9], [0.1, 1.0, 1.0, 1.0])


def test_sentences_end_at_stops_alone():
    pieces = Pieces.of(UNIGRAMS, np.zeros(len(UNIGRAMS)))
    assert [UNIGRAMS[i] for i in np.flatnonzero(pieces.ends)] == ["."]
