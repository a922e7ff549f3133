"""Rows: masked versions of a text as plain ids, planned without any network."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

BATCH_TOKENS = 1024
"""Tokens per batch: under two seconds for a base model on one thread, so progress keeps moving."""


@dataclass(frozen=True, slots=True)
class MaskedRow:
    """One input of the encoder and the one position whose logits are wanted."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    position: int


def batches(
    rows: Sequence[MaskedRow], tokens: int = BATCH_TOKENS
) -> Iterator[tuple[MaskedRow, ...]]:
    """Rows in their order, in groups of one length each, so that nothing is ever padded."""
    for length, same in groupby(rows, key=lambda row: len(row.ids)):
        waiting, size = list(same), max(1, tokens // length)
        for start in range(0, len(waiting), size):
            yield tuple(waiting[start : start + size])
