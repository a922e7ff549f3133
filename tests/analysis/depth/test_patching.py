"""Two texts word by word, and the share of their difference that each state brings back."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from explorer.analysis.depth.patching import (
    FAR,
    KEEP_MASKS,
    LEAST,
    NO_PARTNER,
    SAME,
    patches,
    patching,
    rival_answers,
    score_gap,
    text_pair,
)
from explorer.models.forward import tokenize
from explorer.models.inside.interventions import patched_logits
from explorer.models.run import Patch
from explorer.models.specs import MODEL_KEYS
from explorer.models.tokens import BadText, spelling_of
from explorer.ui.depth.strings import PICTURE

FIRST, SECOND = "The cat sat on the [MASK].", "The dog sat on the [MASK]."


def tokens_of(tiny_family, text):
    return {key: tokenize(tiny_family.loaded(key), text) for key in MODEL_KEYS}


def pair_of(tiny_family, first, second):
    return text_pair(tokens_of(tiny_family, first), tokens_of(tiny_family, second))


def test_the_changed_place_is_one_word_and_every_position_has_a_partner(tiny_family):
    pair = pair_of(tiny_family, FIRST, SECOND)
    assert pair.words == ("[CLS]", "The", "dog", "sat", "on", "the", "[MASK]", ".", "[SEP]")
    assert (pair.changed, pair.original, pair.replacement, pair.masks) == (2, "cat", "dog", (6,))
    assert set(pair.groups) == set(MODEL_KEYS)
    for key, groups in pair.groups.items():
        places = [position for group in groups for position in group]
        assert places == list(range(len(tokens_of(tiny_family, SECOND)[key])))


def test_several_words_of_one_place_are_one_and_other_pieces_have_no_partner(tiny_family):
    pair = pair_of(tiny_family, FIRST, "A cat was on the [MASK].")
    assert (pair.original, pair.replacement) == ("The cat sat", "A cat was")
    assert pair.words[pair.changed] == "A cat was"
    pair = pair_of(tiny_family, FIRST, "The photosynthesis sat on the [MASK].")
    assert pair.groups == {}
    pieces = {key: len(one) for key, one in tokens_of(tiny_family, "photosynthesis").items()}
    assert pair.pieces == {key: (1, pieces[key] - 2) for key in MODEL_KEYS}


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (FIRST, FIRST, SAME),
        (FIRST, "The cat sat on [MASK].", NO_PARTNER),
        (FIRST, "The cat sat not on the [MASK].", NO_PARTNER),
        ("the the [MASK]", "the the the [MASK]", NO_PARTNER),
        (FIRST, "The cat sat on the mat.", KEEP_MASKS),
        (FIRST, "The cat [MASK] on the [MASK].", KEEP_MASKS),
        ("The cat [SEP] a [MASK]", "The cat a a [MASK]", KEEP_MASKS),
        (FIRST, "A dog was in a [MASK].", FAR.format(most=4, n=5)),
        ("[MASK] sat.", "sat [MASK].", KEEP_MASKS),
    ],
)
def test_other_differences_are_refused_in_a_sentence(tiny_family, first, second, said):
    with pytest.raises(BadText) as refusal:
        pair_of(tiny_family, first, second)
    assert str(refusal.value) == said


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_map_is_that_of_plain_passes_and_its_ends_are_laws(tiny_family, key):
    pair = pair_of(tiny_family, FIRST, SECOND)
    runs, groups = (tiny_family.run(key, FIRST), tiny_family.run(key, SECOND)), pair.groups[key]
    first, second = runs
    answers = rival_answers(first.mask_logits[0], second.mask_logits[0])
    planned = patches(*runs, groups)
    loaded, mask = tiny_family.loaded(key), second.tokens.mask_positions[0]
    logits = patched_logits(loaded, second.tokens, planned, first.hidden_states)
    gaps = dict(zip(planned, score_gap(logits[:, 0], answers), strict=True))
    found = patching(runs, 0, groups, gaps)
    n_layers = loaded.spec.architecture.n_layers
    assert found.effect.shape == (n_layers + 1, len(pair.words))
    at_first, at_last = np.eye(len(pair.words))[[pair.changed, pair.masks[0]]]
    np.testing.assert_allclose(found.effect[0], at_first, atol=1e-3)
    assert found.effect[-1].tolist() == at_last.tolist()
    assert 1 <= found.takeover_layer(pair.masks[0], pair.changed) <= n_layers

    d = [torch.tensor(run.mask_logits[0].astype(np.float64)) for run in runs]
    d = [float(scores[answers[0]] - scores[answers[1]]) for scores in d]
    assert (found.d_first, found.d_second) == pytest.approx(d)
    assert found.answers == tuple(
        spelling_of(first.vocabulary).word(first.vocabulary[piece]) for piece in answers
    )
    for patch, gap in gaps.items():
        word = groups.index(patch.positions)
        share = (gap - d[1]) / (d[0] - d[1])
        assert found.effect[patch.layer, word] == pytest.approx(share, abs=1e-6)
    assert second.tokens.ids[mask] == loaded.tokenizer.mask_token_id


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_all_words_of_a_layer_bring_back_the_whole_and_none_nothing(tiny_family, key):
    runs = tiny_family.run(key, FIRST), tiny_family.run(key, SECOND)
    everything = tuple(range(len(runs[0].tokens)))
    answers = rival_answers(*(run.mask_logits[0] for run in runs))
    layers = range(tiny_family.specs[key].architecture.n_layers)
    for positions, share in ((everything, 1), ((), 0)):
        planned = [Patch(layer, positions) for layer in layers]
        logits = patched_logits(
            tiny_family.loaded(key), runs[1].tokens, planned, runs[0].hidden_states
        )
        gaps = dict(zip(planned, score_gap(logits[:, 0], answers), strict=True))
        found = patching(runs, 0, (positions,), gaps)
        np.testing.assert_allclose(found.effect[:-1, 0], share, atol=1e-4)


def test_states_that_both_texts_share_are_not_carried(tiny_family):
    pair = pair_of(tiny_family, FIRST, SECOND)
    runs = tiny_family.run("bert", FIRST), tiny_family.run("bert", SECOND)
    planned = patches(*runs, pair.groups["bert"])
    assert [p.positions for p in planned if p.layer == 0] == [pair.groups["bert"][pair.changed]]
    assert patches(runs[0], runs[0], pair.groups["bert"]) == ()


def test_the_answers_are_the_first_ones_or_those_that_part_most():
    assert rival_answers(np.array([3.0, 1, 0]), np.array([0.0, 1, 3])) == (0, 2)
    first, second = np.array([5.0, 2.0, 0.0, 1.0]), np.array([5.0, 0.0, 2.0, 1.0])
    assert rival_answers(first, second) == (1, 2)
    p, q = torch.tensor(first).softmax(0), torch.tensor(second).softmax(0)
    assert (p * (p / q).log()).argmax() == 1
    assert (q * (q / p).log()).argmax() == 2


def test_of_texts_that_part_too_little_nothing_is_said(tiny_family):
    run = tiny_family.run("bert", FIRST)
    found = patching((run, run), 0, ((0,), (1,)), {})
    assert found.effect.shape == (0, 2)
    assert found.d_first - found.d_second == 0
    assert not found.are_first
    assert set(LEAST) == {"float32", "float16", "bfloat16"}


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, (2, 6), elements=st.floats(-6, 6)).filter(
        lambda a: a[0].argmax() == a[1].argmax() and not np.allclose(*a)
    )
)
def test_with_one_top_prediction_the_words_with_the_largest_terms_of_kl_are_followed(logits):
    """Not those whose scores differ most: a change of an unlikely word's score says little."""
    p, q = (np.exp(one) / np.exp(one).sum() for one in logits)
    first, second = rival_answers(*logits)
    assert p[first] * np.log(p[first] / q[first]) == pytest.approx((p * np.log(p / q)).max())
    assert q[second] * np.log(q[second] / p[second]) == pytest.approx((q * np.log(q / p)).max())
    assert p[first] >= q[first]
    assert q[second] >= p[second]
    assert "{first} (likelier in the first text) and {second} (in the second)" in PICTURE["same"]
    assert "those with the largest terms of the KL divergence" in PICTURE["how"]
