"""Move a trained model to another vocabulary: layers are copied, word vectors are remapped.

A piece in both vocabularies keeps its vector and its bias. A new piece with a vector in the table
that the family started from (MiniLM's, of 30,522 pieces) takes that vector through the linear map
that fits the shared pieces best; any other is the mean of the old pieces that spell it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from training.text.vocabulary import load_pieces

# Tensors with a row for every piece: the word vectors, and the tied decoder with its bias.
ROWS = (
    "embeddings.weight",
    "decoder.weight",
    "decoder.bias",
    "predictions.bias",
    "vocab_projector.weight",
    "vocab_projector.bias",
)
RIDGE = 1e-2  # in units of the mean square of the source vectors


@dataclass(frozen=True, slots=True, eq=False)
class Respelling:
    """Transfer from one vocabulary to another.

    Attributes:
        old: The tokenizer that the model was trained with.
        new: The tokenizer of the target.
        table: Vectors of the pieces of the initial model, in BERT's spelling; may be empty.
        frequencies: Log relative frequency of every new piece.
        marked: Both vocabularies mark word starts, as ALBERT's do, and not continuations.
    """

    old: Path
    new: Path
    table: Mapping[str, Tensor]
    frequencies: np.ndarray
    marked: bool

    @torch.no_grad()
    def vectors(self, before: Tensor) -> Tensor:
        """Return a word vector for every piece of the new vocabulary."""
        old = {piece: i for i, piece in enumerate(load_pieces(self.old))}
        spelling = Tokenizer.from_file(str(self.old)).model
        carry = self._carry(before, old)
        rows = before.mean(0).repeat(len(self.frequencies), 1)
        for i, piece in enumerate(load_pieces(self.new)):
            if piece in old:
                rows[i] = before[old[piece]]
            elif carry and self.in_bert(piece) in self.table:
                rows[i] = carry(self.table[self.in_bert(piece)][None])[0]
            else:
                rows[i] = before[[token.id for token in spelling.tokenize(piece)]].mean(0)
        return rows

    def _carry(self, before: Tensor, old: Mapping[str, int]) -> nn.Linear | None:
        """Return the linear map from the table to the model's vectors; None if none are shared."""
        shared = [piece for piece in old if self.in_bert(piece) in self.table]
        if not shared:
            return None
        table = torch.stack([self.table[self.in_bert(piece)] for piece in shared])
        return linear_map(table, before[[old[piece] for piece in shared]])

    def in_bert(self, piece: str) -> str:
        """Return a piece in the spelling of BERT's vocabulary."""
        if not self.marked:
            return piece
        return piece[1:] if piece.startswith("▁") else f"##{piece}"

    def biases(self, before: Tensor) -> Tensor:
        """Return a bias for every piece: the old one, or its log frequency on their scale."""
        old = {piece: i for i, piece in enumerate(load_pieces(self.old))}
        biases = torch.as_tensor(self.frequencies, dtype=before.dtype).clone()
        shared = [(i, old[p]) for i, p in enumerate(load_pieces(self.new)) if p in old]
        targets, sources = (list(places) for places in zip(*shared, strict=True))
        biases += (before[sources] - biases[targets]).mean()
        biases[targets] = before[sources]
        return biases


def respell(model: nn.Module, target: nn.Module, respelling: Respelling) -> nn.Module:
    """Load a trained model's weights into a target that differs in vocabulary only."""
    state, shapes = model.state_dict(), target.state_dict()
    size = model.config.vocab_size
    for name, value in state.items():
        if len(value) == size and name.endswith(ROWS):
            write = respelling.vectors if value.ndim == 2 else respelling.biases
            state[name] = write(value).to(shapes[name])
    target.load_state_dict(state)
    return target


@torch.no_grad()
def linear_map(source: Tensor, target: Tensor) -> nn.Linear:
    """Return the ridge regression of one set of vectors on another."""
    mean, centre = source.mean(0), target.mean(0)
    rows = source - mean
    gram = rows.T @ rows + RIDGE * rows.square().sum() / rows.shape[1] * torch.eye(rows.shape[1])
    weight = torch.linalg.solve(gram, rows.T @ (target - centre)).T
    layer = nn.Linear(source.shape[1], target.shape[1])
    layer.weight.copy_(weight)
    layer.bias.copy_(centre - weight @ mean)
    return layer
