"""Summaries against hand-made cases and against plain torch."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForPreTraining, AutoTokenizer

from explorer.analysis.attention import (
    attention_rollout,
    gradient_attention,
    mean_attention,
    value_weighted,
)
from explorer.models.inside.activations import attention_gradients, value_norms

TEXT = "The capital of France is [MASK]."
FIRST = np.array([[1.0, 0.0], [1.0, 0.0]])
SECOND = np.array([[0.0, 1.0], [0.0, 1.0]])


def test_rollout_puts_the_new_layer_on_the_left():
    # (A+I)/2 of the two layers, by hand: [[1, 0], [.5, .5]] and [[.5, .5], [0, 1]].
    rollout = attention_rollout(np.stack([FIRST, SECOND])[:, None])
    assert rollout.tolist() == [[0.75, 0.25], [0.5, 0.5]]
    assert attention_rollout(np.stack([SECOND, FIRST])[:, None]).tolist() == [
        [0.5, 0.5],
        [0.25, 0.75],
    ]


def test_rows_of_rollout_mean_and_value_weighting_sum_to_1():
    attention = np.random.default_rng(0).dirichlet(np.ones(5), (3, 2, 5))
    norms = np.random.default_rng(1).uniform(0.1, 3, (3, 2, 5))
    for matrix in (
        attention_rollout(attention),
        mean_attention(attention),
        value_weighted(attention, norms),
    ):
        assert matrix.sum(-1) == pytest.approx(1)


def test_a_value_of_zero_carries_nothing():
    attention = np.full((1, 1, 2, 2), 0.5)
    assert value_weighted(attention, np.array([[[0.0, 2.0]]])).tolist() == [[0, 1], [0, 1]]


def test_gradient_attention_keeps_what_helps():
    attention = np.array([[[[0.5, 0.5]]], [[[0.25, 0.75]]]])
    gradient = np.array([[[[2.0, -1.0]]], [[[4.0, 0.0]]]])
    assert gradient_attention(attention, gradient).tolist() == [[1, 0]]
    assert gradient_attention(attention, -abs(gradient)).tolist() == [[0, 0]]


@pytest.mark.parametrize("key", ["bert", "distilbert", "albert"])
def test_gradients_are_the_slope_of_the_logit(tiny_family, key):
    loaded, run = tiny_family.loaded(key), tiny_family.run(key, TEXT)
    position, token = run.tokens.mask_positions[0], int(run.mask_logits[0].argmax())
    gradients = attention_gradients(loaded, run.tokens, position, token)
    assert gradients.shape == run.attention.shape
    # Nudging one weight of one head moves the logit by its gradient.
    layer, head, query, step = 1, 2, position, 1e-2
    spot = int(np.abs(gradients[layer, head, query]).argmax())
    slope = measured_slope(loaded, run, (layer, head, query, spot), (position, token), step)
    assert slope == pytest.approx(gradients[layer, head, query, spot], rel=0.05)


def measured_slope(loaded, run, cell, output, step):
    """Adding ``step`` to one weight adds ``step * W_O v`` to what the attention layer puts out."""
    import re

    layer, head, query, key = cell
    spec, encoder = loaded.spec, loaded.network.base_model
    found = {
        pattern: [m for n, m in encoder.named_modules() if re.search(pattern, n)]
        for pattern in (spec.kind.value, spec.kind.output)
    }
    value, dense = (modules[layer % len(modules)] for modules in found.values())
    size = value.out_features // run.attention.shape[1]
    part = slice(head * size, (head + 1) * size)
    calls = {"n": 0}

    def nudge(_module, arguments, sign):
        calls["n"] += 1
        if len(found[spec.kind.output]) == 1 and calls["n"] != layer + 1:
            return None
        context = arguments[0].clone()
        vector = value(torch.tensor(run.hidden_states[layer, key]))[part]
        context[0, query, part] += sign * step * vector
        return (context,)

    logits = []
    for sign in (1, -1):
        calls["n"] = 0
        hook = dense.register_forward_pre_hook(lambda m, a, sign=sign: nudge(m, a, sign))
        try:
            with torch.no_grad():
                tokens = AutoTokenizer.from_pretrained(spec.bundled_path)(
                    run.tokens.text, return_tensors="pt"
                )
                out = loaded.network(**tokens)
        finally:
            hook.remove()
        scores = out.prediction_logits if "prediction_logits" in out else out.logits
        logits.append(float(scores[0, output[0], output[1]]))
    return (logits[0] - logits[1]) / (2 * step)


@pytest.mark.parametrize("key", ["bert", "distilbert", "albert"])
def test_value_norms_are_those_of_a_forward_pass(tiny_family, key):
    import re

    loaded, run = tiny_family.loaded(key), tiny_family.run(key, TEXT)
    spec = tiny_family.specs[key]
    network = AutoModelForPreTraining.from_pretrained(
        spec.bundled_path, attn_implementation="eager"
    ).eval()
    seen = []
    hooks = [
        module.register_forward_hook(lambda m, a, out: seen.append(out[0]))
        for name, module in network.base_model.named_modules()
        if re.search(spec.kind.value, name)
    ]
    with torch.no_grad():
        network(**AutoTokenizer.from_pretrained(spec.bundled_path)(TEXT, return_tensors="pt"))
    for hook in hooks:
        hook.remove()
    dense = [m for n, m in network.base_model.named_modules() if re.search(spec.kind.output, n)]
    n_layers, n_heads = run.attention.shape[:2]
    assert len(seen) == n_layers
    norms = value_norms(loaded, run.hidden_states)
    for layer, values in enumerate(seen):
        weight = dense[layer % len(dense)].weight
        size = weight.shape[1] // n_heads
        for head in range(n_heads):
            part = slice(head * size, (head + 1) * size)
            expected = (values[:, part] @ weight[:, part].T).norm(dim=-1).detach().numpy()
            assert norms[layer, head] == pytest.approx(expected, rel=1e-4)
