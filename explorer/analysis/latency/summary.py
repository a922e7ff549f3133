"""What a measurement says: medians, ratios with intervals, and how far to trust them."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.latency.measure import Latency, ratio_rounds
from explorer.analysis.latency.ratio import (
    Ratio,
    block_medians,
    is_different,
    median_interval,
    p90,
    paired_ratio,
    widened,
)
from explorer.refusal import Refusal

TOO_DISTURBED = 0.5
"""Share of disturbed rounds above which wall-clock ratios are not given."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelLatency:
    """One candidate's times, in milliseconds."""

    name: str
    median_ms: float
    low_ms: float
    high_ms: float
    p90_ms: float | None
    samples_ms: np.ndarray
    """Every sample, in the order taken."""
    first_call_ms: float


@dataclass(frozen=True, slots=True)
class LatencyRatio:
    """How many times longer ``of`` takes than ``over``."""

    of: str
    over: str
    ratio: Ratio
    """Its interval holds what another press would differ by, too."""
    is_different: bool
    """Whether the interval clears the difference of one model from itself."""


@dataclass(frozen=True, slots=True)
class LatencySummary:
    """Everything a reader is told about one measurement."""

    models: tuple[ModelLatency, ...]
    ratios: tuple[LatencyRatio, ...]
    """The first candidate over each other; empty when the neighbours were too loud."""
    self_check: Ratio | None
    """The first candidate over itself, timed in the same rounds."""
    n_rounds: int
    n_blocks: int
    """What the intervals are over."""
    disturbed_share: float | None
    """Share of rounds in which neighbours took visible time; None where it cannot be seen."""
    refused: bool
    """Ratios are withheld: more than half of the wall-clock rounds were disturbed."""
    ended: str
    wall_s: float

    def model(self, name: str) -> ModelLatency:
        """One candidate's times by name."""
        return next(m for m in self.models if m.name == name)

    def ratio(self, over: str) -> LatencyRatio | None:
        """The first candidate over another one, if ratios are given."""
        return next((r for r in self.ratios if r.over == over), None)


def latency_summary(latency: Latency, quiet_only: bool = False) -> LatencySummary:
    """Medians and paired ratios of a measurement with at least one round.

    Args:
        latency: the rounds.
        quiet_only: take ratios from undisturbed rounds, and none at all when these are the
            minority (the wall clock; processor time does not need it).

    Raises:
        Refusal: not one complete round.
    """
    if not latency.n_rounds:
        raise Refusal("Nothing was measured: it ended before the first round was complete.")
    share = float(np.mean(latency.disturbed)) if latency.sees_neighbours else None
    refused = quiet_only and share is not None and share > TOO_DISTURBED
    kept = latency if refused else ratio_rounds(latency, quiet_only)
    control = None if refused else paired_ratio(kept.seconds[:, 0], kept.control, kept.blocks)
    return LatencySummary(
        tuple(_model(latency, kept, i) for i in range(len(latency.names))),
        () if control is None else _ratios(kept, control),
        control,
        latency.n_rounds,
        latency.n_rounds if latency.blocks is None else len(np.unique(latency.blocks)),
        share,
        refused,
        latency.ended,
        latency.wall_s,
    )


def _ratios(kept: Latency, control: Ratio) -> tuple[LatencyRatio, ...]:
    base = kept.seconds[:, 0]
    found = []
    for i, name in enumerate(kept.names[1:], start=1):
        ratio = widened(paired_ratio(base, kept.seconds[:, i], kept.blocks))
        found.append(LatencyRatio(kept.names[0], name, ratio, is_different(ratio, control)))
    return tuple(found)


def _model(latency: Latency, kept: Latency, index: int) -> ModelLatency:
    samples = 1e3 * latency.seconds[:, index]
    used = 1e3 * kept.seconds[:, index]
    low, high = median_interval(used if kept.blocks is None else block_medians(used, kept.blocks))
    median = float(np.median(used))
    return ModelLatency(
        latency.names[index],
        median,
        # The median of all samples is not always one between the blocks' own.
        min(low, median),
        max(high, median),
        p90(used),
        samples,
        1e3 * latency.first_call_s[index],
    )
