"""Run, one forward pass of one model over one text; and rows of texts that share a pass."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from explorer.models.specs import ModelSpec
from explorer.models.tokens import Tokens


def read_only(array: np.ndarray) -> np.ndarray:
    """The same array, refusing to be written to."""
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Run:
    """One forward pass: every tab reads it and no tab runs the model again."""

    spec: ModelSpec
    tokens: Tokens
    hidden_states: np.ndarray
    """float32 [layer + 1, pos, d_model]; index 0 is the embedding output."""
    attention: np.ndarray
    """float32 [layer, head, query, key], after softmax: rows sum to 1."""
    mask_logits: np.ndarray
    """float32 [mask, vocabulary], the MLM head at ``tokens.mask_positions`` only."""
    vocabulary: tuple[str, ...]
    """The piece of each id; shared between runs, not copied."""
    mask_id: int
    """The id of the model's mask token."""
    device: str
    dtype: str

    def __post_init__(self) -> None:
        n_layers, n_pos = self.spec.architecture.n_layers, len(self.tokens)
        if self.attention.shape[0] != n_layers or self.attention.shape[2:] != (n_pos, n_pos):
            raise ValueError(
                f"attention of {self.spec.name} has shape {self.attention.shape}, "
                f"expected {n_layers} layers of {n_pos} x {n_pos}"
            )
        if self.hidden_states.shape[:2] != (n_layers + 1, n_pos):
            raise ValueError(f"hidden states of {self.spec.name}: {self.hidden_states.shape}")

    @property
    def n_bytes(self) -> int:
        """Bytes the run keeps in memory."""
        return self.hidden_states.nbytes + self.attention.nbytes + self.mask_logits.nbytes


BATCH_TOKENS = 1024
"""Tokens per batch: under two seconds for a base model on one thread, so progress keeps moving."""
MOST_PATCHES = 64
"""Patches per batch: each ends in the logits of a whole vocabulary, for every mask."""
READINGS: tuple[str, ...] = ("both", "left", "right", "no_order", "shuffled", "alone")
"""Both sides as trained; only what stands before, or after; all positions alike; the other words
in another order; and no attention between words."""


@dataclass(frozen=True, slots=True)
class MaskedRow:
    """One input of the encoder and the one position whose logits are wanted."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    position: int


@dataclass(frozen=True, slots=True)
class Patch:
    """One variant of a pass: at these positions the states of one layer are another text's."""

    layer: int
    """0 is the embeddings; the state after the last layer needs no pass."""
    positions: tuple[int, ...]


def batches(
    rows: Sequence[MaskedRow], tokens: int = BATCH_TOKENS
) -> Iterator[tuple[MaskedRow, ...]]:
    """Rows in their order, in groups of one length each, so that nothing is ever padded."""
    for length, same in groupby(rows, key=lambda row: len(row.ids)):
        waiting, size = list(same), max(1, tokens // length)
        for start in range(0, len(waiting), size):
            yield tuple(waiting[start : start + size])


def patch_batches(
    patches: Sequence[Patch], length: int, n_layers: int, tokens: int = BATCH_TOKENS
) -> Iterator[tuple[Patch, ...]]:
    """Patches in the order of their layers, in groups that cost a batch: the layers that follow."""
    waiting = sorted(patches, key=lambda patch: patch.layer)
    while waiting:
        cost, size = 0.0, 0
        for patch in waiting[:MOST_PATCHES]:
            cost += length * (n_layers - patch.layer) / n_layers
            if size and cost > tokens:
                break
            size += 1
        yield tuple(waiting[:size])
        waiting = waiting[size:]
