"""Latency over many lengths or batch sizes, and where the models change places."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from explorer.analysis.latency.family import FamilyLatency, measure_family
from explorer.analysis.latency.measure import Plan
from explorer.models.specs import ModelSpec
from explorer.timing.stop import StopSign
from explorer.timing.workload import BadWorkload, Workload

LENGTHS: tuple[int, ...] = (16, 32, 64, 128, 256, 512)
BATCHES: tuple[int, ...] = (1, 2, 4, 8, 16, 32)


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
class Crossing:
    """Two neighbouring points of a sweep between which two models change places."""

    name: str
    """The model that is compared with the first one."""
    before: int
    after: int
    becomes_slower: bool
    """Whether it is the slower one after the crossing."""


def measure_sweep(
    specs: Sequence[ModelSpec], points: Sequence[Workload], plan: Plan, sign: StopSign
) -> Iterator[Sweep]:
    """Time a family at every point in turn; yields after each round and after each point.

    A point that the machine cannot hold, or not run in time, ends the sweep with its sentence.
    """
    axis = "batch" if len({w.batch for w in points}) > 1 else "length"
    done: tuple[FamilyLatency, ...] = ()
    yield Sweep(axis, done, asked=len(points))
    for workload in points:
        try:
            *_, final = measure_family(specs, workload, plan, sign)
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


def crossings(sweep: Sweep) -> tuple[Crossing, ...]:
    """Where a model that was faster than the first becomes slower, or the reverse.

    Only points where the difference clears the self-check count; between them the order is open.
    """
    found = []
    for name in [spec.name for spec in sweep.points[0].specs[1:]] if sweep.points else []:
        sides = [(sweep.position(p), side) for p in sweep.points if (side := _side(p, name))]
        for (before, was), (after, now) in itertools.pairwise(sides):
            if was != now:
                found.append(Crossing(name, before, after, now > 0))
    return tuple(found)


def unsure_crossings(sweep: Sweep) -> tuple[Crossing, ...]:
    """Where a drawn line crosses the first model's, but no order before and after it is sure."""
    sure, found = crossings(sweep), []
    for name in [spec.name for spec in sweep.points[0].specs[1:]] if sweep.points else []:
        ratios = [(sweep.position(p), p.summary.ratio(name)) for p in sweep.points]
        given = [(at, one.ratio.ratio) for at, one in ratios if one is not None]
        for (before, was), (after, now) in itertools.pairwise(given):
            told = any(c.name == name and c.before <= before and after <= c.after for c in sure)
            if (was < 1) != (now < 1) and not told:
                found.append(Crossing(name, before, after, now < 1))
    return tuple(found)


def _side(point: FamilyLatency, name: str) -> int:
    """1 where the model is slower than the first, -1 where it is faster, 0 where it is open."""
    ratio = point.summary.ratio(name)
    if ratio is None or not ratio.is_different:
        return 0
    return 1 if ratio.ratio.ratio < 1 else -1
