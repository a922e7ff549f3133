"""Shares with intervals, and comparisons of models on the same rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from explorer.analysis.measures import share_interval
from explorer.models.run import read_only


@dataclass(frozen=True, slots=True)
class Share:
    """Share of rows with its 95% interval (Wilson 1927)."""

    hits: int
    n: int

    @property
    def value(self) -> float:
        """The share; nan without rows."""
        return self.hits / self.n if self.n else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval; 0 to 1 without rows."""
        if not self.n:
            return 0.0, 1.0
        low, high = share_interval(self.hits, self.n)
        return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Duel:
    """Two models on the same rows, by McNemar's exact test."""

    first: str
    second: str
    only_first: int
    """Rows that only the first model gets right."""
    only_second: int
    p_value: float
    """Two-sided probability of a split as uneven as this one if both were equally good."""


def share_of(hits: np.ndarray) -> Share:
    """Return the share of rows that are true in bool [row]."""
    return Share(int(np.count_nonzero(hits)), len(hits))


def shares_by_group(hits: np.ndarray, groups: Sequence[str]) -> dict[str, Share]:
    """Return the share in each group, in the order of their first rows; empty names are none."""
    names = [name for name in dict.fromkeys(groups) if name]
    group = np.array(groups, object)
    return {name: share_of(hits[group == name]) for name in names}


def mcnemar(only_first: int, only_second: int) -> float:
    """Compute the two-sided p value of McNemar's exact test from the discordant rows.

    Twice the smaller tail of a binomial with probability one half, at most 1.
    """
    n, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(comb(n, k) for k in range(fewer + 1))
    # A quotient of integers: a power of two with a thousand digits is no float.
    return float(min(1.0, 2 * tail / 2**n)) if n < 1_000 else min(1.0, _ratio(2 * tail, n))


def _ratio(count: int, n: int) -> float:
    """Divide an integer of many digits by a power of two."""
    shift = max(0, count.bit_length() - 60)
    return float((count >> shift) * 2.0 ** (shift - n)) if shift - n > -1_070 else 0.0


def duels(right: Mapping[str, np.ndarray]) -> tuple[Duel, ...]:
    """Compare each two models by the rows, bool [row], that each gets right."""
    return tuple(duel(right, first, second) for first, second in combinations(right, 2))


def duel(right: Mapping[str, np.ndarray], first: str, second: str) -> Duel:
    """Compare two models by the rows that each gets right."""
    only_first = int(np.count_nonzero(right[first] & ~right[second]))
    only_second = int(np.count_nonzero(right[second] & ~right[first]))
    return Duel(first, second, only_first, only_second, mcnemar(only_first, only_second))


def bootstrap_weights(n: int, times: int = 2_000, seed: int = 0) -> np.ndarray:
    """Return how often each row is drawn in each resample: float32 [resample, row]."""
    generator = np.random.default_rng(seed)
    return generator.multinomial(n, np.full(n, 1 / n), times).astype(np.float32)


def percentile_interval(values: np.ndarray) -> tuple[float, float]:
    """Return the 95% percentile interval of resampled values."""
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def resampled_accuracy(right: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the accuracy in each resample: float64 [resample]."""
    return (weights @ right.astype(np.float32)).astype(np.float64) / len(right)


def resampled_macro_f1(truth: np.ndarray, predicted: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the macro F1 in each resample: float64 [resample].

    As in scikit-learn, the mean is over the classes that occur in the truth or the predictions.
    """
    classes = int(max(truth.max(), predicted.max())) + 1
    is_true, is_predicted = np.eye(classes)[truth], np.eye(classes)[predicted]
    hits = weights @ (is_true * is_predicted)
    totals = weights @ (is_true + is_predicted)
    f1 = np.divide(2 * hits, totals, out=np.zeros_like(hits), where=totals > 0)
    return read_only(f1.sum(1) / (totals > 0).sum(1))
