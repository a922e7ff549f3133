"""Latency of a family measured side by side, at one length or several; roofline of this machine."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

from explorer.analysis.latency.measure import Instruments, Latency, RoundsPlan, latency_rounds
from explorer.analysis.latency.passes import (
    ModelOnDevice,
    TimedPass,
    process_for,
    rows_of,
    timed_passes,
)
from explorer.analysis.latency.ratio import MIN_P90, Ratio
from explorer.analysis.latency.summary import LatencySummary, latency_summary
from explorer.analysis.parameters.shape import forward_flops
from explorer.models.choice.family import layer_counts, shape_total
from explorer.models.specs import ModelSpec
from explorer.refusal import Refusal, Sentence
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.timing.workload import BadWorkload, Workload

PASS_ALLOWANCE = 2.0
"""Deadline of a measurement in multiples of its budget; it may interrupt a forward pass."""
DRAW_S = 240.0
"""Most seconds for drawing random weights or loading a checkpoint."""
LENGTHS: tuple[int, ...] = (16, 32, 64, 128, 256, 512)
BATCHES: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
ROUNDS, STEEPER, MAX_S = 10, 1.3, 90.0
"""Budget of a point: seconds for ``ROUNDS`` rounds, whose time grows ``STEEPER`` times faster than
the tokens, but at most ``MAX_S``."""


@dataclass(frozen=True, eq=False)
class FamilyLatency:
    """Measurement of several models on one workload, on one device or on several."""

    specs: tuple[ModelSpec, ...]
    workload: Workload
    latency: Latency
    weights: tuple[str, ...]
    """Per row: ``bundled``, ``checkpoint`` or ``random``."""
    threads: int
    weight_bytes: tuple[int, ...]
    """Per row: bytes of the weights in memory for this workload."""
    devices: tuple[str, ...] = ()
    """Devices, if several were measured; empty: only the workload's."""

    @property
    def rows(self) -> tuple[ModelOnDevice, ...]:
        """The measured rows, in the order of the measurement."""
        return rows_of(self.specs, self.workload, self.devices)

    @cached_property
    def summary(self) -> LatencySummary:
        """The medians, ratios and self-check."""
        return latency_summary(self.latency, quiet_only=self.workload.clock == "wait")

    def gflops(self, spec: ModelSpec) -> float:
        """Return the operations of one forward pass, in 10^9."""
        return pass_flops(spec, self.workload) / 1e9

    def rates(self, spec: ModelSpec, ms: float) -> tuple[float, float]:
        """Return tokens and 10^9 operations per second, of a pass that takes ``ms``."""
        return 1e3 * self.workload.tokens / ms, 1e3 * self.gflops(spec) / ms


def pass_flops(spec: ModelSpec, workload: Workload) -> int:
    """Count the floating-point operations of one forward pass of a workload."""
    return forward_flops(spec, workload.length, workload.batch, workload.head)


def stored_parameters(spec: ModelSpec) -> int:
    """Count the parameters stored by encoder and pooler, a shared layer once."""
    return shape_total(spec.architecture)


def plan_for(workload: Workload, budget_s: float = 20.0, repeats: int | None = None) -> RoundsPlan:
    """Return a plan that ends when the intervals are narrow, or after exactly ``repeats`` rounds.

    A budget above the default raises the minimum rounds to those that a 90th percentile needs.
    """
    quiet_only, default = workload.clock == "wait", RoundsPlan()
    if repeats is None:
        min_rounds = MIN_P90 if budget_s > default.budget_s else default.min_rounds
        return RoundsPlan(budget_s=budget_s, min_rounds=min_rounds, quiet_only=quiet_only)
    return RoundsPlan(budget_s, repeats, repeats, 0.0, 3, quiet_only)


def measure_family(
    specs: Sequence[ModelSpec],
    workload: Workload,
    plan: RoundsPlan,
    cancel_token: CancelToken,
    devices: Sequence[str] = (),
) -> Iterator[FamilyLatency]:
    """Time every model of a family on one workload, interleaved; yields after every round.

    The calling thread does the timing, so it must not run an event loop.

    Args:
        specs: the models.
        workload: shape and device of the forward pass.
        plan: budget and stopping rule.
        cancel_token: cancels the measurement.
        devices: devices to measure in the same rounds, each by its own clock, the CPU first;
            empty: the workload's device.

    Raises:
        BadWorkload: a device is missing, or the machine has too little memory.
    """
    rows = rows_of(specs, workload, devices)
    cancel_token.set_deadline(DRAW_S)
    cancel_token.stage = "build"
    with ExitStack() as stack:
        process = process_for(rows, cancel_token, stack)
        passes = timed_passes(rows, process, cancel_token, stack)
        yield from _rounds(specs, workload, devices, passes, plan, cancel_token)


