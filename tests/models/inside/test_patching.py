"""States carried into another text, against networks patched by hand in plain torch."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForPreTraining

from explorer.models.forward import run_model, tokenize
from explorer.models.inside.interventions import patched_logits
from explorer.models.run import BATCH_TOKENS, MAX_PATCHES, Patch, patch_batches
from explorer.models.specs import MODEL_KEYS

FIRST, SECOND = "The cat sat on the [MASK].", "The dog sat on the [MASK]."
LAYERS = {
    "bert": lambda network: network.bert.encoder.layer,
    "distilbert": lambda network: network.distilbert.transformer.layer,
}
HEADS = {
    "bert": lambda network, hidden: network.cls.predictions(hidden),
    "distilbert": lambda network, hidden: network.vocab_projector(
        network.vocab_layer_norm(network.activation(network.vocab_transform(hidden)))
    ),
    "albert": lambda network, hidden: network.predictions(hidden),
}


def plain_network(tiny_family, key):
    path = tiny_family.path / tiny_family.specs[key].name
    return AutoModelForPreTraining.from_pretrained(path, attn_implementation="eager").eval()


def hooks(loaded):
    return sum(len(m._forward_pre_hooks) + len(m._forward_hooks) for m in loaded.network.modules())


def by_hooks(network, key, ids, patch, states):
    """The last states with one layer's input exchanged where the patch says."""

    def exchange(_, arguments):
        hidden = arguments[0].clone()
        hidden[0, list(patch.positions)] = states[patch.layer][list(patch.positions)]
        return (hidden, *arguments[1:])

    handle = LAYERS[key](network)[patch.layer].register_forward_pre_hook(exchange)
    try:
        return network.base_model(ids).last_hidden_state[0]
    finally:
        handle.remove()


def by_hand(network, ids, patch, states):
    """ALBERT's one layer applied in a loop."""
    encoder = network.albert.encoder
    hidden = network.albert.embeddings(ids, torch.zeros_like(ids))
    hidden = encoder.embedding_hidden_mapping_in(hidden)
    for layer in range(network.config.num_hidden_layers):
        if layer == patch.layer:
            hidden[0, list(patch.positions)] = states[layer][list(patch.positions)]
        hidden = encoder.albert_layer_groups[0].albert_layers[0](hidden)
    return hidden[0]


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_every_patch_is_what_plain_hooks_make_of_it(tiny_family, key):
    loaded, network = tiny_family.loaded(key), plain_network(tiny_family, key)
    first, second = (tokenize(loaded, text) for text in (FIRST, SECOND))
    assert len(first) == len(second)
    mask = second.mask_positions[0]
    n_layers = loaded.spec.architecture.n_layers
    planned = [
        Patch(n, at) for n in range(n_layers) for at in ((0,), (2,), (2, 3), (mask,), (1, mask))
    ]
    run = run_model(loaded, first)
    found = patched_logits(loaded, second, planned, run.hidden_states)
    assert found.shape == (len(planned), 1, len(loaded.vocabulary))
    with torch.no_grad():
        ids = torch.tensor([first.ids])
        states = network.base_model(ids, output_hidden_states=True).hidden_states
        states, ids = [state[0] for state in states], torch.tensor([second.ids])
        for patch, logits in zip(planned, found, strict=True):
            if key == "albert":
                hidden = by_hand(network, ids, patch, states)
            else:
                hidden = by_hooks(network, key, ids, patch, states)
            expected = HEADS[key](network, hidden[mask]).numpy()
            np.testing.assert_allclose(logits[0], expected, atol=2e-5, err_msg=str(patch))


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_all_states_of_a_layer_are_the_first_text_and_none_the_second(tiny_family, key):
    loaded = tiny_family.loaded(key)
    first, second = (run_model(loaded, tokenize(loaded, text)) for text in (FIRST, SECOND))
    layers = range(loaded.spec.architecture.n_layers)
    everything = tuple(range(len(first.tokens)))
    for positions, expected in ((everything, first), ((), second)):
        planned = [Patch(layer, positions) for layer in layers]
        found = patched_logits(loaded, second.tokens, planned, first.hidden_states)
        for logits in found:
            np.testing.assert_allclose(logits, expected.mask_logits, atol=1e-5)
    assert np.abs(first.mask_logits - second.mask_logits).max() > 0.01


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_network_is_as_it_was_also_after_a_failure(tiny_family, key):
    loaded = tiny_family.loaded(key)
    run = run_model(loaded, tokenize(loaded, FIRST))
    outside, before = [Patch(0, (99,))], hooks(loaded)
    with pytest.raises(IndexError):
        patched_logits(loaded, run.tokens, outside, run.hidden_states)
    assert hooks(loaded) == before
    assert not loaded.lock.locked()
    assert np.array_equal(run_model(loaded, run.tokens).mask_logits, run.mask_logits)


def test_patches_out_of_order_and_texts_of_two_lengths_are_refused(tiny_family):
    loaded = tiny_family.loaded("bert")
    run = run_model(loaded, tokenize(loaded, FIRST))
    with pytest.raises(ValueError, match="order of their layers"):
        patched_logits(loaded, run.tokens, [Patch(1, (0,)), Patch(0, (0,))], run.hidden_states)
    with pytest.raises(ValueError, match="one length"):
        patched_logits(loaded, run.tokens, [Patch(0, (0,))], run.hidden_states[:, :-1])


@pytest.mark.parametrize(("length", "n_layers"), [(8, 3), (40, 12), (128, 12), (128, 24)])
def test_a_batch_of_patches_costs_no_more_than_one_of_texts(length, n_layers):
    planned = [Patch(layer, (i,)) for i in range(length) for layer in range(n_layers)]
    groups = list(patch_batches(planned, length, n_layers))
    assert [p for group in groups for p in group] == sorted(planned, key=lambda p: p.layer)
    for group in groups:
        layers = [patch.layer for patch in group]
        assert layers == sorted(layers)
        assert 0 < len(group) <= MAX_PATCHES
        cost = length * sum(n_layers - layer for layer in layers) / n_layers
        assert cost <= BATCH_TOKENS
    assert len(groups) <= 2 + sum(
        max(length * (n_layers - p.layer) / n_layers / BATCH_TOKENS, 1 / MAX_PATCHES)
        for p in planned
    ) * (1 + length / BATCH_TOKENS)
