"""A batch of masked rows gives each row what it would get alone."""

import numpy as np
import pytest
import torch

from explorer.models.forward import row_logits
from explorer.models.run import MaskedRow, batches
from explorer.models.specs import MODEL_KEYS


def rows_of(tokens, mask_id):
    return [
        MaskedRow((*tokens.ids[:i], mask_id, *tokens.ids[i + 1 :]), tokens.segments, i)
        for i in range(1, len(tokens) - 1)
    ]


@pytest.mark.parametrize("text", ["the cat sat on the mat", "the cat sat [SEP] a dog was good"])
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_a_batch_equals_each_row_alone(tiny_family, key, text):
    loaded, tokens = tiny_family.loaded(key), tiny_family.run(key, text).tokens
    rows = rows_of(tokens, loaded.tokenizer.mask_token_id)
    together = row_logits(loaded, rows)
    for row, logits in zip(rows, together, strict=True):
        inputs = {"input_ids": torch.tensor([row.ids])}
        if key != "distilbert":
            inputs["token_type_ids"] = torch.tensor([row.segments])
        with torch.no_grad():
            out = loaded.network(**inputs)
        plain = (out.logits if key == "distilbert" else out.prediction_logits)[0, row.position]
        np.testing.assert_allclose(logits, plain, atol=1e-4)


def test_rows_of_two_lengths_are_refused(tiny_family):
    rows = [MaskedRow((2, 4, 3), (0, 0, 0), 1), MaskedRow((2, 4, 5, 3), (0,) * 4, 1)]
    with pytest.raises(ValueError, match="one length"):
        row_logits(tiny_family.loaded("bert"), rows)


def test_batches_keep_the_order_and_never_mix_lengths():
    lengths = [3, 3, 3, 5, 5, 3]
    rows = [MaskedRow((i,) * n, (0,) * n, 0) for i, n in enumerate(lengths)]
    found = list(batches(rows, tokens=6))
    assert [[row.ids[0] for row in batch] for batch in found] == [[0, 1], [2], [3], [4], [5]]


def test_a_row_longer_than_a_batch_still_runs():
    assert [len(b) for b in batches([MaskedRow((0,) * 9, (0,) * 9, 0)] * 2, tokens=4)] == [1, 1]
