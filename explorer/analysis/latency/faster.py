"""Faster precisions and runtimes on this machine, and their cost in accuracy."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.analysis.latency.measure import RoundsPlan
from explorer.analysis.latency.ratio import MIN_P90
from explorer.analysis.latency.variants import (
    AccuracyCost,
    Variant,
    VariantLatency,
    accuracy_costs,
    variant_latency,
)
from explorer.inference.scheduling.cancel import Cancelled, CancelToken
from explorer.inference.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.models.specs import ModelSpec
from explorer.timing.workload import DTYPE_NAMES, BadWorkload, Workload, check_size, pass_bytes

if TYPE_CHECKING:
    from explorer.timing.networks import TimedNetwork
    from explorer.timing.runtimes.process import BuildRequest, RuntimeProcess

BUILD_S = 240.0
"""Most seconds for compiling or exporting one model."""
COSTS_S = 60.0
EVERY_WAY = "Every way to run"
BATCH = "A batch of {n}"
PROCESS_BYTES = 700_000_000
"""Memory of a process with torch and a compiler or exporter, before any weights."""
COPIES = 4
"""Upper bound on the copies of the weights in memory while a model is exported or compiled and a
second process measures the memory of serving it."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A variant without a measurement, and the reason."""

    spec: ModelSpec
    name: str
    reason: str
    """One of ``timing.runtimes.table.REASONS``."""


@dataclass(frozen=True, slots=True, eq=False)
class FasterResult:
    """Results of a measurement so far."""

    models: tuple[VariantLatency, ...] = ()
    costs: tuple[AccuracyCost, ...] = ()
    missing: tuple[Missing, ...] = ()
    building: ModelSpec | None = None
    """Model whose runtimes are being built now."""
    done: int = 0
    n_steps: int = 0
    """All steps, of which ``done`` are finished: each model is built and then timed."""
    workload: Workload | None = None
    """Workload of all variants, except for the dtype."""

    @property
    def batch_sizes(self) -> list[int]:
        """The batch sizes at which any model was timed."""
        return sorted({batch for variants in self.models for batch in variants.batches})


def measure_faster(
    specs: Sequence[ModelSpec],
    workload: Workload,
    plan: RoundsPlan,
    cancel_token: CancelToken,
    batches: Sequence[int] = (),
) -> Iterator[FasterResult]:
    """Time each model in float32 and in every faster variant, and compare their predictions.

    Yields after every new result. Cancelling keeps the complete ones.

    Args:
        specs: the models.
        workload: shape and device of the forward pass.
        plan: duration of the measurement of one model with one batch size.
        cancel_token: cancels the measurement.
        batches: further batch sizes to time, each by the same plan.

    Raises:
        BadWorkload: the pass does not fit the machine. Cancelled: ``cancel_token`` was cancelled.
    """
    batch_sizes = [workload.batch, *(batch for batch in batches if batch != workload.batch)]
    workloads = [replace(workload, batch=batch) for batch in batch_sizes]
    steps = 1 + len(workloads)
    # Enough rounds for a 90th percentile if the budget allows.
    plan = replace(plan, min_rounds=max(plan.min_rounds, MIN_P90))
    result = FasterResult(n_steps=steps * len(specs), workload=workload)
    for number, spec in enumerate(specs):
        for update in _one_model(
            replace(result, done=steps * number), spec, workloads, plan, cancel_token
        ):
            result = update
            yield result
        if cancel_token.cancelled:
            return
    yield replace(result, done=result.n_steps)


def _one_model(
    result: FasterResult,
    spec: ModelSpec,
    workloads: Sequence[Workload],
    plan: RoundsPlan,
    cancel_token: CancelToken,
) -> Iterator[FasterResult]:
    """Yield the results so far, extended by one model: built, timed, predictions compared."""
    with ExitStack() as stack:
        yield replace(result, building=spec)
        try:
            variants, missing = build_variants(spec, workloads[0], cancel_token, stack)
        except Cancelled as stopped:
            if stopped.reason != "deadline":
                yield result
                raise
            yield _without(result, spec, "late")
            return
        result = replace(result, missing=(*result.missing, *missing), done=result.done + 1)
        yield result
        timed = variant_latency(variants, plan, cancel_token)
        if timed is None:
            if not cancel_token.cancelled:
                yield _without(result, spec, "slow")
            return
        result = replace(result, models=(*result.models, timed))
        yield result
        for cost in _costs(variants, cancel_token):
            result = replace(result, costs=(*result.costs, cost))
            yield result
        for work in workloads[1:]:
            if cancel_token.cancelled:
                return
            result = _with_batch(
                replace(result, done=result.done + 1), variants, work, plan, cancel_token
            )
            yield result


def _with_batch(
    result: FasterResult,
    variants: Sequence[Variant],
    work: Workload,
    plan: RoundsPlan,
    cancel_token: CancelToken,
) -> FasterResult:
    """Return the results with the last model's times at another batch size, or the reason for none.

    Compiled networks are skipped: each further shape would take as long again to compile.
    """
    from explorer.timing.machine import free_bytes
    from explorer.timing.runtimes.table import COMPILE

    *before, last = result.models
    try:
        check_size(last.spec.architecture, work, free_bytes(work.device), 0)
    except BadWorkload:
        return _without(result, last.spec, "memory", BATCH.format(n=work.batch))
    others = [variant.at(work.batch) for variant in variants if variant.name != COMPILE]
    timed = variant_latency(others, plan, cancel_token)
    if timed is None:
        late = _without(result, last.spec, "slow", BATCH.format(n=work.batch))
        return result if cancel_token.cancelled else late
    batches = {**last.batches, work.batch: timed.summary}
    return replace(result, models=(*before, replace(last, batches=batches)))


