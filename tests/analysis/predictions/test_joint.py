"""Joint fillings against all pairs tried one by one with the network alone."""

import numpy as np
import pytest
import torch

from explorer.analysis.predictions import mask_fillings
from explorer.models.forward import row_logits
from explorer.models.run import batches
from explorer.models.specs import MODEL_KEYS
from explorer.models.tokens import BadText

TEXT = "the [MASK] sat [SEP] a [MASK] mat"


def plain_log_probs(loaded, ids, segments, position):
    """[row, vocabulary] of many rows at one position, by the network alone."""
    inputs = {"input_ids": torch.tensor(ids)}
    if loaded.spec.architecture.n_segments:
        inputs["token_type_ids"] = torch.tensor([segments] * len(ids))
    with torch.no_grad():
        out = loaded.network(**inputs)
    logits = out.logits if "logits" in out else out.prediction_logits
    return logits[:, position].double().log_softmax(-1).numpy()


def all_pairs(loaded, run):
    """log P(w1) + log P(w2 | w1) for every pair of pieces: [first, second]."""
    first, second = run.tokens.mask_positions
    ids = list(run.tokens.ids)
    start = plain_log_probs(loaded, [ids], run.tokens.segments, first)[0]
    filled = [[*ids[:first], i, *ids[first + 1 :]] for i in range(len(start))]
    return start[:, None] + plain_log_probs(loaded, filled, run.tokens.segments, second)


def fill(loaded, run, width):
    def logits(rows):
        return np.concatenate([row_logits(loaded, batch) for batch in batches(rows)])

    return mask_fillings(run, logits, width)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_a_beam_as_wide_as_the_vocabulary_finds_the_best_pairs(tiny_family, key):
    loaded, run = tiny_family.loaded(key), tiny_family.run(key, TEXT)
    pairs = all_pairs(loaded, run)
    found = fill(loaded, run, width=len(run.vocabulary))
    best = np.sort(pairs.ravel())[::-1][:5]
    assert [f.joint for f in found.together[:5]] == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_lone_answers_are_priced_both_ways(tiny_family, key):
    loaded, run = tiny_family.loaded(key), tiny_family.run(key, TEXT)
    first, second = run.tokens.mask_positions
    apart = [
        plain_log_probs(loaded, [run.tokens.ids], run.tokens.segments, pos)[0]
        for pos in (first, second)
    ]
    alone = fill(loaded, run, width=3).alone
    assert alone.independent == pytest.approx(apart[0].max() + apart[1].max(), abs=1e-4)
    joint = all_pairs(loaded, run)[apart[0].argmax(), apart[1].argmax()]
    assert alone.joint == pytest.approx(joint, abs=1e-4)
    assert all(
        f.joint >= g.joint
        for f, g in zip(
            fill(loaded, run, 3).together[:-1], fill(loaded, run, 3).together[1:], strict=True
        )
    )


@pytest.mark.parametrize("n_masks", [0, 1, 9])
def test_too_few_and_too_many_masks_are_refused_in_words(tiny_family, n_masks):
    run = tiny_family.run("bert", "the cat " + "[MASK] " * n_masks)
    with pytest.raises(BadText, match=f"has {n_masks} masks"):
        fill(tiny_family.loaded("bert"), run, 2)
