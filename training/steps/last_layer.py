"""mini-bert's last layer, computed only where it is asked for: at hidden pieces and at [CLS].

Nothing else of its output is read when words and pairs are guessed: a tenth of a step is saved.
"""

import torch
from torch import Tensor
from transformers import BertModel

from explorer.analysis.distillation.student.objectives import Batch


def asked_states(bert: BertModel, batch: Batch) -> tuple[Tensor, Tensor]:
    """The last states at the hidden pieces, and at every text's [CLS] (with a second axis)."""
    rows, width = batch.ids.shape
    row, place = batch.hidden // width, batch.hidden % width
    counts = torch.bincount(row, minlength=rows)
    column = 1 + torch.arange(len(row), device=row.device) - (counts.cumsum(0) - counts)[row]
    places = row.new_zeros(rows, int(counts.max()) + 1)  # the first column is [CLS]'s
    places[row, column] = place
    *layers, last = bert.encoder.layer
    shut = torch.finfo(torch.float32).min * (1 - batch.mask[:, None, None, :].float())
    states = bert.embeddings(input_ids=batch.ids, token_type_ids=batch.types)
    for layer in layers:
        states = layer(states, shut)
    asked = states.gather(1, places[..., None].expand(-1, -1, states.shape[-1]))
    told = last.attention.output(attended(last.attention.self, asked, states, shut), asked)
    told = last.feed_forward_chunk(told)
    return told[row, column], told[:, :1]


def attended(attention: torch.nn.Module, asked: Tensor, states: Tensor, shut: Tensor) -> Tensor:
    """What some places of a text read from all of them."""

    def heads(vectors: Tensor) -> Tensor:
        return vectors.unflatten(-1, (-1, attention.attention_head_size)).transpose(1, 2)

    queries, keys = heads(attention.query(asked)), heads(attention.key(states))
    scores = queries @ keys.transpose(-1, -2) * attention.scaling + shut
    read = scores.softmax(-1) @ heads(attention.value(states))
    return read.transpose(1, 2).flatten(2)
