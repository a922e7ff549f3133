"""Give a trained model another vocabulary: its layers stay, its word vectors are made anew.

A piece that both vocabularies have keeps its vector and its bias. A new one that has a vector in
the table that the family began with (MiniLM's, of 30,522 pieces) takes that, carried over by the
linear map that fits the shared pieces best; any other is the mean of the old pieces that spell it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from training.text.vocabulary import load_pieces

# What has a row for every piece: the word vectors, and the decoder that is tied to them, with bias.
ROWS = (
    "embeddings.weight",
    "decoder.weight",
    "decoder.bias",
    "predictions.bias",
    "vocab_projector.weight",
    "vocab_projector.bias",
)
RIDGE = 1e-2  # of the mean square of the vectors that are mapped


@dataclass(frozen=True, slots=True, eq=False)
class Respelling:
    """From one vocabulary to another.

    Attributes:
        old: The tokenizer that a model was trained with.
        new: The tokenizer it gets.
        table: Vectors of the start's own pieces, in BERT's spelling; may be empty.
        frequencies: Log relative frequency of every new piece.
        marked: Both mark where a word begins, as ALBERT's do, and not where one goes on.
    """

    old: Path
    new: Path
    table: Mapping[str, Tensor]
    frequencies: np.ndarray
    marked: bool

    @torch.no_grad()
    def vectors(self, before: Tensor) -> Tensor:
        """A word vector for every piece of the new vocabulary."""
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
        """The map from the table to a model's own vectors; None when they share no piece."""
        shared = [piece for piece in old if self.in_bert(piece) in self.table]
        if not shared:
            return None
        table = torch.stack([self.table[self.in_bert(piece)] for piece in shared])
        return linear_map(table, before[[old[piece] for piece in shared]])

    def in_bert(self, piece: str) -> str:
        """A piece as BERT's vocabulary writes it."""
        if not self.marked:
            return piece
        return piece[1:] if piece.startswith("▁") else f"##{piece}"

    def biases(self, before: Tensor) -> Tensor:
        """A bias for every piece: kept, or its frequency, on the scale of those that are kept."""
        old = {piece: i for i, piece in enumerate(load_pieces(self.old))}
        found = torch.as_tensor(self.frequencies, dtype=before.dtype).clone()
        kept = [(i, old[p]) for i, p in enumerate(load_pieces(self.new)) if p in old]
        to, origin = (list(places) for places in zip(*kept, strict=True))
        found += (before[origin] - found[to]).mean()
        found[to] = before[origin]
        return found


def respell(model: nn.Module, target: nn.Module, respelling: Respelling) -> nn.Module:
    """Write a trained model into a target whose vocabulary alone is another."""
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
    """The ridge regression of one set of vectors on another."""
    mean, centre = source.mean(0), target.mean(0)
    rows = source - mean
    gram = rows.T @ rows + RIDGE * rows.square().sum() / rows.shape[1] * torch.eye(rows.shape[1])
    weight = torch.linalg.solve(gram, rows.T @ (target - centre)).T
    found = nn.Linear(source.shape[1], target.shape[1])
    found.weight.copy_(weight)
    found.bias.copy_(centre - weight @ mean)
    return found
