"""The quadrants of a sentence pair, against sums over the tokens' own matrix."""

import numpy as np
import pytest

from explorer.analysis.alignment import align
from explorer.analysis.tasks.pairs import pair_quadrants
from explorer.models.specs import MODEL_KEYS

PAIR = "The cat sat on the mat. [SEP] it was good."
WHOLE_WORDS = "the cat sat [SEP] the dog sat on the mat"


def quadrants(tiny_family, key, text):
    runs = tiny_family.runs(text)
    return pair_quadrants(runs[key], align({k: run.tokens for k, run in runs.items()}))


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_masses_of_a_sentence_sum_to_one(tiny_family, key):
    result = quadrants(tiny_family, key, PAIR)
    assert result.mass.shape == (*tiny_family.run(key, PAIR).attention.shape[:2], 2, 3)
    np.testing.assert_allclose(result.mass.sum(-1), 1, atol=1e-5)
    assert (result.mass >= 0).all()


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_with_one_token_a_word_they_are_sums_over_the_matrix(tiny_family, key):
    run = tiny_family.run(key, WHOLE_WORDS)
    tokens = run.tokens
    assert len(set(tokens.word_index)) == len(tokens) - 2
    result = quadrants(tiny_family, key, WHOLE_WORDS)
    places = [
        [i for i in range(len(tokens)) if not tokens.special[i] and tokens.segments[i] == s]
        for s in (0, 1)
    ]
    added = [i for i in range(len(tokens)) if tokens.special[i]]
    assert [len(p) for p in (*places, added)] == [3, 6, 3]
    for a, rows in enumerate(places):
        for b, columns in enumerate((*places, added)):
            expected = run.attention[:, :, rows][..., columns].sum(-1).mean(-1)
            np.testing.assert_allclose(result.mass[..., a, b], expected, atol=1e-6)


@pytest.mark.parametrize("text", ["no pair here", "half a pair [SEP]", "[SEP] half a pair"])
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_one_sentence_has_no_quadrants(tiny_family, key, text):
    assert quadrants(tiny_family, key, text) is None


def test_the_head_that_looks_across_most_is_the_largest_crossing(tiny_family):
    result = quadrants(tiny_family, "bert", PAIR)
    (layer, head, share), second = result.strongest(2)
    assert share == result.crossing.max() == result.crossing[layer, head]
    assert second[2] <= share
    np.testing.assert_allclose(result.crossing, result.mass[:, :, [0, 1], [1, 0]].mean(-1))
    expected = sum(result.mass[layer, head] for layer, head in np.ndindex(result.mass.shape[:2]))
    np.testing.assert_allclose(result.mean, expected / result.crossing.size)
