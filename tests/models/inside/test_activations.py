"""Every station of a layer against hooks on the network itself, for every layer."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import AlbertConfig, AlbertForMaskedLM

from explorer.models.forward import inputs_of, run_model, tokenize
from explorer.models.inside.activations import (
    block_states,
    embedding_activations,
    layer_activations,
)
from explorer.models.layer_parts import parts_of
from explorer.models.loading import load_model
from explorer.models.specs import MINI

TEXTS = ("The cat sat on the [MASK].", "Unbelievable! [SEP] Who ate it, the old grey dog?")
NAMES = {
    "bert": (
        r"\.attention\.output\.dense$",
        r"\.attention\.output\.LayerNorm$",
        r"\.intermediate$",
        r"\d\.output\.dense$",
        r"\d\.output\.LayerNorm$",
    ),
    "distilbert": (
        r"out_lin$",
        r"sa_layer_norm$",
        r"ffn\.activation$",
        r"lin2$",
        r"output_layer_norm$",
    ),
    "albert": (
        r"attention\.dense$",
        r"attention\.LayerNorm$",
        r"\.activation$",
        r"ffn_output$",
        r"full_layer_layer_norm$",
    ),
}
NAMES["roberta"] = NAMES["bert"]
"""Projection, its norm, the units, what they write, the last norm; in the networks' own names."""
QUERY_KEY_VALUE = {
    "bert": r"self\.(query|key|value)$",
    "distilbert": r"attention\.([qkv])_lin$",
    "albert": r"attention\.(query|key|value)$",
    "roberta": r"self\.(query|key|value)$",
}
FOUR = tuple(NAMES)


def module_calls(loaded, tokens):
    """Return the inputs and outputs of every named module, call by call, in one pass."""
    caught = {}

    def catch(name):
        def hook(_, given, gave):
            caught.setdefault(name, []).append((given[0][0].float(), gave[0].float()))

        return hook

    key = loaded.spec.key
    patterns = dict(zip(("output", "norm1", "units", "outer", "norm2"), NAMES[key], strict=True))
    handles = []
    for module_name, module in loaded.network.base_model.named_modules():
        for name, pattern in patterns.items():
            if re.search(pattern, module_name):
                handles.append(module.register_forward_hook(catch(name)))
        if found := re.search(QUERY_KEY_VALUE[key], module_name):
            handles.append(module.register_forward_hook(catch(found.group(1)[0])))
    with torch.inference_mode():
        loaded.network.base_model(**inputs_of(loaded, tokens))
    for handle in handles:
        handle.remove()
    return caught


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("key", FOUR)
def test_every_station_is_what_the_network_computed(four, key, dtype):
    close = {"rtol": 0, "atol": 1e-5} if dtype == "float32" else {"rtol": 1e-2, "atol": 1e-2}
    for text in TEXTS:
        loaded = load_model(four.specs[key], dtype=dtype)
        tokens = tokenize(loaded, text)
        run, seen = run_model(loaded, tokens), module_calls(loaded, tokens)
        shape, position = loaded.spec.architecture, len(tokens) - 3
        for layer in range(shape.n_layers):
            head = (layer + 1) % shape.n_heads
            found = layer_activations(loaded, run.hidden_states[layer], layer, head, position)
            mine = slice(head * len(found.query), (head + 1) * len(found.query))
            q, k, v = (seen[name][layer][1][:, mine] for name in "qkv")
            np.testing.assert_allclose(found.query, q[position], **close)
            np.testing.assert_allclose(found.keys, k, **close)
            np.testing.assert_allclose(found.values, v, **close)
            scores = k @ q[position] / len(found.query) ** 0.5
            np.testing.assert_allclose(found.scores, scores, **close)
            weights = np.exp(found.scores - found.scores.max())
            weights /= weights.sum()
            np.testing.assert_allclose(weights, run.attention[layer, head, position], **close)
            np.testing.assert_allclose(found.head_output, weights @ v.numpy(), **close)
            np.testing.assert_allclose(found.units, seen["units"][layer][1][position], **close)
            pairs = (("output", "projection"), ("norm1", "attention_norm"))
            for name, station in (*pairs, ("outer", "feed_forward"), ("norm2", "output")):
                gave = seen[name][layer][1][position]
                np.testing.assert_allclose(found.vectors[station], gave, **close)
            for name, station in (("norm1", "attended"), ("norm2", "summed")):
                given = seen[name][layer][0][position]
                np.testing.assert_allclose(found.vectors[station], given, **close)
            after = run.hidden_states[layer + 1, position]
            np.testing.assert_allclose(found.norm.outputs, after, **close)


