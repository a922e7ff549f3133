"""A run equals what plain transformers computes on the same directory."""

import logging

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from benchmarks.questions import page_requests
from explorer.models.forward import (
    apply_head,
    position_logits,
    run_model,
    run_together,
    state_logits,
    tokenize,
)
from explorer.models.loading import load_model
from explorer.models.specs import MINI, MODEL_KEYS

logger = logging.getLogger(__name__)
TEXTS = [
    "The cat sat on the [MASK].",
    "[MASK]",
    "Paris is the [MASK] of [MASK].",
    "no mask here",
    "the cat sat [SEP] a dog [MASK]",
    "É naïve 日本 😀 [MASK]",
]


@pytest.fixture
def plain(tiny_family):
    """The same directory read by plain transformers."""

    def reference(key, text):
        path = tiny_family.path / tiny_family.specs[key].name
        network = AutoModelForMaskedLM.from_pretrained(path, attn_implementation="eager").eval()
        tokenizer = AutoTokenizer.from_pretrained(path)
        pair = text.split("[SEP]")
        encoded = tokenizer(*pair, return_tensors="pt", return_token_type_ids=key != "distilbert")
        with torch.no_grad():
            out = network(**encoded, output_attentions=True, output_hidden_states=True)
        masks = (encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0]
        return out, masks

    return reference


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_a_run_equals_plain_transformers(tiny_family, plain, key, text):
    run = tiny_family.run(key, text)
    out, masks = plain(key, text)
    assert tuple(masks.tolist()) == run.tokens.mask_positions
    np.testing.assert_allclose(run.mask_logits, out.logits[0, masks], atol=1e-4)
    expected = out.logits[0, masks].double().softmax(-1)
    found = torch.tensor(run.mask_logits).double().softmax(-1)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(run.attention, torch.cat(out.attentions), atol=1e-5)
    np.testing.assert_allclose(run.hidden_states, torch.cat(out.hidden_states), atol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_texts_together_are_what_each_is_alone_in_plain_transformers(tiny_family, plain, key):
    loaded = tiny_family.loaded(key)
    found = run_together(loaded, [tokenize(loaded, text) for text in TEXTS])
    assert len({len(run.tokens.ids) for run in found}) > 2, "nothing was padded"
    for text, run in zip(TEXTS, found, strict=True):
        out, masks = plain(key, text)
        for found_here, alone in (
            (run.mask_logits, out.logits[0, masks]),
            (run.attention, torch.cat(out.attentions)),
            (run.hidden_states, torch.cat(out.hidden_states)),
        ):
            # Of the largest: where float32 rounds depends on the machine's kernels and the shape.
            largest = np.abs(alone.numpy()).max(initial=1)
            np.testing.assert_allclose(found_here, alone, rtol=0, atol=1e-5 * largest)


@pytest.mark.parametrize("n_texts", [1, 2, 3])
def test_texts_together_are_one_pass(tiny_family, n_texts):
    loaded, passes = tiny_family.loaded("albert"), []
    body = loaded.network.base_model
    with body.register_forward_hook(lambda *_: passes.append(1)):
        run_together(loaded, [tokenize(loaded, text) for text in TEXTS[:n_texts]])
    assert len(passes) == 1


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_head_anywhere_is_the_full_forward_pass_there(tiny_family, plain, key):
    text = "The cat sat on the [MASK]."
    run = tiny_family.run(key, text)
    out, _ = plain(key, text)
    everywhere = tuple(range(len(run.tokens)))
    np.testing.assert_allclose(
        position_logits(tiny_family.loaded(key), run, everywhere), out.logits[0], atol=1e-4
    )


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_attention_rows_sum_to_one_and_arrays_are_read_only(tiny_family, key):
    run = tiny_family.run(key, "The cat sat on the [MASK].")
    np.testing.assert_allclose(run.attention.sum(-1), 1, atol=1e-5)
    for array in (run.attention, run.hidden_states, run.mask_logits):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_segments_reach_only_the_models_that_have_them(tiny_family, key):
    pair = tiny_family.run(key, "the cat [SEP] a dog").hidden_states[0]
    loaded = tiny_family.loaded(key)
    tokens = tokenize(loaded, "the cat [SEP] a dog")
    from dataclasses import replace

    flat = run_model(loaded, replace(tokens, segments=(0,) * len(tokens))).hidden_states[0]
    assert np.allclose(pair, flat) == (key == "distilbert")


def test_empty_attentions_cannot_pass_silently(tiny_family):
    loaded = tiny_family.loaded("bert")
    loaded.network.set_attn_implementation("sdpa")
    try:
        with pytest.raises(RuntimeError, match="no attentions"):
            run_model(loaded, tokenize(loaded, "the cat"))
    finally:
        loaded.network.set_attn_implementation("eager")


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_head_keeps_leading_shapes(tiny_family, key):
    loaded = tiny_family.loaded(key)
    width = loaded.network.config.hidden_size
    logits = apply_head(loaded, torch.zeros(2, 3, width))
    assert logits.shape == (2, 3, loaded.network.config.vocab_size)


def test_a_run_says_what_it_keeps_in_memory(tiny_family):
    run, shape = tiny_family.run("bert", "the [MASK] sat"), tiny_family.specs["bert"].architecture
    n = len(run.tokens)
    numbers = (shape.n_layers + 1) * n * shape.d_model + shape.n_layers * shape.n_heads * n * n
    assert run.n_bytes == 4 * (numbers + shape.d_vocab)


@pytest.mark.slow
def test_a_shared_pass_hardly_ever_moves_a_place_in_a_list():
    """Of the trained family, over 1,500 texts: the figures of BENCHMARKS.md."""
    asked = [q.text for q in page_requests(5000, 20) if "[MASK]" in q.text][:1500]
    farthest, moved, places = 0.0, [], 0
    for loaded in map(load_model, MINI.values()):
        texts = [tokenize(loaded, text) for text in asked]
        for four in (texts[start : start + 4] for start in range(0, len(texts), 4)):
            for tokens, shared in zip(four, run_together(loaded, four), strict=True):
                alone = run_model(loaded, tokens)
                farthest = max(farthest, np.abs(alone.mask_logits - shared.mask_logits).max())
                ours, theirs = ranks_of(loaded, alone), ranks_of(loaded, shared)
                moved += np.abs(ours - theirs)[ours != theirs].tolist()
                places += len(ours)
    logger.info("of %d places %d moved; logits up to %.1e", places, len(moved), farthest)
    assert farthest < 1e-4
    assert len(moved) < places / 1000
    assert set(moved) <= {1}


def ranks_of(loaded, run):
    """Return the rank, in each layer, of the last layer's first choice for the first mask."""
    logits = state_logits(loaded, run.hidden_states[:, run.tokens.mask_positions[0]])
    chosen = logits[-1].argmax()
    return 1 + (logits > logits[:, [chosen]]).sum(axis=1)