def _rounds(  # noqa: PLR0913 - what the result names, and what is timed
    specs: Sequence[ModelSpec],
    workload: Workload,
    devices: Sequence[str],
    passes: Sequence[TimedPass],
    plan: RoundsPlan,
    cancel_token: CancelToken,
) -> Iterator[FamilyLatency]:
    """Time the passes; yields after every round."""
    plan = replace(plan, budget_s=min(plan.budget_s, cancel_token.left_s))
    cancel_token.set_deadline(PASS_ALLOWANCE * plan.budget_s)
    cancel_token.stage = "rounds"
    calls = [one.call for one in passes]
    weights = tuple(one.weights for one in passes)
    n_bytes = tuple(one.n_bytes for one in passes)
    with instruments_for(workload) as (instruments, threads):
        for latency in latency_rounds(calls, instruments, plan, cancel_token.check):
            yield FamilyLatency(
                tuple(specs), workload, latency, weights, threads, n_bytes, tuple(devices)
            )


def family_peaks(
    rows: Sequence[ModelOnDevice], cancel_token: CancelToken
) -> tuple[int | None, ...]:
    """Measure the peak extra bytes of one forward pass of each model, after a warm-up pass.

    None for models that were not reached before the deadline.

    Raises:
        Cancelled: ``cancel_token`` was cancelled.
    """
    from explorer.timing.protocol import pass_peak

    peaks: list[int | None] = []
    try:
        for row in rows:
            peaks.append(pass_peak(row.spec, row.workload, cancel_token.check))
    except Cancelled as stopped:
        if stopped.reason != "deadline":
            raise
    return (*peaks, *(None for _ in rows[len(peaks) :]))


@contextmanager
def instruments_for(workload: Workload) -> Iterator[tuple[Instruments, int]]:
    """Set up the clocks of a workload and torch's number of threads for the calling thread."""
    import time

    from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
    from explorer.timing.protocol import stolen_seconds, stopwatch, thread_width

    with thread_width(workload.clock) as threads:
        yield (
            Instruments(
                stopwatch(workload),
                time.perf_counter,
                stolen_seconds,
                time.sleep,
                MEASUREMENT_LOCK.yield_to_visitors,
                lambda: MEASUREMENT_LOCK.yielded_s,
            ),
            threads,
        )


def last(states: Iterator[FamilyLatency]) -> FamilyLatency:
    """Run a measurement to its end and return its final state.

    Raises:
        Refusal: the measurement yielded nothing.
    """
    final = None
    for state in states:
        final = state
    if final is None:
        raise Refusal(Sentence("nothing-measured", "Nothing was measured."))
    return final


def streamed_bytes(spec: ModelSpec, dtype: str) -> tuple[int, int]:
    """Return the bytes of layer weights that one pass reads, and those of distinct weights."""
    size = 4 if dtype == "float32" else 2
    layer = size * sum(layer_counts(spec.architecture).values())
    n_layers = spec.architecture.n_layers
    return n_layers * layer, layer * (1 if spec.architecture.shares_layers else n_layers)


@dataclass(frozen=True, slots=True)
class Roofline:
    """Roofline of one model's forward pass: the machine's two limits and the time by each."""

    key: str
    name: str
    peak_gflops: float
    """10^9 operations per second of a large matrix product."""
    bandwidth_gb: float
    """10^9 bytes per second, from the level of memory that this model's layers fit in."""
    streamed_bytes: int
    """Bytes of layer weights that one pass reads, a shared layer at each use."""
    working_set: int
    """Bytes of distinct layer weights, which have to fit into a cache to be read from it."""
    arithmetic_ms: float
    memory_ms: float

    @property
    def bound_ms(self) -> float:
        """The lower bound on the time of a pass: the larger of the two times."""
        return max(self.arithmetic_ms, self.memory_ms)

    @property
    def bound_by(self) -> str:
        """The limiting resource: ``arithmetic`` or ``memory``."""
        return "arithmetic" if self.arithmetic_ms >= self.memory_ms else "memory"


def roofline(spec: ModelSpec, workload: Workload, peak: float, bandwidth: float) -> Roofline:
    """Compute a pass's limits from operations per second and bytes per second."""
    streamed, distinct = streamed_bytes(spec, workload.dtype)
    return Roofline(
        spec.key,
        spec.name,
        peak / 1e9,
        bandwidth / 1e9,
        streamed,
        distinct,
        1e3 * pass_flops(spec, workload) / peak,
        1e3 * streamed / bandwidth,
    )


