"""Heads switched off: nothing off changes nothing, all off is a zeroed context, hooks always go."""

import copy
import re
import threading

import numpy as np
import pytest
import torch

from explorer.models.forward import apply_head, inputs_of, run_model, tokenize
from explorer.models.inside.interventions import ablated_logits, one_head_off, with_head_mask
from explorer.models.specs import MODEL_KEYS
from tests.tiny_models import WIDTH

TEXT = "The [MASK] sat on the [MASK]."


def shape(loaded):
    return loaded.spec.architecture.n_layers, loaded.spec.architecture.n_heads


def hooks(loaded):
    return sum(len(m._forward_pre_hooks) + len(m._forward_hooks) for m in loaded.network.modules())


def without_hooks(network, loaded, tokens):
    """The answer of a network that was edited by hand, in plain torch."""
    from dataclasses import replace

    other = replace(loaded, network=network)
    with torch.no_grad():
        hidden = network.base_model(**inputs_of(other, tokens)).last_hidden_state
        return apply_head(other, hidden[0, list(tokens.mask_positions)]).numpy()


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_nothing_off_is_the_same_bits(tiny_family, key):
    loaded = tiny_family.loaded(key)
    tokens = tokenize(loaded, TEXT)
    everything = np.ones((1, *shape(loaded)), dtype=bool)
    with torch.inference_mode():
        hidden = loaded.network.base_model(**inputs_of(loaded, tokens)).last_hidden_state
        plain = apply_head(loaded, hidden[:, list(tokens.mask_positions)]).numpy()
    assert np.array_equal(ablated_logits(loaded, tokens, everything), plain)
    np.testing.assert_allclose(plain[0], run_model(loaded, tokens).mask_logits, atol=1e-5)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_all_off_is_a_network_whose_values_are_zero(tiny_family, key):
    loaded = tiny_family.loaded(key)
    tokens = tokenize(loaded, TEXT)
    silent = copy.deepcopy(loaded.network)
    for name, module in silent.base_model.named_modules():
        if re.search(loaded.spec.kind.value, name):
            module.weight.zero_()
            module.bias.zero_()
    off = ablated_logits(loaded, tokens, np.zeros((1, *shape(loaded)), dtype=bool))[0]
    np.testing.assert_allclose(off, without_hooks(silent, loaded, tokens), atol=1e-5)
    assert not np.allclose(off, run_model(loaded, tokens).mask_logits, atol=1e-2)


@pytest.mark.parametrize(
    ("key", "layer", "head"), [("bert", 0, 0), ("bert", 5, 11), ("distilbert", 2, 7)]
)
def test_one_head_off_is_its_columns_of_the_output_projection_zeroed(tiny_family, key, layer, head):
    loaded = tiny_family.loaded(key)
    tokens = tokenize(loaded, TEXT)
    edited = copy.deepcopy(loaded.network)
    modules = [
        m for n, m in edited.base_model.named_modules() if re.search(loaded.spec.kind.output, n)
    ]
    width = loaded.spec.architecture.d_model // loaded.spec.architecture.n_heads
    modules[layer].weight[:, head * width : (head + 1) * width] = 0
    kept = np.ones((1, *shape(loaded)), dtype=bool)
    kept[0, layer, head] = False
    np.testing.assert_allclose(
        ablated_logits(loaded, tokens, kept)[0], without_hooks(edited, loaded, tokens), atol=1e-5
    )


@pytest.mark.parametrize("layer", [0, 3, 5])
def test_a_shared_layer_is_switched_at_one_application_only(tiny_family, layer):
    """ALBERT applied by hand, its one layer six times, with the head off at one of them."""
    loaded = tiny_family.loaded("albert")
    tokens, head = tokenize(loaded, TEXT), 4
    network = copy.deepcopy(loaded.network)
    dense = next(m for n, m in network.named_modules() if re.search(loaded.spec.kind.output, n))
    whole, per_head = dense.weight.clone(), WIDTH // 12
    block = network.base_model.encoder.albert_layer_groups[0].albert_layers[0]
    with torch.no_grad():
        inputs = inputs_of(loaded, tokens)
        hidden = network.base_model.embeddings(inputs["input_ids"], inputs["token_type_ids"])
        hidden = network.base_model.encoder.embedding_hidden_mapping_in(hidden)
        for i in range(6):
            dense.weight.copy_(whole)
            if i == layer:
                dense.weight[:, head * per_head : (head + 1) * per_head] = 0
            hidden = block(hidden)
        expected = apply_head(loaded, hidden[0, list(tokens.mask_positions)]).numpy()
    kept = np.ones((1, *shape(loaded)), dtype=bool)
    kept[0, layer, head] = False
    np.testing.assert_allclose(ablated_logits(loaded, tokens, kept)[0], expected, atol=1e-5)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_sweep_is_the_heads_one_by_one(tiny_family, key):
    loaded = tiny_family.loaded(key)
    tokens = tokenize(loaded, TEXT)
    n_layers, n_heads = shape(loaded)
    for layer, head in ((0, 0), (n_layers - 1, 3)):
        swept = ablated_logits(loaded, tokens, one_head_off(n_layers, n_heads, layer))
        kept = np.ones((1, n_layers, n_heads), dtype=bool)
        kept[0, layer, head] = False
        alone = ablated_logits(loaded, tokens, kept)[0]
        np.testing.assert_allclose(swept[head], alone, atol=1e-4)


def test_one_head_off_switches_off_exactly_one_head_a_variant():
    kept = one_head_off(3, 4, layer=1)
    assert kept.shape == (4, 3, 4)
    assert [(v, *map(int, place)) for v in range(4) for place in np.argwhere(~kept[v])] == [
        (h, 1, h) for h in range(4)
    ]


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_hooks_are_gone_afterwards_also_after_a_failure(tiny_family, key):
    loaded = tiny_family.loaded(key)
    tokens = tokenize(loaded, TEXT)
    before = hooks(loaded)
    plain = run_model(loaded, tokens).mask_logits
    ablated_logits(loaded, tokens, np.zeros((1, *shape(loaded)), dtype=bool))
    with with_head_mask(loaded, torch.ones(1, 1, 1)):
        assert hooks(loaded) > before
    with pytest.raises(RuntimeError):
        ablated_logits(loaded, tokens, np.ones((2, 6, 5), dtype=bool))
    assert hooks(loaded) == before
    assert not loaded.lock.locked()
    assert np.array_equal(run_model(loaded, tokens).mask_logits, plain)


def test_another_visitor_never_sees_heads_switched_off(tiny_family):
    loaded = tiny_family.loaded("bert")
    tokens = tokenize(loaded, TEXT)
    plain, seen, stop = run_model(loaded, tokens).mask_logits, [], threading.Event()

    def ablate():
        while not stop.is_set():
            ablated_logits(loaded, tokens, np.zeros((1, *shape(loaded)), dtype=bool))

    thread = threading.Thread(target=ablate)
    thread.start()
    try:
        seen = [run_model(loaded, tokens).mask_logits for _ in range(15)]
    finally:
        stop.set()
        thread.join()
    assert all(np.allclose(logits, plain, atol=1e-5) for logits in seen)
