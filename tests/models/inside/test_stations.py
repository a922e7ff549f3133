"""Every station of a layer against hooks on the network itself, for every layer."""

import re

import numpy as np
import pytest
import torch

from explorer.models.forward import inputs_of, run_model, tokenize
from explorer.models.inside.stations import block_states, embedding_stations, layer_stations
from explorer.models.loading import load_model
from explorer.models.specs import MODEL_KEYS

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
"""Projection, its norm, the units, what they write, the last norm; in the networks' own names."""
QUERY_KEY_VALUE = {
    "bert": r"self\.(query|key|value)$",
    "distilbert": r"attention\.([qkv])_lin$",
    "albert": r"attention\.(query|key|value)$",
}


def hooked(loaded, tokens):
    """What every named module was given and gave, call by call, in one pass of the network."""
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
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_every_station_is_what_the_network_computed(tiny_family, key, dtype):
    close = {"rtol": 0, "atol": 1e-5} if dtype == "float32" else {"rtol": 1e-2, "atol": 1e-2}
    for text in TEXTS:
        loaded = load_model(tiny_family.specs[key], dtype=dtype)
        tokens = tokenize(loaded, text)
        run, seen = run_model(loaded, tokens), hooked(loaded, tokens)
        shape, position = loaded.spec.architecture, len(tokens) - 3
        for layer in range(shape.n_layers):
            head = (layer + 1) % shape.n_heads
            found = layer_stations(loaded, run.hidden_states[layer], layer, head, position)
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
            np.testing.assert_allclose(found.read, weights @ v.numpy(), **close)
            pairs = (("output", "projection"), ("norm1", "attention_norm"), ("units", "units"))
            for name, station in (*pairs, ("outer", "feed_forward"), ("norm2", "output")):
                gave = seen[name][layer][1][position]
                np.testing.assert_allclose(getattr(found, station), gave, **close)
            for name, station in (("norm1", "attended"), ("norm2", "summed")):
                given = seen[name][layer][0][position]
                np.testing.assert_allclose(getattr(found, station), given, **close)
            after = run.hidden_states[layer + 1, position]
            np.testing.assert_allclose(found.output, after, **close)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_heads_and_units_add_up_to_what_they_write(tiny_family, key):
    loaded, run = tiny_family.loaded(key), tiny_family.run(key, TEXTS[0])
    found = layer_stations(loaded, run.hidden_states[1], 1, 0, 2)
    own = dict(loaded.network.base_model.named_modules())
    name = next(n for n in own if re.search(NAMES[key][0], n) and ("1." in n or key == "albert"))
    summed = found.heads.sum(0) + own[name].bias.numpy()
    np.testing.assert_allclose(summed, found.projection, atol=1e-5)
    outer = next(n for n in own if re.search(NAMES[key][3], n) and ("1." in n or key == "albert"))
    written = own[outer].weight.numpy() * found.units
    np.testing.assert_allclose(np.linalg.norm(written, axis=0), found.unit_lengths, atol=1e-5)
    for i, (before, after) in enumerate(
        [(found.attended, found.attention_norm), (found.summed, found.output)]
    ):
        spread = np.sqrt(before.var() + found.eps)
        normed = (before - before.mean()) / spread * found.scale[i] + found.shift[i]
        np.testing.assert_allclose(normed, after, atol=1e-5)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_embedding_is_the_norm_of_its_rows(tiny_family, key):
    loaded, run = tiny_family.loaded(key), tiny_family.run(key, TEXTS[1])
    position = len(run.tokens) - 2
    found = embedding_stations(loaded, run.tokens, position)
    assert (found.segment is None) == (key == "distilbert")
    table = loaded.network.base_model.embeddings.position_embeddings.weight
    np.testing.assert_array_equal(found.position, table[position].numpy())
    rows = [found.word, found.position, *([found.segment] if found.segment is not None else [])]
    total = torch.tensor(np.sum(rows, axis=0))
    if key == "bert":
        second = loaded.network.base_model.embeddings.token_type_embeddings.weight[1]
        np.testing.assert_array_equal(found.segment, second.numpy())
    with torch.inference_mode():
        normed = loaded.network.base_model.embeddings.LayerNorm(total)
        albert = key == "albert"
        into = loaded.network.base_model.encoder.embedding_hidden_mapping_in if albert else None
        state = into(normed) if into else normed
    np.testing.assert_allclose(found.normalised, normed.numpy(), atol=1e-6)
    np.testing.assert_allclose(state.numpy(), run.hidden_states[0, position], atol=1e-5)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_block_states_end_every_attention_and_every_layer(tiny_family, key):
    loaded, run = tiny_family.loaded(key), tiny_family.run(key, TEXTS[0])
    found, seen = block_states(loaded, run.hidden_states, 3), hooked(loaded, run.tokens)
    n_layers = loaded.spec.architecture.n_layers
    assert found.shape == (1 + 2 * n_layers, run.hidden_states.shape[-1])
    np.testing.assert_array_equal(found[0::2], run.hidden_states[:, 3])
    attended = np.stack([gave[3] for _, gave in seen["norm1"]])
    np.testing.assert_allclose(found[1::2], attended, atol=1e-5)
