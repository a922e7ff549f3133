"""Latency over several lengths or batch sizes, and the faster model at each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from explorer.analysis.latency.family import FamilyLatency, measure_family
from explorer.analysis.latency.measure import RoundsPlan
from explorer.inference.scheduling.cancel import CancelToken
from explorer.models.specs import ModelSpec
from explorer.timing.workload import BadWorkload, Workload

LENGTHS: tuple[int, ...] = (16, 32, 64, 128, 256, 512)
BATCHES: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
ROUNDS, STEEPER, MOST_S = 10, 1.3, 90.0
"""Budget of a point: seconds for ``ROUNDS`` rounds, whose time grows ``STEEPER`` times faster than
the tokens, but at most ``MOST_S``."""


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """Measurements at several points, all by the same protocol."""

    axis: str
    """``length`` or ``batch``."""
    points: tuple[FamilyLatency, ...]
    refusal: str = ""
    """Reason, in one sentence, if a point did not fit the machine; else empty."""

    late_point: int = 0
    """Point without a complete round in time, which ended the sweep; else 0."""

    n_points: int = 0
    """Number of points to measure; 0 where unknown."""

    @property
    def is_over(self) -> bool:
        """Return whether no further point follows."""
        return bool(self.refusal or self.late_point) or len(self.points) >= self.n_points

    def position(self, point: FamilyLatency) -> int:
        """Return the length or batch size of a point."""
        return int(getattr(point.workload, self.axis))


@dataclass(frozen=True, slots=True)
class SpeedOrder:
    """Comparison of one model with the first over a sweep: points where it is faster or slower."""

    name: str
    faster: tuple[int, ...]
    """Points where the model takes less time by the whole interval of the ratio."""
    slower: tuple[int, ...]
    undecided: tuple[int, ...]
    """Points whose interval contains 1 or is unbounded."""


def measure_sweep(
    specs: Sequence[ModelSpec],
    points: Sequence[Workload],
    plan: RoundsPlan,
    cancel_token: CancelToken,
) -> Iterator[Sweep]:
    """Time a family at every point in turn; yields at the start and after each point.

    A point that does not fit the machine, or has no round in time, ends the sweep.
    """
    axis = "batch" if len({w.batch for w in points}) > 1 else "length"
    finished: tuple[FamilyLatency, ...] = ()
    yield Sweep(axis, finished, n_points=len(points))
    for workload in points:
        longer_plan = replace(plan, budget_s=max(plan.budget_s, budget_of(finished[-1:], workload)))
        try:
            *_, final = measure_family(specs, workload, longer_plan, cancel_token)
        except BadWorkload as error:
            yield Sweep(axis, finished, str(error))
            return
        if final.latency.ended == "stopped":
            return
        if not final.latency.n_rounds:
            yield Sweep(axis, finished, late_point=getattr(workload, axis))
            return
        finished = (*finished, final)
        yield Sweep(axis, finished, n_points=len(points))


def sweep_points(workload: Workload, axis: str) -> list[Workload]:
    """Return the workload at every length, or at every batch size, with the rest unchanged."""
    values = LENGTHS if axis == "length" else BATCHES
    return [
        replace(workload, length=v) if axis == "length" else replace(workload, batch=v)
        for v in values
    ]


def budget_of(before: Sequence[FamilyLatency], workload: Workload) -> float:
    """Estimate the seconds for enough rounds for an interval from the previous point."""
    if not before:
        return 0.0
    latency, growth = before[0].latency, workload.tokens / before[0].workload.tokens
    round_s = float((latency.seconds.sum(1) + latency.control).mean())
    return min(MOST_S, ROUNDS * round_s * STEEPER * growth)


def orders(sweep: Sweep) -> tuple[SpeedOrder, ...]:
    """Compare every other model with the first; each point is in one of the three lists."""
    results = []
    for spec in sweep.points[0].specs[1:] if sweep.points else ():
        sides: dict[int, list[int]] = {1: [], -1: [], 0: []}
        for point in sweep.points:
            sides[_side(point, spec.name)].append(sweep.position(point))
        results.append(SpeedOrder(spec.name, *(tuple(sides[side]) for side in (-1, 1, 0))))
    return tuple(results)


def _side(point: FamilyLatency, name: str) -> int:
    """Return 1 where the model is slower than the first, -1 where faster, 0 where undecided."""
    ratio = point.summary.ratio(name)
    if ratio is None or not ratio.ratio.is_sure or ratio.ratio.holds_one:
        return 0
    return 1 if ratio.ratio.ratio < 1 else -1
