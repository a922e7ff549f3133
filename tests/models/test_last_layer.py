"""Lists read the last layer at one position: equal to plain transformers, and only where it may be."""

import numpy as np
import pytest
import torch
from torch import nn

from explorer.models.forward import tokenize
from explorer.models.layer_parts import known_parts
from explorer.models.loading import given_model, load_model
from explorer.models.read_at import mask_states, masked_targets, vocabulary_rows
from explorer.models.run import MaskedRow
from explorer.models.specs import KINDS, MINI
from tests.tiny_models import WIDE_SPREAD, make_bert

TEXTS = ("the [MASK] sat.", "paris is the capital of [MASK], and it is good.", "a [MASK]")
WITHIN = 1e-5
"""Nats; the largest difference here is 3e-6."""


def rows_of(loaded, texts=TEXTS):
    tokens = [tokenize(loaded, text) for text in texts]
    return [MaskedRow(each.ids, each.segments, each.mask_positions[0]) for each in tokens]


@torch.inference_mode()
def by_hand(loaded, row):
    """Return ln P [vocabulary] by the network's own forward pass over one text."""
    out = loaded.network(input_ids=torch.tensor([row.ids]))
    logits = out.logits if "logits" in out else out.prediction_logits
    return logits[0, row.position].double().log_softmax(-1).numpy()


def check(loaded):
    rows = rows_of(loaded)
    found = vocabulary_rows(loaded, mask_states(loaded, rows))
    scores = masked_targets(loaded, rows, [7, 8, 9])
    for row, logs, (log_prob, rank), target in zip(rows, found, scores, (7, 8, 9), strict=True):
        plain = by_hand(loaded, row)
        assert np.abs(logs - plain).max() < WITHIN
        assert abs(log_prob - plain[target]) < WITHIN
        assert rank == 1 + (plain > plain[target]).sum()


def test_each_architecture_equals_plain_transformers(four):
    for key in KINDS:
        loaded = load_model(MINI[key])
        assert len(known_parts(loaded)) == loaded.spec.architecture.n_layers
        check(loaded)


class Doubled(nn.Linear):
    """A caller's own layer: its product is doubled."""

    def forward(self, states):
        return 2 * super().forward(states)


def doubled(layer):
    own = Doubled(layer.attention.self.value.in_features, layer.attention.self.value.out_features)
    own.load_state_dict(layer.attention.self.value.state_dict())
    layer.attention.self.value = own


def hooked(layer):
    layer.output.register_forward_hook(lambda _module, _given, output: output * 0.5)


def replaced(layer):
    attention = layer.attention
    own = attention.forward

    def halved(*given, **named):
        states, *rest = own(*given, **named)
        return 0.5 * states, *rest

    attention.forward = halved


@pytest.mark.parametrize("change", [doubled, hooked, replaced])
def test_a_network_of_another_structure_is_run_as_a_whole(change):
    network, tokenizer = make_bert(2, 2, 24, WIDE_SPREAD)
    loaded = given_model("bert", network.eval(), tokenizer)
    before = vocabulary_rows(loaded, mask_states(loaded, rows_of(loaded)))
    change(network.bert.encoder.layer[-1])
    assert known_parts(loaded) == ()
    check(loaded)
    assert (
        np.abs(vocabulary_rows(loaded, mask_states(loaded, rows_of(loaded))) - before).max() > 1e-2
    )


def test_a_pass_that_ends_before_the_last_layer_leaves_no_hook(tiny_family):
    loaded = tiny_family.loaded("albert")
    vocabulary_rows(loaded, mask_states(loaded, rows_of(loaded)))
    assert not any(module._forward_pre_hooks for module in loaded.network.modules())
