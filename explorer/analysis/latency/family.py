"""A family timed side by side, and the roofline of this machine."""

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
"""A measurement is cut short, in the middle of a pass if need be, at this many budgets."""
DRAW_S = 240.0
"""Seconds for drawing or reading weights, whatever was allowed for something before."""


@dataclass(frozen=True, slots=True)
class Row:
    """One model on one device."""

    spec: ModelSpec
    workload: Workload
    name: str
    """The model's, and the device's where there are several."""


def rows_of(
    specs: Sequence[ModelSpec], workload: Workload, devices: Sequence[str] = ()
) -> tuple[Row, ...]:
    """Every model on every device; the device's own clock wherever that is no processor."""
    if not devices:
        return tuple(Row(spec, workload, spec.name) for spec in specs)
    places = [replace(workload, device=d, clock=clock_on(d, workload.clock)) for d in devices]
    return tuple(
        Row(spec, place, f"{spec.name} on {place.device}") for place in places for spec in specs
    )


@dataclass(frozen=True, eq=False)
class FamilyLatency:
    """A measurement of several models on one workload, on one device or on several."""

    specs: tuple[ModelSpec, ...]
    workload: Workload
    latency: Latency
    weights: tuple[str, ...]
    """Per row: ``bundled``, ``checkpoint`` or ``random``."""
    threads: int
    weight_bytes: tuple[int, ...]
    """Per row: bytes of the weights kept for this workload."""
    devices: tuple[str, ...] = ()
    """Where several devices were measured; empty: the workload's alone."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """What was timed, in the measurement's order."""
        return rows_of(self.specs, self.workload, self.devices)

    @cached_property
    def summary(self) -> LatencySummary:
        """Medians, ratios and trust."""
        return latency_summary(self.latency, quiet_only=self.workload.clock == "wait")

    def gflops(self, spec: ModelSpec) -> float:
        """Work of one pass, in 10^9 operations."""
        return pass_flops(spec, self.workload) / 1e9


def pass_flops(spec: ModelSpec, workload: Workload) -> int:
    """Floating-point operations of one pass of a workload."""
    return forward_flops(spec, workload.length, workload.batch, workload.head)


def stored_parameters(spec: ModelSpec) -> int:
    """Numbers stored by encoder and pooler, a shared layer once."""
    return shape_total(spec.architecture)


def plan_for(workload: Workload, budget_s: float = 20.0, repeats: int | None = None) -> RoundsPlan:
    """Return how long to measure: until the intervals are narrow, or exactly ``repeats`` rounds.

    Who allows more than the usual time gets a 90th percentile for it, where it can be had.
    """
    quiet_only, usual = workload.clock == "wait", RoundsPlan()
    if repeats is None:
        fewest = MIN_P90 if budget_s > usual.budget_s else usual.min_rounds
        return RoundsPlan(budget_s=budget_s, min_rounds=fewest, quiet_only=quiet_only)
    return RoundsPlan(budget_s, repeats, repeats, 0.0, 3, quiet_only)


def measure_family(
    specs: Sequence[ModelSpec],
    workload: Workload,
    plan: RoundsPlan,
    cancel_token: CancelToken,
    devices: Sequence[str] = (),
) -> Iterator[FamilyLatency]:
    """Time every model of a family on one workload, interleaved; yields after every round.

    The calling thread does the timing, so it must be one that no event loop needs.

    Args:
        specs: the models.
        workload: the pass.
        plan: how long to measure.
        cancel_token: how it is stopped.
        devices: where to measure, all in the same rounds and each by its own clock, the
            processor first; empty: on the workload's device.

    Raises:
        BadWorkload: a device that is not there, or more than the machine can hold.
    """
    from explorer.timing.networks import timed_network
    from explorer.timing.protocol import forward_call, interruptible, stopwatch

    rows = rows_of(specs, workload, devices)
    cancel_token.set_deadline(DRAW_S)
    with ExitStack() as held:
        timed = [
            held.enter_context(timed_network(row.spec, row.workload, cancel_token.check))
            for row in rows
        ]
        cancel_token.set_deadline(PASS_ALLOWANCE * plan.budget_s)
        calls = [
            TimedCall(
                row.name, forward_call(t.spec, t.network, row.workload), stopwatch(row.workload)
            )
            for row, t in zip(rows, timed, strict=True)
        ]
        about = (tuple(t.weights for t in timed), tuple(t.n_bytes(workload.head) for t in timed))
        networks = [(t.spec, t.network) for t in timed]
        instruments, threads = held.enter_context(instruments_for(workload))
        held.enter_context(interruptible(networks, workload.tokens, cancel_token.check))
        for latency in latency_rounds(calls, instruments, plan, cancel_token.check):
            yield FamilyLatency(
                tuple(specs), workload, latency, about[0], threads, about[1], tuple(devices)
            )