def measure_limits(
    specs: "Sequence[ModelSpec]", workload: Workload, cancel_token: CancelToken
) -> "Iterator[tuple[Roofline, ...]]":
    """Measure the machine's limits for each model; yields after each, within a few seconds.

    The best rates measured so far in this process count.
    """
    from explorer.timing.machine import peak_flops, read_bandwidth

    limits: tuple[Roofline, ...] = ()
    for spec in specs:
        cancel_token.check()
        peak = peak_flops(workload.device, workload.dtype, workload.clock)
        working_set = streamed_bytes(spec, workload.dtype)[1]
        bandwidth = read_bandwidth(working_set, workload.device, workload.clock)
        limits = (*limits, roofline(spec, workload, peak, bandwidth))
        yield limits


def share_of_limit(result: FamilyLatency, limits: "Sequence[Roofline]") -> dict[str, float]:
    """Return measured speed over the limit, by model name; 1 is the limit itself."""
    return {
        bound.name: bound.bound_ms / result.summary.model(bound.name).median_ms for bound in limits
    }


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

    def reported(self, by_cpu: bool = False) -> dict[int, LatencySummary | None]:
        """Return the summary of each point, on the sweep's clock or by CPU time in its place.

        None where this clock is not the one that is reported.
        """
        found: dict[int, LatencySummary | None] = {}
        for point in self.points:
            shown = point.summary.reported
            is_cpu = shown is not point.summary
            found[self.position(point)] = shown if is_cpu == by_cpu else None
        return found


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
    with closing(_in_turn(specs, points, plan, cancel_token)) as measurements:
        try:
            for final in measurements:
                if final.latency.ended == "stopped":
                    return
                if not final.latency.n_rounds:
                    yield Sweep(axis, finished, late_point=getattr(final.workload, axis))
                    return
                finished = (*finished, final)
                yield Sweep(axis, finished, n_points=len(points))
        except BadWorkload as error:
            yield Sweep(axis, finished, str(error))


def _in_turn(
    specs: Sequence[ModelSpec],
    points: Sequence[Workload],
    plan: RoundsPlan,
    cancel_token: CancelToken,
) -> Generator[FamilyLatency]:
    """Yield the measurement at every point; one process times them all on the wall clock.

    Raises:
        BadWorkload: a point does not fit the machine.
    """
    before: list[FamilyLatency] = []
    with ExitStack() as shared:
        cancel_token.set_deadline(DRAW_S)
        process = process_for(rows_of(specs, points[0]), cancel_token, shared)
        for workload in points:
            budget_s = max(plan.budget_s, budget_of(before, workload))
            cancel_token.set_deadline(DRAW_S)
            with ExitStack() as stack:
                rows = rows_of(specs, workload)
                passes = timed_passes(rows, process, cancel_token, stack)
                longer = replace(plan, budget_s=budget_s)
                *_, final = _rounds(specs, workload, (), passes, longer, cancel_token)
            before = [final]
            yield final


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
    return min(MAX_S, ROUNDS * round_s * STEEPER * growth)


def orders(sweep: Sweep, by_cpu: bool = False) -> tuple[SpeedOrder, ...]:
    """Compare the other models with the first; each reported point is in one of the three lists.

    A model without any interval is left out: nothing is known of its order.

    Args:
        sweep: The sweep.
        by_cpu: True for the points whose wall clock was disturbed and CPU time holds.
    """
    results = []
    points = sweep.reported(by_cpu)
    for spec in sweep.points[0].specs[1:] if sweep.points else ():
        rows = [None if one is None else one.ratio(spec.name) for one in points.values()]
        ratios = [row.ratio if row and row.ratio.is_sure else None for row in rows]
        sides: dict[int, list[int]] = {1: [], -1: [], 0: []}
        for (place, one), ratio in zip(points.items(), ratios, strict=True):
            if one is not None:
                sides[_side(ratio)].append(place)
        if any(ratios):
            results.append(SpeedOrder(spec.name, *(tuple(sides[side]) for side in (-1, 1, 0))))
    return tuple(results)


def _side(ratio: Ratio | None) -> int:
    """Return 1 where the model is slower than the first, -1 where faster, 0 where undecided."""
    if ratio is None or ratio.holds_one:
        return 0
    return 1 if ratio.ratio < 1 else -1
