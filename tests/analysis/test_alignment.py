"""Words that every model can be compared on, whatever its vocabulary."""

import numpy as np
import pytest

from explorer.analysis.alignment import align, word_attention
from explorer.models.tokens import Tokens, split_words, word_of_span


def tokens_of(text, spans):
    """Tokens as a tokenizer with these spans would give them; None is an added token."""
    words = split_words(text)
    pieces = tuple("[SEP]" if s is None else text[slice(*s)] for s in spans)
    return Tokens(
        text,
        tuple(range(len(spans))),
        ("[CLS]", *pieces[1:]),
        tuple(s or (0, 0) for s in spans),
        tuple(s is None for s in spans),
        (0,) * len(spans),
        words,
        tuple(-1 if s is None else word_of_span([word.end for word in words], s[0]) for s in spans),
        (),
        tuple(-1 if s is None else place for place, s in enumerate(spans)),
    )


def texts(alignment):
    return [word.text for word in alignment.words]


def test_pieces_are_gathered_into_words():
    text = "unhappy cat"
    one = tokens_of(text, [None, (0, 2), (2, 7), (8, 11), None])
    two = tokens_of(text, [None, (0, 7), (8, 11), None])
    alignment = align({"one": one, "two": two})
    assert texts(alignment) == ["[CLS]", "unhappy", "cat", "[SEP]"]
    assert alignment.groups["one"] == ((0,), (1, 2), (3,), (4,))
    assert alignment.groups["two"] == ((0,), (1,), (2,), (3,))
    assert alignment.content == (1, 2)


def test_a_token_that_straddles_two_words_merges_them_for_everybody():
    text = "wait... no"
    dots = tokens_of(text, [None, (0, 4), (4, 7), (8, 10), None])
    each = tokens_of(text, [None, (0, 4), (4, 5), (5, 6), (6, 7), (8, 10), None])
    alignment = align({"dots": dots, "each": each})
    assert texts(alignment) == ["[CLS]", "wait", "...", "no", "[SEP]"]
    assert alignment.groups["each"][2] == (2, 3, 4)


def test_a_word_that_one_model_drops_goes_with_its_neighbour():
    text = "* a b"
    whole = tokens_of(text, [None, (0, 1), (2, 3), (4, 5), None])
    no_star = tokens_of(text, [None, (2, 3), (4, 5), None])
    no_b = tokens_of(text, [None, (0, 1), (2, 3), None])
    assert texts(align({"whole": whole, "other": no_star})) == ["[CLS]", "* a", "b", "[SEP]"]
    assert texts(align({"other": no_b, "whole": whole})) == ["[CLS]", "*", "a b", "[SEP]"]
    assert texts(align({"one": no_b, "two": no_star})) == ["[CLS]", "* a b", "[SEP]"]


def test_a_separator_that_was_typed_is_the_one_that_was_added():
    text = "a [SEP] b"
    tokens = tokens_of(text, [None, (0, 1), None, (8, 9), None])
    alignment = align({"one": tokens})
    assert texts(alignment) == ["[CLS]", "a", "[SEP]", "b", "[SEP]"]
    assert [word.special for word in alignment.words] == [True, False, True, False, True]


def test_a_model_that_reads_nothing_has_empty_groups_and_rows_of_zeros():
    text = "* *"
    whole, nothing = tokens_of(text, [None, (0, 1), (2, 3), None]), tokens_of(text, [None, None])
    alignment = align({"nothing": nothing, "whole": whole})
    assert texts(alignment) == ["[CLS]", "* *", "[SEP]"]
    assert alignment.groups["nothing"] == ((0,), (), (1,))
    assert word_attention(np.eye(2), alignment.groups["nothing"]).sum(-1).tolist() == [1, 0, 1]


def test_word_attention_sums_over_keys_averages_over_queries_and_keeps_row_sums():
    attention = np.random.default_rng(0).dirichlet(np.ones(5), (2, 3, 5))
    groups = ((0,), (1, 2, 3), (4,))
    words = word_attention(attention, groups)
    assert words.sum(-1) == pytest.approx(1)
    for i, queries in enumerate(groups):
        for j, keys in enumerate(groups):
            expected = np.mean([list(attention[:, :, q, keys].sum(-1).ravel()) for q in queries], 0)
            assert words[..., i, j].ravel() == pytest.approx(expected)