def _without(
    result: FasterResult, spec: ModelSpec, reason: str, name: str = EVERY_WAY
) -> FasterResult:
    """Return the results with one more missing model or variant."""
    return replace(result, missing=(*result.missing, Missing(spec, name, reason)))


def _costs(variants: Sequence[Variant], cancel_token: CancelToken) -> Iterator[AccuracyCost]:
    """Yield the accuracy cost of each variant, for at most a minute; none for random weights."""
    if variants[0].network.weights == "random":
        return
    cancel_token.set_deadline(COSTS_S)
    try:
        with MEASUREMENT_LOCK.paused():
            yield from accuracy_costs(variants, cancel_token)
    except Cancelled as stopped:
        if stopped.reason != "deadline":
            raise


@MEASUREMENT_LOCK.paused()
def build_variants(
    spec: ModelSpec, workload: Workload, cancel_token: CancelToken, stack: ExitStack
) -> tuple[list[Variant], list[Missing]]:
    """Build the variants of a model that this machine can run, float32 first, and list the others.

    Building takes minutes; visitors are answered meanwhile. On exit ``stack`` ends the processes
    of the runtimes and releases the networks.
    """
    from explorer.timing.runtimes.table import MEMORY, NoRuntime

    cancel_token.set_deadline(BUILD_S)
    variants = precision_variants(spec, workload, cancel_token, stack)
    started, missing = _start(variants[0].network, workload, stack)
    cancel_token.set_deadline(BUILD_S)
    resident: dict[str, int | None] = {}
    for process in started:
        try:
            resident.update(process.wait_until_built(cancel_token.check))
        except NoRuntime as error:
            missing.append(Missing(spec, process.request.runtime, error.reason))
        except Cancelled as stopped:
            if stopped.reason != "deadline":
                raise
            process.end()
            cancel_token.set_deadline(BUILD_S)
            missing.append(Missing(spec, process.request.runtime, "late"))
        else:
            if process.request.runtime != MEMORY:
                first = variants[0]
                variants.append(Variant(process.request.runtime, first.network, workload, process))
    return [replace(variant, resident=resident.get(variant.name)) for variant in variants], missing


def precision_variants(
    spec: ModelSpec, workload: Workload, cancel_token: CancelToken, stack: ExitStack
) -> list[Variant]:
    """Build the float32 variant of a model, then those of lower precisions on the device.

    The networks are in use until ``stack`` exits.
    """
    from explorer.timing.networks import int8_network, int8_weights_network, timed_network

    dtypes = ("float32", "bfloat16") if workload.device == "cpu" else DTYPE_NAMES
    variants = []
    for dtype in dtypes:
        work = replace(workload, dtype=dtype)
        timed = stack.enter_context(timed_network(spec, work, cancel_token.check))
        variants.append(Variant(dtype, timed, work))
    if workload.device == "cpu":
        first = variants[0]
        for name, smaller in (("int8", int8_network), ("int8 weights", int8_weights_network)):
            timed = stack.enter_context(smaller(first.network))
            variants.append(Variant(name, timed, first.workload))
    return _apart(variants, cancel_token, stack) if workload.clock == "wait" else variants


def _apart(
    variants: Sequence[Variant], cancel_token: CancelToken, stack: ExitStack
) -> list[Variant]:
    """Return the variants in one process of their own, as ``timed_passes`` has its passes.

    Raises:
        BadWorkload: the machine has too little memory.
    """
    from explorer.timing.networks import check_pass, checkpoint_here
    from explorer.timing.runtimes.process import TORCH_BYTES, BuildRequest, RuntimeProcess

    first = variants[0]
    spec, path = first.network.spec, checkpoint_here(first.network.spec)
    check_pass(spec, first.workload, TORCH_BYTES + first.network.n_bytes(head=True))
    requests = [BuildRequest(variant.name, spec, variant.workload, path) for variant in variants]
    process = stack.enter_context(RuntimeProcess(*requests))
    process.wait_until_built(cancel_token.check)
    return [
        replace(variant, process=process, place=place) for place, variant in enumerate(variants)
    ]


def _start(
    network: "TimedNetwork", workload: Workload, processes: ExitStack
) -> tuple[list["RuntimeProcess"], list[Missing]]:
    """Start the runtimes in parallel, because each builds for tens of seconds on a single core."""
    from explorer.timing.machine import free_bytes
    from explorer.timing.networks import checkpoint_here
    from explorer.timing.runtimes.process import BuildRequest, RuntimeProcess
    from explorer.timing.runtimes.table import RUNTIMES

    spec = network.spec
    started: list[RuntimeProcess] = []
    missing: list[Missing] = []
    free, path = free_bytes(), checkpoint_here(spec)
    for runtime in RUNTIMES:
        order = BuildRequest(runtime, spec, workload, path)
        needed = runtime_bytes(network, workload)
        reason = why_not(order, needed, free)
        if reason:
            missing.append(Missing(spec, runtime, reason))
            continue
        free -= needed
        started.append(processes.enter_context(RuntimeProcess(order)))
    return started, missing


def why_not(request: "BuildRequest", needed: int, free: int) -> str:
    """Return the reason why a runtime cannot be tried, or an empty string."""
    from explorer.timing.runtimes.table import COMPILE, absent_packages

    if request.runtime != COMPILE and request.workload.device != "cpu":
        return "device"
    if absent_packages(request.runtime):
        return "packages"
    return "memory" if needed > 0.8 * free else ""


def runtime_bytes(network: "TimedNetwork", workload: Workload) -> int:
    """Return an upper bound on the memory to build and run a model in another process."""
    weights = network.n_bytes(head=True)
    return PROCESS_BYTES + COPIES * weights + pass_bytes(network.spec.architecture, workload)
