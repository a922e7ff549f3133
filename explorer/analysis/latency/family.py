"""Latency of a family, measured side by side, and the roofline of this machine."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from explorer.analysis.latency.measure import (
    Instruments,
    Latency,
    LatencySummary,
    RoundsPlan,
    TimedCall,
    latency_rounds,
    latency_summary,
)
from explorer.analysis.latency.ratio import MIN_P90
from explorer.analysis.parameters.shape import forward_flops
from explorer.inference.scheduling.cancel import Cancelled, CancelToken
from explorer.models.choice.family import layer_counts, shape_total
from explorer.models.specs import ModelSpec
from explorer.refusal import Refusal
from explorer.timing.workload import Workload, clock_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


PASS_ALLOWANCE = 2.0
"""Deadline of a measurement in multiples of its budget; it may interrupt a forward pass."""
DRAW_S = 240.0
"""Most seconds for drawing random weights or loading a checkpoint."""


@dataclass(frozen=True, slots=True)
class ModelOnDevice:
    """One model on one device."""

    spec: ModelSpec
    workload: Workload
    name: str
    """Name of the model, and of the device where there are several."""


def rows_of(
    specs: Sequence[ModelSpec], workload: Workload, devices: Sequence[str] = ()
) -> tuple[ModelOnDevice, ...]:
    """Return a row for each model on each device, with the clock that fits the device."""
    if not devices:
        return tuple(ModelOnDevice(spec, workload, spec.name) for spec in specs)
    places = [replace(workload, device=d, clock=clock_on(d, workload.clock)) for d in devices]
    return tuple(
        ModelOnDevice(spec, place, f"{spec.name} on {place.device}")
        for place in places
        for spec in specs
    )


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
    from explorer.timing.networks import timed_network
    from explorer.timing.protocol import forward_call, interruptible, stopwatch

    rows = rows_of(specs, workload, devices)
    cancel_token.set_deadline(DRAW_S)
    with ExitStack() as stack:
        timed = [
            stack.enter_context(timed_network(row.spec, row.workload, cancel_token.check))
            for row in rows
        ]
        cancel_token.set_deadline(PASS_ALLOWANCE * plan.budget_s)
        calls = [
            TimedCall(
                row.name, forward_call(t.spec, t.network, row.workload), stopwatch(row.workload)
            )
            for row, t in zip(rows, timed, strict=True)
        ]
        weights = tuple(t.weights for t in timed)
        n_bytes = tuple(t.n_bytes(workload.head) for t in timed)
        networks = [(t.spec, t.network) for t in timed]
        instruments, threads = stack.enter_context(instruments_for(workload))
        stack.enter_context(interruptible(networks, workload.tokens, cancel_token.check))
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
    from explorer.timing.peak_memory import pass_peak

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

    from explorer.inference.scheduling.measurement_lock import MEASUREMENT_LOCK
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
        raise Refusal("Nothing was measured.")
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
