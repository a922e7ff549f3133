"""The six readings against passes of the plain network with an explicit mask, ids and positions."""

import numpy as np
import pytest
import torch

from explorer.models.forward import tokenize
from explorer.models.inside.interventions import context_logits, is_shuffled, shuffled
from explorer.models.loading import load_model
from explorer.models.run import READINGS
from explorer.models.specs import MINI, MODEL_KEYS

TEXT = "The cat sat on the [MASK] and the unbelievable dog ate [MASK]."
PAIR = "The cat sat on the [MASK]. [SEP] It was a very old grey dog."


def plain(loaded, ids, segments, mask, places, positions):
    """The network's own logits for one row."""
    inputs = {"input_ids": torch.tensor([ids])}
    if segments is not None:
        inputs["token_type_ids"] = torch.tensor([segments])
    with torch.inference_mode():
        out = loaded.network(
            **inputs, attention_mask=mask[None, None], position_ids=torch.tensor([places])
        )
    logits = out.logits if "logits" in out else out.prediction_logits
    return logits[0, positions].numpy()


CASES = [("bundled", key) for key in MINI] + [("four", key) for key in (*MINI, "roberta")]
"""The bundled weights, and random ones."""


@pytest.mark.parametrize("text", [TEXT, PAIR])
@pytest.mark.parametrize(("weights", "key"), CASES)
def test_each_reading_is_a_pass_with_its_mask_ids_and_positions(weights, key, text, request):
    if weights == "bundled":
        loaded = load_model(MINI[key])
    else:
        loaded = request.getfixturevalue("four").loaded(key)
    tokens = tokenize(loaded, text)
    found = context_logits(loaded, tokens)
    n, low = len(tokens), torch.finfo(torch.float32).min
    free, positions = torch.zeros(n, n), list(tokens.mask_positions)
    segments = tokens.segments if loaded.spec.architecture.n_segments > 1 else None
    masks = {
        "left": torch.full((n, n), low).triu(1),
        "right": torch.full((n, n), low).tril(-1),
        "alone": torch.full((n, n), low).fill_diagonal_(0),
    }
    first = 2 if key == "roberta" else 0
    in_order = list(range(first, first + n))
    for reading, logits in zip(READINGS, found, strict=True):
        ids, at, places = list(tokens.ids), positions, in_order
        if reading == "shuffled":
            order = shuffled(tokens)
            ids, at = [ids[i] for i in order], [order.index(i) for i in positions]
        if reading == "no_order":
            places = [first] * n
        expected = plain(loaded, ids, segments, masks.get(reading, free), places, at)
        np.testing.assert_allclose(logits, expected, rtol=1e-5, atol=5e-5, err_msg=reading)
    assert not np.allclose(found[0], found[1], atol=1e-3)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_one_side_does_not_change_with_the_other(tiny_family, key):
    loaded = tiny_family.loaded(key)
    at = {name: i for i, name in enumerate(READINGS)}
    texts = ("The [MASK] was very cold.", "The [MASK] was very sweet.")
    cold, sweet = (context_logits(loaded, tokenize(loaded, text))[:, 0] for text in texts)
    for reading in ("left", "alone"):
        np.testing.assert_allclose(cold[at[reading]], sweet[at[reading]], atol=1e-5)
    for reading in ("both", "right", "no_order"):
        assert np.abs(cold[at[reading]] - sweet[at[reading]]).max() > 1e-4, reading


def test_shuffling_moves_words_whole_and_nothing_else():
    orders = {}
    for key, spec in MINI.items():
        tokens = tokenize(load_model(spec), PAIR)
        order = shuffled(tokens)
        assert sorted(order) == list(range(len(tokens)))
        assert order != tuple(sorted(order))
        for place, position in enumerate(order):
            assert tokens.segments[place] == tokens.segments[position]
        words = [tokens.word_index[position] for position in order]
        pieces_whole = [w for i, w in enumerate(words) if i == 0 or w != words[i - 1]]
        orders[key] = [w for w in pieces_whole if w >= 0]
        kept = [i for i, word in enumerate(tokens.words) if word.is_mask]
        in_text = list(dict.fromkeys(w for w in tokens.word_index if w >= 0))
        assert all(orders[key][in_text.index(i)] == i for i in kept)
    assert orders["bert"] == orders["distilbert"] == orders["albert"]


@pytest.mark.parametrize(
    ("text", "moves"),
    [("the cat [MASK]", True), ("cat [MASK]", False), ("cat cat [MASK]", False)],
)
def test_two_words_are_always_moved_and_one_or_equal_ones_never(tiny_family, text, moves):
    tokens = tokenize(tiny_family.loaded("bert"), text)
    assert is_shuffled(tokens) is moves
    orders = [shuffled(tokens, seed) for seed in range(8)]
    still = tuple(range(len(tokens)))
    assert all((order != still) is (text.count(" ") > 1) for order in orders)
