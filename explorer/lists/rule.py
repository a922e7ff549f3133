"""The rule of fast lists: which rows are run again in float32, and what was seen of all others.

A decision of a row is the sign of a margin: the first word's ln P less the second's, the answer's
less that of the k-th other word, the score of one sentence less that of the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

PRECISIONS: tuple[str, ...] = ("float32", "fast")
FACTOR = 3.5
"""The bound of a margin over the root mean square of the differences between both precisions."""
NEAR = 2.0
"""Nats below which a margin counts for the bound: the differences grow with the margin."""
FEWEST = 8
"""Fewest near margins to compute a bound from; with fewer, all margins count."""
RANKS = (1, 5, 10)
"""Ranks within which an answer is, or is not."""
LEAST_ROWS = 33
"""Fewest rows of a list that are run in bfloat16: both precisions of fewer save nothing."""
FIRST_SHARE, FEWEST_FIRST, MOST_FIRST = 16, 16, 64
"""Of how many rows one is run first, in both precisions; and fewest and most of these. Simulated
lists of 256 to 768 rows lost at most 2 of 100,000 decisions with so few (BENCHMARKS.md)."""
MOST_CHECKED, CHECKED_SHARE = 32, 50
"""Rows that are checked at most, and how many rows there are for each of them."""
ROUNDS = 3
"""Times that the bound is computed again at the end."""
SEED = 0
BATCHED = 6.0
"""Nats below the likeliest word within which the first eleven words are usually found."""


def n_first(n_rows: int, has_decisions: bool) -> int:
    """Return how many rows are run in both precisions before all others."""
    most = MOST_FIRST if has_decisions else FEWEST_FIRST
    return min(n_rows, max(FEWEST_FIRST, min(most, n_rows // FIRST_SHARE)))


def n_checked(n_rows: int) -> int:
    """Return how many of a list's rows are checked in float32 at the end."""
    return min(MOST_CHECKED, n_rows // CHECKED_SHARE)


@dataclass(frozen=True, slots=True)
class FastModel:
    """Differences between one model's rows in bfloat16 and in float32."""

    n_first: int
    """Rows that were run in both precisions before all others."""
    n_repeated: int
    """Rows that were run again because a margin was below the bound."""
    bound: float
    """Nats: the bound of the decisions, by all rows run in both precisions; nan without any."""
    rms: float
    """Nats: root mean square of the differences between the margins below 2 nats."""
    typical: float
    """Root mean square of the differences of the printed numbers: probabilities of first words, or
    PLLs in nats."""
    largest: float
    """The largest of these differences."""
    n_checked: int
    """Other rows that were run in float32 at the end."""
    n_changed: int
    """Rows among them that have another decision in float32."""


@dataclass(frozen=True, slots=True, eq=False)
class FastReport:
    """Report of a fast list: by model what was seen, or why it was run in float32."""

    models: Mapping[str, FastModel]
    reasons: Mapping[str, str]
    """By model the sentence why no row was run in bfloat16."""
    exact: Mapping[str, np.ndarray]
    """By model bool [row]: the row's numbers are those of float32."""


class Seen:
    """Margins and printed numbers of one model's rows in both precisions."""

    def __init__(self, n_rows: int, groups: Sequence[int]) -> None:
        """Hold nothing yet.

        Args:
            n_rows: Rows of the list.
            groups: By margin a number; margins of one number have one bound.
        """
        self.groups = np.array(groups, np.int64)
        shape = (n_rows, len(groups))
        self.fast, self.exact = np.full(shape, np.nan), np.full(shape, np.nan)
        self.fast_value, self.exact_value = np.full(n_rows, np.nan), np.full(n_rows, np.nan)
        self.is_exact, self.is_first = np.zeros(n_rows, bool), np.zeros(n_rows, bool)
        self.is_checked, self.word = np.zeros(n_rows, bool), np.full(n_rows, -1, np.int64)

    def put_half(self, row: int, margins: Sequence[float], value: float, word: int) -> None:
        """Keep the margins of a row in bfloat16, its printed number, and its first word's id."""
        self.fast[row], self.fast_value[row], self.word[row] = margins, value, word

    def put_exact(self, row: int, margins: Sequence[float], value: float) -> None:
        """Keep the margins of a row in float32, and its printed number."""
        self.exact[row], self.exact_value[row] = margins, value

    def bounds(self) -> np.ndarray:
        """Return the bound of each margin: float64 [margin], infinite where nothing was seen."""
        found = np.full(len(self.groups), np.inf)
        for group in set(self.groups.tolist()):
            differences = self._differences(self.groups == group)
            if len(differences):
                found[self.groups == group] = FACTOR * _rms(differences)
        return found

    def _differences(self, columns: np.ndarray) -> np.ndarray:
        """Return the differences of margins of rows that were run in both, those of near ones."""
        fast, exact = self.fast[self.is_exact][:, columns], self.exact[self.is_exact][:, columns]
        differences = fast - exact
        known = np.isfinite(differences)
        near = known & (np.abs(fast) < NEAR)
        return differences[near if near.sum() >= FEWEST else known]

    def close(self, rows: Sequence[int]) -> np.ndarray:
        """Return which of the rows have a margin below its bound and are not yet in float32."""
        margins = np.abs(self.fast[list(rows)])
        return (margins < self.bounds()).any(1) & ~self.is_exact[list(rows)]

    def report(self) -> FastModel:
        """Return what was seen."""
        both = np.isfinite(self.exact_value) & np.isfinite(self.fast_value)
        values = (self.fast_value - self.exact_value)[both]
        of_decisions = self._differences(self.groups == 0)
        rms = _rms(of_decisions)
        fast, exact = self.fast[self.is_checked], self.exact[self.is_checked]
        known = np.isfinite(fast) & np.isfinite(exact)
        changed = (((fast > 0) != (exact > 0)) & known).any(1)
        return FastModel(
            int(self.is_first.sum()),
            int((self.is_exact & ~self.is_first).sum()),
            FACTOR * rms,
            rms,
            _rms(values),
            float(np.abs(values).max(initial=0)),
            int(self.is_checked.sum()),
            int(changed.sum()),
        )


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")


def likeliest(log_probs: np.ndarray, n: int) -> np.ndarray:
    """Return the n largest values of [vocabulary], the largest first.

    Only values near the largest are sorted: a tenth of the time of a partition of all.
    """
    near = log_probs[log_probs > log_probs.max() - BATCHED]
    found = near if len(near) >= n else log_probs
    n = min(n, len(found))
    return np.sort(np.partition(found, len(found) - n)[len(found) - n :])[::-1]


def answer_margins(log_probs: np.ndarray, target: int) -> list[float]:
    """Return a word's ln P less that of the other word at each of ``RANKS``, in nats."""
    top = likeliest(log_probs, max(RANKS) + 1)
    own = log_probs[target]
    place = int((top > own).sum())  # as many others are before it, up to the last one of these
    others = [rank if place < rank else rank - 1 for rank in RANKS]
    return [float(own) - float(top[other]) if other < len(top) else np.inf for other in others]


def first_margin(named: np.ndarray, first: int) -> float:
    """Return a word's ln P less that of the likeliest other word, in nats.

    Args:
        named: ln P [vocabulary], minus infinity of ids without a piece.
        first: The word.
    """
    top = likeliest(named, 2)
    other = top[0] if named[first] < top[0] else top[-1]
    return float(named[first]) - float(other)
