"""Summary of a measurement: medians, ratios, self-check, and whether they may be reported."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.latency.measure import (
    MIN_ROUNDS,
    Latency,
    is_too_disturbed,
    ratio_rounds,
)
from explorer.analysis.latency.ratio import (
    Ratio,
    block_medians,
    is_different,
    median_interval,
    p90,
    paired_ratio,
    widened,
)
from explorer.refusal import Refusal, Sentence


@dataclass(frozen=True, slots=True, eq=False)
class ModelLatency:
    """One candidate's times, in milliseconds."""

    name: str
    median_ms: float
    low_ms: float
    high_ms: float
    p90_ms: float | None
    samples_ms: np.ndarray
    """Samples of all rounds, in order."""
    first_call_ms: float


@dataclass(frozen=True, slots=True)
class LatencyRatio:
    """Ratio of the time of ``numerator`` to that of ``denominator``."""

    numerator: str
    denominator: str
    ratio: Ratio
    """Ratio with its interval widened by the variance between measurements."""
    is_different: bool
    """True where the interval lies outside the difference of one model from itself."""


@dataclass(frozen=True, slots=True)
class LatencySummary:
    """Summary of one measurement."""

    models: tuple[ModelLatency, ...]
    ratios: tuple[LatencyRatio, ...]
    """Ratios of the first candidate to each other one; empty where ``refused``."""
    self_check: Ratio | None
    """Ratio of the first candidate to itself, timed in the same rounds."""
    n_rounds: int
    n_used: int
    """Rounds that times and ratios are from; 0 where all were disturbed, and times are from all."""
    n_blocks: int
    """Number of blocks that the intervals are over."""
    disturbed_share: float | None
    """Share of disturbed rounds; None where waiting for a CPU is not measurable."""
    refused: bool
    """True if ratios are withheld: more than half of the wall-clock rounds were disturbed."""
    ended: str
    wall_s: float
    cpu: "LatencySummary | None" = None
    """Summary of the processor time of one thread in the same measurement, if it was timed."""

    @property
    def holds(self) -> bool:
        """Return whether there were undisturbed rounds enough to report these times."""
        return not self.refused and self.n_used >= MIN_ROUNDS

    @property
    def reported(self) -> "LatencySummary | None":
        """The summary to report: this one, else that of processor time, else None."""
        if self.holds:
            return self
        return self.cpu if self.cpu is not None and self.cpu.holds else None

    def model(self, name: str) -> ModelLatency:
        """Return one candidate's times by name."""
        return next(m for m in self.models if m.name == name)

    def ratio(self, denominator: str) -> LatencyRatio | None:
        """Return the ratio of the first candidate to another one; None where there is none."""
        return next((r for r in self.ratios if r.denominator == denominator), None)


def latency_summary(latency: Latency, quiet_only: bool = False) -> LatencySummary:
    """Compute medians and paired ratios of a measurement with at least one round.

    Args:
        latency: the measurement.
        quiet_only: take ratios from undisturbed rounds only, and none if these are the minority
            (for the wall clock; CPU time does not need it).

    Raises:
        Refusal: no complete round.
    """
    if not latency.n_rounds:
        raise Refusal(
            Sentence(
                "no-round-measured",
                "Nothing was measured: it ended before the first round was complete.",
            )
        )
    share = float(np.mean(latency.disturbed)) if latency.sees_neighbours else None
    refused = is_too_disturbed(latency, quiet_only)
    quiet = ratio_rounds(latency, quiet_only)
    used = quiet if quiet.n_rounds else latency
    control = None if refused else paired_ratio(used.seconds[:, 0], used.control, used.blocks)
    return LatencySummary(
        tuple(_model(latency, used, i) for i in range(len(latency.names))),
        () if control is None else _ratios(used, control),
        control,
        latency.n_rounds,
        quiet.n_rounds,
        used.n_rounds if used.blocks is None else len(np.unique(used.blocks)),
        share,
        refused,
        latency.ended,
        latency.wall_s,
        None if latency.cpu is None else latency_summary(latency.cpu),
    )


def _ratios(rounds: Latency, control: Ratio) -> tuple[LatencyRatio, ...]:
    base = rounds.seconds[:, 0]
    ratios = []
    for i, name in enumerate(rounds.names[1:], start=1):
        ratio = widened(paired_ratio(base, rounds.seconds[:, i], rounds.blocks))
        ratios.append(LatencyRatio(rounds.names[0], name, ratio, is_different(ratio, control)))
    return tuple(ratios)


def _model(latency: Latency, rounds: Latency, index: int) -> ModelLatency:
    samples = 1e3 * latency.seconds[:, index]
    used = 1e3 * rounds.seconds[:, index]
    low, high = median_interval(
        used if rounds.blocks is None else block_medians(used, rounds.blocks)
    )
    median = float(np.median(used))
    return ModelLatency(
        latency.names[index],
        median,
        # The median of all samples can lie outside the interval of the blocks' medians.
        min(low, median),
        max(high, median),
        p90(used),
        samples,
        1e3 * latency.first_call_s[index],
    )
