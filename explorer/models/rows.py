"""Rows of a batch, planned without any network: words masked, states patched, contexts cut."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

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