@pytest.mark.parametrize("key", FOUR)
def test_heads_and_units_add_up_to_what_they_write(four, key):
    loaded, run = four.loaded(key), four.run(key, TEXTS[0])
    found = layer_activations(loaded, run.hidden_states[1], 1, 0, 2)
    own = dict(loaded.network.base_model.named_modules())
    name = next(n for n in own if re.search(NAMES[key][0], n) and ("1." in n or key == "albert"))
    summed = found.heads.sum(0) + own[name].bias.numpy()
    np.testing.assert_allclose(summed, found.projection, atol=1e-5)
    outer = next(n for n in own if re.search(NAMES[key][3], n) and ("1." in n or key == "albert"))
    written = own[outer].weight.numpy() * found.units
    np.testing.assert_allclose(np.linalg.norm(written, axis=0), found.unit_lengths, atol=1e-5)
    for norm in (found.attention_norm, found.norm):
        spread = np.sqrt(norm.inputs.var() + norm.eps)
        normed = (norm.inputs - norm.inputs.mean()) / spread * norm.scale + norm.shift
        np.testing.assert_allclose(normed, norm.outputs, atol=1e-5)


@pytest.mark.parametrize("key", FOUR)
def test_the_embedding_is_the_norm_of_its_rows_and_the_first_state(four, key):
    loaded, run = four.loaded(key), four.run(key, TEXTS[1])
    position, embeddings = len(run.tokens) - 2, loaded.network.base_model.embeddings
    found = embedding_activations(loaded, run.tokens, position)
    first = 2 if key == "roberta" else 0
    row = embeddings.position_embeddings.weight[position + first]
    np.testing.assert_array_equal(found.position, row.numpy())
    rows = [found.word, found.position]
    if key == "distilbert":
        assert found.segment is None
    else:
        # RoBERTa has one row, which the second sentence's tokens have added too.
        second = embeddings.token_type_embeddings.weight[0 if key == "roberta" else 1]
        np.testing.assert_array_equal(found.segment, second.numpy())
        rows.append(found.segment)
    np.testing.assert_allclose(found.norm.inputs, np.sum(rows, axis=0), atol=1e-6)
    with torch.inference_mode():
        normed = embeddings.LayerNorm(torch.tensor(np.sum(rows, axis=0))).numpy()
    np.testing.assert_allclose(found.norm.outputs, normed, atol=1e-6)
    assert (found.projected is None) == (key != "albert")
    state = found.projected.result if found.projected else found.norm.outputs
    np.testing.assert_allclose(state, run.hidden_states[0, position], atol=1e-5)
    if found.projected:
        made = found.projected.weight @ found.norm.outputs + found.projected.bias
        np.testing.assert_allclose(made, state[found.projected.shown], atol=1e-5)
        assert abs(made).min() >= np.sort(abs(state))[-8] - 1e-5


@pytest.mark.parametrize(("groups", "used"), [(1, "00000000"), (2, "00001111"), (4, "00112233")])
def test_layers_of_several_groups_are_applied_as_the_network_applies_them(groups, used):
    config = AlbertConfig(
        vocab_size=40,
        embedding_size=8,
        hidden_size=16,
        num_hidden_layers=8,
        num_hidden_groups=groups,
        num_attention_heads=2,
        intermediate_size=24,
        initializer_range=0.3,
    )
    network = AlbertForMaskedLM(config).eval()
    shape = replace(MINI["albert"].architecture, n_layers=8, n_heads=2)
    spec = replace(MINI["albert"], architecture=shape)
    parts = parts_of(SimpleNamespace(network=network, spec=spec))
    stored = [group.albert_layers[0] for group in network.albert.encoder.albert_layer_groups]
    assert "".join(str([one.ffn for one in stored].index(p.inner)) for p in parts) == used
    with torch.inference_mode():
        states = network.albert(torch.tensor([[3, 5, 7]]), output_hidden_states=True).hidden_states
        for one, before, after in zip(parts, states, states[1:], strict=False):
            read = one.attended(before[0], 1)[-1].flatten()
            attended = one.attention_norm(before[0, 1] + one.output(read))
            mine = one.norm(attended + one.feed_forward(attended)[1])
            torch.testing.assert_close(mine, after[0, 1], atol=1e-5, rtol=0)


@pytest.mark.parametrize("key", FOUR)
def test_block_states_end_every_attention_and_every_layer(four, key):
    loaded, run = four.loaded(key), four.run(key, TEXTS[0])
    found, seen = block_states(loaded, run.hidden_states, 3), module_calls(loaded, run.tokens)
    n_layers = loaded.spec.architecture.n_layers
    assert found.shape == (1 + 2 * n_layers, run.hidden_states.shape[-1])
    np.testing.assert_array_equal(found[0::2], run.hidden_states[:, 3])
    attended = np.stack([gave[3] for _, gave in seen["norm1"]])
    np.testing.assert_allclose(found[1::2], attended, atol=1e-5)
