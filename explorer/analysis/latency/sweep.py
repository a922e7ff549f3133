"""Latency over many lengths or batch sizes, and where which model is the faster."""

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
"""A point's budget: time for so many rounds, if a round grows somewhat faster than its tokens, but
never more than so many seconds."""


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """One measurement per point, all by the same protocol."""

    axis: str
    """``length`` or ``batch``."""
    points: tuple[FamilyLatency, ...]
    too_much: str = ""
    """Why the sweep ended before its last point, in one sentence; empty if it did not."""

    late: int = 0
    """Where it ended because not one round was over in time; 0 if it did not."""

    asked: int = 0
    """How many points are to be measured; 0 where that is not known."""

    @property
    def is_over(self) -> bool:
        """Whether no further point comes."""
        return bool(self.too_much or self.late) or len(self.points) >= self.asked

    def position(self, point: FamilyLatency) -> int:
        """Where a point stands on the axis."""
        return int(getattr(point.workload, self.axis))


@dataclass(frozen=True, slots=True)
class Order:
    """One model against the first, over a sweep: where which of them is surely the faster."""

    name: str
    faster: tuple[int, ...]
    """The points at which the whole interval of its ratio says that it takes less time."""
    slower: tuple[int, ...]
    open: tuple[int, ...]
    """The points whose interval holds 1, or has no ends."""


def measure_sweep(
    specs: Sequence[ModelSpec],
    points: Sequence[Workload],
    plan: RoundsPlan,
    cancel_token: CancelToken,
) -> Iterator[Sweep]:
    """Time a family at every point in turn; yields after each round and after each point.

    A point that the machine cannot hold, or not run in time, ends the sweep with its sentence.
    """
    axis = "batch" if len({w.batch for w in points}) > 1 else "length"
    done: tuple[FamilyLatency, ...] = ()
    yield Sweep(axis, done, asked=len(points))
    for workload in points:
        enough = replace(plan, budget_s=max(plan.budget_s, budget_of(done[-1:], workload)))
        try:
            *_, final = measure_family(specs, workload, enough, cancel_token)
        except BadWorkload as error:
            yield Sweep(axis, done, str(error))
            return
        if final.latency.ended == "stopped":
            return
        if not final.latency.n_rounds:
            yield Sweep(axis, done, late=getattr(workload, axis))
            return
        done = (*done, final)
        yield Sweep(axis, done, asked=len(points))


def sweep_points(workload: Workload, axis: str) -> list[Workload]:
    """The pass at every length with its batch kept, or at every batch with its length kept."""
    values = LENGTHS if axis == "length" else BATCHES
    return [
        replace(workload, length=v) if axis == "length" else replace(workload, batch=v)
        for v in values
    ]


def budget_of(before: Sequence[FamilyLatency], workload: Workload) -> float:
    """Seconds in which a point gets rounds enough for an interval, by the point before it."""
    if not before:
        return 0.0
    latency, grown = before[0].latency, workload.tokens / before[0].workload.tokens
    a_round = float((latency.seconds.sum(1) + latency.control).mean())
    return min(MOST_S, ROUNDS * a_round * STEEPER * grown)


def orders(sweep: Sweep) -> tuple[Order, ...]:
    """Every other model against the first: each point is in one of the three lists."""
    found = []
    for spec in sweep.points[0].specs[1:] if sweep.points else ():
        sides: dict[int, list[int]] = {1: [], -1: [], 0: []}
        for point in sweep.points:
            sides[_side(point, spec.name)].append(sweep.position(point))
        found.append(Order(spec.name, *(tuple(sides[side]) for side in (-1, 1, 0))))
    return tuple(found)


def _side(point: FamilyLatency, name: str) -> int:
    """1 where the model is surely slower than the first, -1 where it is faster, 0 where open."""
    ratio = point.summary.ratio(name)
    if ratio is None or not ratio.ratio.is_sure or ratio.ratio.holds_one:
        return 0
    return 1 if ratio.ratio.ratio < 1 else -1
