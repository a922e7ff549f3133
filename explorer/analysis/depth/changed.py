"""Differences of two checkpoints of one shape: weights, states, heads, predictions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from explorer.analysis.measures import js, kl_of_logs, log_softmax
from explorer.models.inside.changes import MatrixChange
from explorer.models.run import Run, read_only
from explorer.models.tokens import MASK, UNKNOWN, Tokens

MASKED_SHARE = 0.15
"""Share of the tokens that are masked, as in the training of BERT (Devlin et al. 2019)."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadChange:
    """Divergence of each head's attention before and after."""

    js: np.ndarray
    """float64 [layer, head]: mean JS in nats over tokens, before to after."""
    control: np.ndarray | None
    """float64 [layer, head]: the same from each head before to the next head of its layer before;
    None where a layer has one head."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskChange:
    """Divergence of the predictions at tokens that were masked at random."""

    head: str
    """The column whose masked-LM head reads the states after."""
    kl: np.ndarray
    """float64 [mask]: KL(before || after) in nats, over the full vocabulary."""
    one_earlier: np.ndarray
    """float64 [mask]: KL(before || before), the latter read by its head from one layer earlier."""
    right_before: np.ndarray
    """bool [mask]: the hidden piece is the likeliest."""
    right_after: np.ndarray


def heads_moved(before: Run, after: Run) -> tuple[np.ndarray, np.ndarray]:
    """Return two sums over a text's tokens, float64 [layer, head] in nats.

    The first is of the JS from each head to the same head of the other run, the second from each
    head to the next head of its layer in the run before.
    """
    rows = [i for i, special in enumerate(before.tokens.special) if not special]
    old, new = (run.attention[:, :, rows].astype(np.float64) for run in (before, after))
    return js(old, new).sum(-1), js(old, np.roll(old, -1, axis=1)).sum(-1)


def masked_at_random(
    tokens: Tokens, mask_id: int, random: np.random.Generator
) -> tuple[Tokens, tuple[int, ...]]:
    """Return a text with 15% of its tokens masked, at least one, and the ids that were there.

    Tokens that the tokenizer added and those outside the vocabulary stay; a text of nothing else
    has no mask.
    """
    open_ = [
        i
        for i, (piece, special) in enumerate(zip(tokens.pieces, tokens.special, strict=True))
        if not special and piece not in UNKNOWN
    ]
    n = min(len(open_), max(1, round(MASKED_SHARE * len(open_))))
    places = tuple(sorted(int(i) for i in random.choice(open_, n, replace=False))) if n else ()
    ids, pieces = list(tokens.ids), list(tokens.pieces)
    for place in places:
        ids[place], pieces[place] = mask_id, MASK
    hidden = tuple(tokens.ids[place] for place in places)
    return replace(tokens, ids=tuple(ids), pieces=tuple(pieces), mask_positions=places), hidden


def masks_moved(
    before: np.ndarray, after: np.ndarray, earlier: np.ndarray, hidden: Sequence[int]
) -> np.ndarray:
    """Return float64 [mask, 4] from logits [mask, vocabulary]: the fields of ``MaskChange``."""
    old, new, one_earlier = (log_softmax(logits) for logits in (before, after, earlier))
    columns = (
        kl_of_logs(old, new),
        kl_of_logs(old, one_earlier),
        old.argmax(-1) == hidden,
        new.argmax(-1) == hidden,
    )
    return np.stack([np.asarray(column, np.float64) for column in columns], -1)


def mask_change(head: str, moved: np.ndarray) -> MaskChange:
    """Return the result of all masks, from the rows of ``masks_moved``."""
    kl, earlier, right, right_after = moved.T
    return MaskChange(
        head,
        read_only(kl.copy()),
        read_only(earlier.copy()),
        read_only(right.astype(bool)),
        read_only(right_after.astype(bool)),
    )


def layer_distances(weights: Sequence[MatrixChange]) -> np.ndarray:
    """Return float64 [stored layer]: the distance of a layer's six matrices as one vector."""
    layers = sorted({change.layer for change in weights if change.layer is not None})
    squares = [[c for c in weights if c.layer == layer] for layer in layers]
    return np.array(
        [
            np.sqrt(sum((c.distance * c.norm) ** 2 for c in of) / sum(c.norm**2 for c in of))
            for of in squares
        ]
    )
