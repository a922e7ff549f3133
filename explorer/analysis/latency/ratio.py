"""Ratios of times measured side by side, with their confidence intervals."""

from dataclasses import dataclass, replace

import numpy as np

ONE_IN = 100
"""Error rate of each end of an interval: at most 1 in this many. Stricter than 95% needs, because
measuring ends as soon as the intervals look narrow."""
MIN_INTERVAL = 7
BETWEEN_PRESSES = 0.03
"""Relative allowance for the variance between separate measurements beyond that between blocks:
0.7% over ten measurements in BENCHMARKS.md (``python -m benchmarks latency --presses 10``),
more over longer times."""
MIN_P90 = 44
"""Fewest samples for a 90th percentile (99% confidence, no overrun)."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Ratio of two times with its 95% interval."""

    ratio: float
    low: float
    high: float
    n_rounds: int

    @property
    def holds_one(self) -> bool:
        """Return whether the interval contains 1, no difference."""
        return self.low <= 1.0 <= self.high

    @property
    def is_sure(self) -> bool:
        """Return whether there were enough rounds for an interval."""
        return self.low > 0 and self.high < float("inf")

    @property
    def inverse(self) -> "Ratio":
        """The ratio of the second time to the first, with its interval."""
        high = 1 / self.low if self.low else float("inf")
        return Ratio(1 / self.ratio, 1 / self.high, high, self.n_rounds)


def paired_ratio(
    numerator: np.ndarray, denominator: np.ndarray, blocks: np.ndarray | None = None
) -> Ratio:
    """Compute a ratio of times paired by round: the median over blocks.

    Each round gives one ratio of two times taken side by side, so that slow periods cancel. Rounds
    of one block share a state of the machine: they agree with each other more than with another
    measurement. A block therefore counts once, by the median of its rounds, and the interval is
    that of the median over blocks: two of the blocks' ratios, by exact ranks, for any
    distribution. A t interval would assume a normal distribution, which does not hold on a
    machine that changes its state now and then.

    Args:
        numerator: seconds [round].
        denominator: seconds [round], the same rounds.
        blocks: the block of each round [round], ascending; None: every round is its own block.

    Raises:
        ValueError: no rounds, or two different numbers of rounds.
    """
    if numerator.shape != denominator.shape or not numerator.size:
        raise ValueError(
            f"ratios need the same rounds on both sides: {numerator.shape}, {denominator.shape}"
        )
    ratios = numerator / denominator
    if blocks is not None:
        ratios = block_medians(ratios, blocks)
    return Ratio(float(np.median(ratios)), *median_interval(ratios), len(numerator))


def widened(ratio: Ratio, allowance: float = BETWEEN_PRESSES) -> Ratio:
    """Widen a ratio's interval by the variance between separate measurements.

    Both errors are independent, so their squares add, on a logarithmic scale.
    """
    if not ratio.is_sure:
        return ratio
    down, up = np.log(ratio.ratio / ratio.low), np.log(ratio.high / ratio.ratio)
    between = np.log1p(allowance)
    low, high = (float(np.exp(np.hypot(side, between))) for side in (down, up))
    return replace(ratio, low=ratio.ratio / low, high=ratio.ratio * high)


def block_medians(values: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Compute the median of each block's values, in the order of the blocks."""
    first = np.flatnonzero(np.diff(blocks)) + 1
    return np.array([np.median(block) for block in np.split(values, first)])


def median_interval(values: np.ndarray) -> tuple[float, float]:
    """Compute the interval of the median of values [n], two of them, by exact binomial ranks.

    Fewer than 7 values have no such interval; the result is then 0 to infinity.
    """
    if len(values) < MIN_INTERVAL:
        return 0.0, float("inf")
    rank, ordered = _outer_rank(len(values)), np.sort(values)
    return float(ordered[rank]), float(ordered[-1 - rank])


def _outer_rank(n: int) -> int:
    """Return the number of n sorted values to leave out below the interval of their median.

    In integers, exact for any n: of the 2^n ways to fall on either side of the median, those with
    at most this many values below it are at most one in ``ONE_IN``.
    """
    rank, total, count = 0, 1, 1
    while ONE_IN * (total + (next_count := count * (n - rank) // (rank + 1))) <= 2**n:
        rank, total, count = rank + 1, total + next_count, next_count
    return rank


def p90(values: np.ndarray) -> float | None:
    """Compute the 90th percentile; None for fewer than 44 samples."""
    return float(np.percentile(values, 90)) if len(values) >= MIN_P90 else None


def is_different(ratio: Ratio, control: Ratio) -> bool:
    """Return whether two models differ by more than one model may differ from itself here.

    The threshold is the far end of the self-check's interval, in either direction, not its point
    estimate, which may be 1 by chance.
    """
    if not control.is_sure:
        return False
    threshold = max(control.high, 1 / control.low)
    return ratio.low > threshold or ratio.high < 1 / threshold
