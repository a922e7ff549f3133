"""Shares with intervals, and comparisons of models on the same rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from explorer.analysis.measures import Z, share_interval

EQUAL = 1e-6
"""Standard deviation below which values differ by rounding alone."""
SPREAD_ROWS = 2.0
"""Rows that are spread evenly over the cells of a confusion matrix for the variance of its F1."""
DRAWS, DRAWN_AT_ONCE = 2_000, 2_000_000
"""Confusion matrices that are drawn for the interval of a bootstrap, and cells held at once."""


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
        return wilson(self.value, self.n)


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean of independent values, with the 95% interval and the test of Student's t."""

    value: float
    """nan without values."""
    low: float
    """nan where fewer than two values differ, as ``high`` is."""
    high: float
    p_value: float
    """Two-sided probability of a mean as far from 0 if the true one were 0; 1 without interval."""
    n: int


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


@dataclass(frozen=True, slots=True)
class MeanDuel:
    """Two models by the values that both give to the same rows."""

    first: str
    second: str
    difference: Mean
    """Mean of the first model's value minus the second's, row by row."""


def share_of(hits: np.ndarray) -> Share:
    """Return the share of rows that are true in bool [row]."""
    return Share(int(np.count_nonzero(hits)), len(hits))


def mean_of(values: np.ndarray) -> Mean:
    """Return the mean of float [value] with Student's interval, mean +- t s / sqrt(n).

    Values that are equal but for rounding (a standard deviation below 1e-6) tell nothing of others.

    Example: ``mean_of(np.array([1.0, 2.0, 3.0]))`` has the interval from -0.48 to 4.48.
    """
    from scipy.special import stdtr, stdtrit

    n = len(values)
    mean = float(values.mean()) if n else float("nan")
    spread = float(values.std(ddof=1)) if n > 1 else 0.0
    if spread < EQUAL:
        return Mean(mean, float("nan"), float("nan"), 1.0, n)
    error = spread / np.sqrt(n)
    half = float(stdtrit(n - 1, 0.975)) * error
    p_value = float(2 * stdtr(n - 1, -abs(mean) / error))
    return Mean(mean, float(mean - half), float(mean + half), p_value, n)


def mean_duels(values: Mapping[str, np.ndarray]) -> tuple[MeanDuel, ...]:
    """Compare each two models by the differences of their values, float64 [row]."""
    return tuple(MeanDuel(a, b, mean_of(values[a] - values[b])) for a, b in combinations(values, 2))


def shares_by_group(hits: np.ndarray, groups: Sequence[str]) -> dict[str, Share]:
    """Return the share in each group, in the order of their first rows; empty names are none."""
    names = [name for name in dict.fromkeys(groups) if name]
    group = np.array(groups, object)
    return {name: share_of(hits[group == name]) for name in names}


def mcnemar(only_first: int, only_second: int) -> float:
    """Compute the two-sided p value of McNemar's exact test from the discordant rows.

    Twice the smaller tail of a binomial with probability one half, at most 1.
    """
    from scipy.special import bdtr

    n, fewer = only_first + only_second, min(only_first, only_second)
    return float(min(1.0, 2 * bdtr(fewer, n, 0.5)))


def duels(right: Mapping[str, np.ndarray]) -> tuple[Duel, ...]:
    """Compare each two models by the rows, bool [row], that each gets right."""
    return tuple(duel(right, first, second) for first, second in combinations(right, 2))


def duel(right: Mapping[str, np.ndarray], first: str, second: str) -> Duel:
    """Compare two models by the rows that each gets right."""
    only_first = int(np.count_nonzero(right[first] & ~right[second]))
    only_second = int(np.count_nonzero(right[second] & ~right[first]))
    return Duel(first, second, only_first, only_second, mcnemar(only_first, only_second))