def family_peaks(rows: Sequence[Row], cancel_token: CancelToken) -> tuple[int | None, ...]:
    """Peak extra bytes of one pass of each model, after a pass that does not count.

    None for the models whose turn did not come before the deadline.

    Raises:
        Stopped: somebody asked for the end.
    """
    from explorer.timing.peak_memory import pass_peak

    found: list[int | None] = []
    try:
        for row in rows:
            found.append(pass_peak(row.spec, row.workload, cancel_token.check))
    except Cancelled as stopped:
        if stopped.reason != "deadline":
            raise
    return (*found, *(None for _ in rows[len(found) :]))


@contextmanager
def instruments_for(workload: Workload) -> Iterator[tuple[Instruments, int]]:
    """The clocks of a workload and the threads torch may use, set for the calling thread."""
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


def last(shots: Iterator[FamilyLatency]) -> FamilyLatency:
    """Run a measurement to its end and keep its final state.

    Raises:
        Refusal: it ended before it began.
    """
    final = None
    for shot in shots:
        final = shot
    if final is None:
        raise Refusal("Nothing was measured.")
    return final


def streamed_bytes(spec: ModelSpec, dtype: str) -> tuple[int, int]:
    """Bytes of layer weights read in one pass, and how many of them are different ones."""
    size = 4 if dtype == "float32" else 2
    layer = size * sum(layer_counts(spec.architecture).values())
    n_layers = spec.architecture.n_layers
    return n_layers * layer, layer * (1 if spec.architecture.shares_layers else n_layers)


@dataclass(frozen=True, slots=True)
class Limit:
    """The machine's two limits for one model's pass, and the time each alone would need."""

    key: str
    name: str
    peak_gflops: float
    """10^9 operations per second of a large matrix product."""
    bandwidth_gb: float
    """10^9 bytes per second, read from wherever this model's layers fit."""
    streamed_bytes: int
    """Bytes of layer weights that one pass reads, a shared layer every time."""
    working_set: int
    """Bytes of different layer weights: what has to fit to stay near the processor."""
    arithmetic_ms: float
    memory_ms: float

    @property
    def bound_ms(self) -> float:
        """No pass can be faster: the larger of the two."""
        return max(self.arithmetic_ms, self.memory_ms)

    @property
    def bound_by(self) -> str:
        """``arithmetic`` or ``memory``."""
        return "arithmetic" if self.arithmetic_ms >= self.memory_ms else "memory"


def limit(spec: ModelSpec, workload: Workload, peak: float, bandwidth: float) -> Limit:
    """The limits of one pass, from operations per second and bytes per second."""
    streamed, distinct = streamed_bytes(spec, workload.dtype)
    return Limit(
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
) -> "Iterator[tuple[Limit, ...]]":
    """Measure what the machine can do for each model, in a few seconds; the best is remembered."""
    from explorer.timing.machine import peak_flops, read_bandwidth

    done: tuple[Limit, ...] = ()
    for spec in specs:
        cancel_token.check()
        peak = peak_flops(workload.device, workload.dtype, workload.clock)
        working_set = streamed_bytes(spec, workload.dtype)[1]
        bandwidth = read_bandwidth(working_set, workload.device, workload.clock)
        done = (*done, limit(spec, workload, peak, bandwidth))
        yield done


def share_of_limit(result: FamilyLatency, limits: "Sequence[Limit]") -> dict[str, float]:
    """Measured speed over the possible one, by model name: 1 would be the limit itself."""
    return {
        found.name: found.bound_ms / result.summary.model(found.name).median_ms for found in limits
    }
