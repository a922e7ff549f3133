"""Ratios of times measured side by side: how much faster, and how sure of it."""

from dataclasses import dataclass, replace

import numpy as np

ONE_IN = 100
"""Each end of an interval is wrong at most once in this many times: more often right than the 95
in 100 that are promised, for measuring ends as soon as the intervals look narrow."""
MIN_INTERVAL = 7
BETWEEN_PRESSES = 0.03
"""An allowance for what separate presses differ by beyond what the blocks of one show, relative:
0.7% over ten presses in BENCHMARKS.md (``python -m benchmarks latency --presses 10``), more
over longer times."""
MIN_P90 = 44
"""Samples below which a 90th percentile is a guess (99% confidence, no overrun)."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of two times and its 95% interval."""

    ratio: float
    low: float
    high: float
    n_rounds: int

    @property
    def holds_one(self) -> bool:
        """Whether "no difference" is inside the interval."""
        return self.low <= 1.0 <= self.high

    @property
    def is_sure(self) -> bool:
        """Whether there were rounds enough for an interval."""
        return self.low > 0 and self.high < float("inf")

    @property
    def inverse(self) -> "Ratio":
        """The same comparison read the other way, its interval turned with it."""
        high = 1 / self.low if self.low else float("inf")
        return Ratio(1 / self.ratio, 1 / self.high, high, self.n_rounds)


def paired_ratio(of: np.ndarray, over: np.ndarray, blocks: np.ndarray | None = None) -> Ratio:
    """How many times longer ``of`` takes than ``over``: the median of the blocks' own ratios.

    Each round gives one ratio of two times taken side by side, so slow stretches cancel. Rounds
    of one block share the state that the machine was in: many of them agree with each other and
    not with the next press. A block therefore counts once, by the median of its rounds, and the
    interval is that of the median over blocks: two of the blocks' ratios themselves, by exact
    ranks, whatever their distribution. A t interval would ask that it be the normal one, and
    with a machine that is now and then in another state it is not.

    Args:
        of: seconds [round].
        over: seconds [round], the same rounds.
        blocks: the block of each round [round], rising; none: every round is one of its own.

    Raises:
        ValueError: no rounds, or rounds that do not belong together.
    """
    if of.shape != over.shape or not of.size:
        raise ValueError(f"ratios need the same rounds on both sides: {of.shape}, {over.shape}")
    ratios = of / over
    if blocks is not None:
        ratios = block_medians(ratios, blocks)
    return Ratio(float(np.median(ratios)), *median_interval(ratios), len(of))


def widened(ratio: Ratio, by: float = BETWEEN_PRESSES) -> Ratio:
    """The same ratio, its interval widened to hold what another press differs by.

    Both errors are independent, so their squares add, on the scale of logarithms.
    """
    if not ratio.is_sure:
        return ratio
    down, up = np.log(ratio.ratio / ratio.low), np.log(ratio.high / ratio.ratio)
    between = np.log1p(by)
    low, high = (float(np.exp(np.hypot(side, between))) for side in (down, up))
    return replace(ratio, low=ratio.ratio / low, high=ratio.ratio * high)


def block_medians(values: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """The median of each block's values, in the order of the blocks."""
    first = np.flatnonzero(np.diff(blocks)) + 1
    return np.array([np.median(block) for block in np.split(values, first)])


def median_interval(values: np.ndarray) -> tuple[float, float]:
    """The interval of a median, values [n]: from one of them to another, by exact binomial ranks.

    Below 7 values nothing is sure enough, and the interval is everything.
    """
    if len(values) < MIN_INTERVAL:
        return 0.0, float("inf")
    rank, ordered = _outer_rank(len(values)), np.sort(values)
    return float(ordered[rank]), float(ordered[-1 - rank])


def _outer_rank(n: int) -> int:
    """How many of n values may lie below the interval of their median.

    In whole numbers, exact for any n: of the 2^n ways to fall on either side of the median, those
    with at most this many below it are at most one in ``ONE_IN``.
    """
    rank, ways, sides = 0, 1, 1
    while ONE_IN * (ways + (more := sides * (n - rank) // (rank + 1))) <= 2**n:
        rank, ways, sides = rank + 1, ways + more, more
    return rank


def p90(values: np.ndarray) -> float | None:
    """The time that nine in ten stay under; None below 44 samples."""
    return float(np.percentile(values, 90)) if len(values) >= MIN_P90 else None


def is_different(ratio: Ratio, control: Ratio) -> bool:
    """Whether two models differ by more than one model may differ from itself here.

    The line is the far end of the self-check's interval, either way round, not its point: the
    point of one measurement may lie at 1 by luck.
    """
    if not control.is_sure:
        return False
    line = max(control.high, 1 / control.low)
    return ratio.low > line or ratio.high < 1 / line
