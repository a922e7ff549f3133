"""Caught queries and keys are the ones the attention was made of."""

import numpy as np
import pytest

from explorer.models.inside.activations import queries_and_keys
from explorer.models.specs import MODEL_KEYS
from tests.tiny_models import WIDTH


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_their_softmax_is_the_attention_of_every_head(tiny_family, key):
    run = tiny_family.run(key, "The cat sat on the [MASK].")
    loaded = tiny_family.loaded(key)
    hooks = sum(len(m._forward_hooks) for m in loaded.network.modules())
    queries, keys = queries_and_keys(loaded, run.tokens)
    assert queries.shape == keys.shape == (*run.attention.shape[:3], WIDTH // 12)
    scores = np.einsum("lhqd,lhkd->lhqk", queries, keys) / np.sqrt(queries.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(weights / weights.sum(-1, keepdims=True), run.attention, atol=1e-5)
    assert sum(len(m._forward_hooks) for m in loaded.network.modules()) == hooks
