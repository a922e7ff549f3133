"""What each head does with a text: how far, how broadly and where it looks."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from explorer.analysis.alignment import Alignment, align, word_attention
from explorer.analysis.measures import entropy
from explorer.models.run import Run, read_only

PLACES: tuple[str, ...] = ("previous", "next", "self", "cls", "sep")
"""The five places whose share of a head's attention is measured."""
KINDS: tuple[str, ...] = (*PLACES, "broad", "mixed")
PLACE_SHARE = 0.5
"""A head is named after a place that takes at least this much of a word's attention."""
BROAD_SHARE = 0.85
"""Else it is broad when its entropy is at least this share of the most possible, ln n."""


@dataclass(frozen=True, slots=True, eq=False)
class WordHeads:
    """Every head of every model over the same words."""

    alignment: Alignment
    attention: Mapping[str, np.ndarray]
    """float32 [layer, head, word, word] by model key, rows sum to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadStatistics:
    """One model's heads in numbers; every array starts with [layer, head]."""

    entropy: np.ndarray
    """In nats: 0 for one word at a time, ln n for all n alike."""
    distance: np.ndarray
    """In words."""
    shares: np.ndarray
    """[layer, head, place]: the part of a word's attention that each of ``PLACES`` takes."""
    kind: np.ndarray
    """Index into ``KINDS``."""


def word_heads(runs: Mapping[str, Run]) -> WordHeads:
    """The attention of all models on the words they share, so that heads can be compared."""
    alignment = align({key: run.tokens for key, run in runs.items()})
    attention = {
        key: read_only(word_attention(run.attention, alignment.groups[key]))
        for key, run in runs.items()
    }
    return WordHeads(alignment, attention)


def head_statistics(attention: np.ndarray, alignment: Alignment) -> HeadStatistics:
    """How broadly, how far and where each head looks, averaged over the words of the text.

    ``attention`` is [layer, head, word, word]. Rows of [CLS] and [SEP] are left out: what added
    tokens look at is not reading. Clark et al. 2019 (section 3) measure the same places.
    """
    queries = list(alignment.content) or list(range(len(alignment)))
    rows = attention[:, :, queries]
    positions = np.arange(len(alignment))
    away = np.abs(positions[None] - np.asarray(queries)[:, None])
    spread = entropy(rows).mean(-1)
    shares = np.stack([_share(rows, queries, alignment, place) for place in PLACES], -1)
    return HeadStatistics(
        read_only(spread),
        read_only((rows * away).sum(-1).mean(-1)),
        read_only(shares),
        read_only(_kind(shares, spread / np.log(max(len(alignment), 2)))),
    )


def _share(rows: np.ndarray, queries: list[int], alignment: Alignment, place: str) -> np.ndarray:
    """The mean attention to one place; a word without a neighbour there does not count."""
    words = alignment.words
    if place in ("cls", "sep"):
        added = [i for i, word in enumerate(words) if word.special]
        keys = added[:1] if place == "cls" else added[1:]
        return rows[..., keys].sum(-1).mean(-1)
    step = {"previous": -1, "next": 1, "self": 0}[place]
    kept = range(len(words)) if step == 0 else alignment.content
    pairs = [(row, q + step) for row, q in enumerate(queries) if q + step in kept]
    if not pairs:
        return np.zeros(rows.shape[:2], rows.dtype)
    return rows[:, :, [row for row, _ in pairs], [key for _, key in pairs]].mean(-1)


def _kind(shares: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The place that takes most if it takes enough, else broad, else mixed."""
    unnamed = np.where(spread >= BROAD_SHARE, KINDS.index("broad"), KINDS.index("mixed"))
    return np.where(shares.max(-1) >= PLACE_SHARE, shares.argmax(-1), unnamed)
