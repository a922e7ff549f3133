"""What half precision changes, against passes of plain torch."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.precision import list_differences, precision_difference
from explorer.lists.sentences import SentenceScore
from explorer.models.forward import run_model, tokenize
from explorer.models.loading import load_model
from explorer.models.specs import MINI, MODEL_KEYS


def test_a_pair_is_turned_by_the_score_that_it_is_judged_by():
    def side(pll, word):
        return SentenceScore(pll, word, 3, np.zeros(3), ())

    exact = {"bert": [[side(-1.0, -2.0), side(-3.0, -2.5)]]}
    half = {"bert": [[side(-1.25, -2.75), side(-3.0, -2.5)]]}
    for score, n_changed in (("pll", 0), ("pll_word_l2r", 1)):
        (found,) = list_differences("pairs", score, half, exact).values()
        assert (found.largest, found.n_changed) == (0.25, n_changed)


TEXT = "The [MASK] sat on the [MASK]."
"""The tenth word has less than a thousandth."""


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_largest_differences_are_those_of_two_plain_passes(key):
    half, exact = (load_model(MINI[key], dtype=dtype) for dtype in ("bfloat16", "float32"))
    runs = [run_model(loaded, tokenize(loaded, TEXT)) for loaded in (half, exact)]
    found = precision_difference(*runs)
    logits = [run.mask_logits.astype(np.float64) for run in runs]
    shares = [np.exp(one - np.logaddexp.reduce(one, -1, keepdims=True)) for one in logits]
    likeliest = np.argsort(-runs[0].mask_logits, -1, kind="stable")[:, :10]
    here, there = (np.take_along_axis(share, likeliest, -1) for share in shares)
    assert found.n_probabilities == 20
    assert found.largest_probability == pytest.approx(np.abs(here - there).max(), rel=1e-3)
    printed = [
        [f"{p:.3f}" if p >= 0.001 else f"{p:.1e}" for p in one.ravel()] for one in (here, there)
    ]
    assert found.n_changed == sum(a != b for a, b in zip(*printed, strict=True)) > 0
    assert found.largest_attention == np.abs(runs[0].attention - runs[1].attention).max() > 0
    assert found.n_weights_changed > 0
    assert found.is_visible


def test_the_same_pass_twice_differs_nowhere_and_another_first_word_is_told():
    loaded = load_model(MINI["bert"])
    run = run_model(loaded, tokenize(loaded, TEXT))
    assert not precision_difference(run, run).is_visible
    swapped = run.mask_logits.copy()
    first, second = np.argsort(-swapped[1])[:2]
    swapped[1, [first, second]] = swapped[1, [second, first]]
    other = replace(run, mask_logits=swapped)
    assert precision_difference(other, run).first_words == (
        (2, run.vocabulary[second], run.vocabulary[first]),
    )


def test_a_text_without_a_mask_has_weights_alone():
    runs = []
    for dtype in ("bfloat16", "float32"):
        loaded = load_model(MINI["albert"], dtype=dtype)
        runs.append(run_model(loaded, tokenize(loaded, "The cat sat.")))
    found = precision_difference(*runs)
    assert (found.n_probabilities, found.n_changed, found.largest_probability) == (0, 0, 0)
    assert found.first_words == ()
    assert found.is_visible
