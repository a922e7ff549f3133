"""mini-bert's last layer, computed only at masked pieces and at [CLS].

MLM and pair losses read nothing else of its output; this saves a tenth of a step.
"""

import torch
from torch import Tensor
from transformers import BertModel

from explorer.analysis.distillation.student import Batch


def asked_states(bert: BertModel, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the last states at masked pieces, and at every text's [CLS] (with a second axis)."""
    rows, width = batch.ids.shape
    row, place = batch.masked_positions // width, batch.masked_positions % width
    counts = torch.bincount(row, minlength=rows)
    column = 1 + torch.arange(len(row), device=row.device) - (counts.cumsum(0) - counts)[row]
    places = row.new_zeros(rows, int(counts.max()) + 1)  # the first column is [CLS]'s
    places[row, column] = place
    *layers, last = bert.encoder.layer
    mask_bias = torch.finfo(torch.float32).min * (1 - batch.mask[:, None, None, :].float())
    states = bert.embeddings(input_ids=batch.ids, token_type_ids=batch.types)
    for layer in layers:
        states = layer(states, mask_bias)
    inputs = states.gather(1, places[..., None].expand(-1, -1, states.shape[-1]))
    outputs = last.attention.output(
        attended(last.attention.self, inputs, states, mask_bias), inputs
    )
    outputs = last.feed_forward_chunk(outputs)
    return outputs[row, column], outputs[:, :1]


def attended(attention: torch.nn.Module, inputs: Tensor, states: Tensor, shut: Tensor) -> Tensor:
    """Return self-attention's output for selected positions that attend to all positions."""

    def heads(vectors: Tensor) -> Tensor:
        return vectors.unflatten(-1, (-1, attention.attention_head_size)).transpose(1, 2)

    queries, keys = heads(attention.query(inputs)), heads(attention.key(states))
    scores = queries @ keys.transpose(-1, -2) * attention.scaling + shut
    context = scores.softmax(-1) @ heads(attention.value(states))
    return context.transpose(1, 2).flatten(2)
