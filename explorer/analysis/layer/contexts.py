"""What reading both sides buys: answers to one text read in six ways, and scores over many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.measures import log_softmax, share_interval, top_ids
from explorer.models.rows import READINGS
from explorer.models.run import read_only
from explorer.models.spelling import spelling_of

AMONG = 5


@dataclass(frozen=True, slots=True, eq=False)
class ContextAnswers:
    """One model at one mask, in each reading."""

    readings: tuple[str, ...]
    """Their names; without ``shuffled`` where there is nothing to shuffle."""
    words: tuple[str, ...]
    """The first answer of each reading, as a reader writes it."""
    tokens: tuple[str, ...]
    """The same as the vocabulary writes them."""
    probabilities: np.ndarray
    """float64 [reading], of that answer."""
    wanted: str
    """The word whose probability is followed."""
    wanted_id: int
    wanted_token: str
    of_wanted: np.ndarray
    """float64 [reading]: its probability."""
    ranks: np.ndarray
    """int64 [reading]: its rank; 1 where no piece is likelier."""


def context_answers(
    logits: np.ndarray,
    vocabulary: tuple[str, ...],
    wanted: int | None,
    readings: tuple[str, ...] = READINGS,
) -> ContextAnswers:
    """From logits [reading, vocabulary] at one mask.

    Args:
        logits: a row for each reading.
        vocabulary: the model's pieces.
        wanted: the id of the hidden word; None: the model's own answer with both sides.
        readings: their names.
    """
    p, spelling = np.exp(log_softmax(logits)), spelling_of(vocabulary)
    first = top_ids(p, 1)[:, 0]
    followed = int(first[0]) if wanted is None else wanted
    return ContextAnswers(
        readings,
        tuple(spelling.word(vocabulary[i]) for i in first),
        tuple(vocabulary[i] for i in first),
        read_only(p[np.arange(len(p)), first]),
        spelling.word(vocabulary[followed]),
        followed,
        vocabulary[followed],
        read_only(p[:, followed]),
        read_only(1 + (p > p[:, followed, None]).sum(-1)),
    )


@dataclass(frozen=True, slots=True)
class ContextScore:
    """One model in one reading over many sentences with a known word."""

    first: float
    """Share of sentences whose word is the first answer."""
    first_interval: tuple[float, float]
    """Its 95% interval (Wilson 1927)."""
    among: float
    """Share whose word is among the first five answers."""
    among_interval: tuple[float, float]


def context_scores(
    ranks: Mapping[str, Sequence[Sequence[int]]],
) -> dict[str, tuple[ContextScore, ...]]:
    """For every model its score in each reading, from ranks [sentence][reading]."""
    return {
        key: tuple(_score(column) for column in zip(*rows, strict=True))
        for key, rows in ranks.items()
    }


def _score(ranks: Sequence[int]) -> ContextScore:
    n = len(ranks)
    hits = [sum(rank <= limit for rank in ranks) for limit in (1, AMONG)]
    first, among = (share_interval(hit, n) for hit in hits)
    return ContextScore(hits[0] / n, first, hits[1] / n, among)