def sign_flip(differences: np.ndarray, groups: np.ndarray | None = None) -> float:
    """Compute the two-sided p value of a paired comparison that exchanges whole groups.

    If both classifiers were equally good, each group's difference could as well have the other
    sign. The result is the exact share of all assignments of signs whose sum is as far from 0 as
    the one found. Without groups it is McNemar's exact test.

    Args:
        differences: int [row], 1 where only the first is right, -1 where only the second is.
        groups: int [row]; None: every row is a group.
    """
    if groups is None:
        return mcnemar(int((differences > 0).sum()), int((differences < 0).sum()))
    _, place = np.unique(groups, return_inverse=True)
    sums = np.bincount(place, differences).astype(int)
    steps = np.abs(sums[sums != 0])
    shares = np.ones(1)
    for step in steps:
        wider = np.zeros(len(shares) + 2 * step)
        wider[: len(shares)] += shares / 2
        wider[2 * step :] += shares / 2
        shares = wider
    far = abs(int(sums.sum()))
    distance = np.abs(np.arange(len(shares)) - len(shares) // 2)
    return float(min(1.0, shares[distance >= far].sum()))


def counted_once(n_rows: int, groups: np.ndarray | None) -> float:
    """Return how many independent rows grouped ones are worth if those of one group are alike.

    It is n^2 / sum of squared sizes (Kish 1965): the number of groups where all have one size.
    """
    if groups is None:
        return float(n_rows)
    sizes = np.unique(groups, return_counts=True)[1]
    return float(n_rows**2 / (sizes**2).sum())


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share, of a number of rows that may be a fraction."""
    low, high = share_interval(share * n, n)
    return float(low), float(high)


def difference_interval(only_first: float, only_second: float, n: float) -> tuple[float, float]:
    """Return the 95% interval of the difference of two shares of the same rows.

    Bonett and Price 2012: one row is added to each of both discordant counts. It has no width of 0,
    also where the two never differ.

    Args:
        only_first: Share of rows that only the first has right.
        only_second: Share of rows that only the second has right.
        n: The number of rows; it may be a fraction.
    """
    first, second = (only_first * n + 1) / (n + 2), (only_second * n + 1) / (n + 2)
    middle = first - second
    half = Z * np.sqrt((first + second - middle**2) / (n + 2))
    return max(-1.0, float(middle - half)), min(1.0, float(middle + half))


def macro_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the macro F1 of predictions.

    As in scikit-learn, the mean is over the classes that occur in the truth or the predictions.
    """
    classes = int(max(truth.max(), predicted.max())) + 1
    counts = np.bincount(truth * classes + predicted, minlength=classes**2)
    return macro_f1_of(counts.reshape(classes, classes))


def macro_f1_of(counts: np.ndarray) -> float:
    """Return the macro F1 of a confusion matrix, int64 [true, predicted]."""
    totals = counts.sum(0) + counts.sum(1)
    return float((2 * np.diag(counts)[totals > 0] / totals[totals > 0]).mean())


def f1_interval(counts: np.ndarray, n: float) -> tuple[float, float]:
    """Return the 95% interval of the macro F1 of a confusion matrix.

    It is Wilson's, for as many rows as would give an accuracy of this value the variance that the
    delta method gives the macro F1 (Takahashi et al. 2022). For the variance two further rows are
    spread over all cells, so that no interval has a width of 0, and a row fewer counts for each
    class. Simulated for two to five classes it covers 93 to 95% on average at 40 rows and at 200;
    with fewer than about eight rows of each class it covers less.

    Args:
        counts: int64 [true, predicted].
        n: The number of rows that count; it may be a fraction.
    """
    value, cells = macro_f1_of(counts), counts + SPREAD_ROWS / counts.size
    total = cells.sum()
    sizes = cells.sum(0) + cells.sum(1)
    by_class = 2 * np.diag(cells) / sizes
    influence = -np.add.outer(by_class / sizes, by_class / sizes) + np.diag(2 / sizes)
    influence *= total / len(cells)  # of one row in a cell on the mean over the classes
    shares = cells / total
    variance = (shares * influence**2).sum() - (shares * influence).sum() ** 2
    middle = by_class.mean()
    counted = max(n / 2, n - len(counts))
    as_accuracy = middle * (1 - middle) / variance if variance > 0 else 1.0  # 0 with one class
    return wilson(value, float(counted * as_accuracy))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p values corrected for their number (Holm 1979), in their order.

    The smallest is multiplied by their number n, the next by n - 1 and so on; none is smaller than
    one before it, nor larger than 1.

    Example: ``holm([0.01, 0.04, 0.03])`` is (0.03, 0.06, 0.06).
    """
    n, largest, corrected = len(p_values), 0.0, [0.0] * len(p_values)
    for rank, place in enumerate(sorted(range(n), key=lambda each: p_values[each])):
        largest = max(largest, min(1.0, (n - rank) * p_values[place]))
        corrected[place] = largest
    return tuple(corrected)


def f1_of_labels(counts: np.ndarray) -> np.ndarray:
    """Return the F1 of each true label, float64 [..., label]; nan of a label that nothing has.

    Args:
        counts: [..., true, predicted]; predicted labels after the true ones are none of them.
    """
    k = counts.shape[-2]
    totals = counts.sum(-1) + counts.sum(-2)[..., :k]
    hits = 2.0 * np.diagonal(counts, axis1=-2, axis2=-1)
    return np.divide(hits, totals, out=np.full(hits.shape, np.nan), where=totals > 0)


def f1_bootstrap(counts: np.ndarray, n: float) -> tuple[float, float]:
    """Return the 95% interval of the mean F1 of the true labels by a smoothed bootstrap.

    Lists of n rows are drawn from the confusion matrix, over whose cells two further rows are
    spread, as in ``f1_interval``: so the interval has a width also where all rows are right, or
    none is. Its ends are the 2.5th and the 97.5th percentile of 2,000 draws, and it holds the value
    itself.

    Args:
        counts: int64 [true, predicted], as for ``f1_of_labels``.
        n: The number of rows that count; it may be a fraction.
    """
    cells = counts + SPREAD_ROWS / counts.size
    generator, shares = np.random.default_rng(0), (cells / cells.sum()).ravel()
    means: list[np.ndarray] = []
    at_once = max(1, DRAWN_AT_ONCE // counts.size)
    for begin in range(0, DRAWS, at_once):
        drawn = generator.multinomial(max(1, round(n)), shares, min(at_once, DRAWS - begin))
        means.append(np.nanmean(f1_of_labels(drawn.reshape(-1, *counts.shape)), -1))
    low, high = np.quantile(np.concatenate(means), (0.025, 0.975))
    value = float(np.nanmean(f1_of_labels(counts)))
    return min(float(low), value), max(float(high), value)
