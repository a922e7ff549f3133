"""Faster precisions and runtimes on this machine, and their cost in accuracy."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from math import inf
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
from explorer.models.specs import ModelSpec
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.timing.workload import DTYPE_NAMES, BadWorkload, Workload, check_size, pass_bytes

if TYPE_CHECKING:
    from explorer.timing.networks import TimedNetwork
    from explorer.timing.runtimes.process import BuildRequest, RuntimeProcess

BUILD_S = 240.0
"""Most seconds for compiling or exporting one model."""
COSTS_S = 60.0
QUICK_S = 5.0
"""Seconds of the rounds of the precisions only, which come before any runtime is built."""
START_S, COMPARE_S, RUNTIME_S = 6.0, 5.0, 60.0
"""Estimated seconds to start a process with a model's precisions, to compare their predictions, and
to build the runtimes of a model."""
EVERY_WAY = "Every way to run"
TOGETHER = "The comparison with other runtimes"
"""Name of the missing part of a model whose precisions were timed before."""
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
    specs: tuple[ModelSpec, ...] = ()
    """Models to measure, in their order."""
    batches: tuple[int, ...] = ()
    """Batch sizes to measure."""
    is_out_of_time: bool = False
    """True once the time limit has ended the measurement: see ``unmeasured``."""

    @property
    def batch_sizes(self) -> list[int]:
        """The batch sizes at which any model was timed."""
        return sorted({batch for variants in self.models for batch in variants.batches})

    def with_model(self, timed: VariantLatency) -> "FasterResult":
        """Return the results with a model's latest measurement in the place of its earlier one."""
        others = {variants.spec.name: variants for variants in self.models}
        by_name = others | {timed.spec.name: timed}
        return replace(self, models=tuple(by_name.values()))

    def with_cost(self, cost: AccuracyCost) -> "FasterResult":
        """Return the results with the latest accuracy cost of a variant."""
        by_name = {(each.key, each.name): each for each in self.costs}
        by_name[cost.key, cost.name] = cost
        return replace(self, costs=tuple(by_name.values()))


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """Variants and batch sizes of one model that a measurement had no time for."""

    spec: ModelSpec
    names: tuple[str, ...]
    """Variants; empty where all were timed."""
    batches: tuple[int, ...]
    """Batch sizes at which no variant was timed; empty where no variant was timed at all."""


def unmeasured(result: FasterResult) -> tuple[Unmeasured, ...]:
    """Return what was not reached of each model; variants that are missing have their reasons."""
    from explorer.timing.runtimes.table import MEMORY, RUNTIMES

    by_name = {variants.spec.name: variants for variants in result.models}
    absent = {(row.spec.name, row.name) for row in result.missing}
    found = []
    for spec in result.specs:
        timed = by_name.get(spec.name)
        known = {model.name for model in timed.summary.models} if timed else set()
        names = (*precisions_on(result.workload), *(name for name in RUNTIMES if name != MEMORY))
        left = tuple(n for n in names if n not in known and (spec.name, n) not in absent)
        batches = tuple(n for n in result.batches if timed and n not in timed.batches)
        batches = tuple(n for n in batches if (spec.name, BATCH.format(n=n)) not in absent)
        if left or batches:
            found.append(Unmeasured(spec, left, batches))
    return tuple(found)


def precisions_on(workload: Workload | None) -> tuple[str, ...]:
    """Return the names of the variants that torch itself runs on a workload's device."""
    if workload is not None and workload.device != "cpu":
        return DTYPE_NAMES
    return ("float32", "bfloat16", "int8", "int8 weights")


def estimated_s(n_models: int, n_batches: int, budget_s: float) -> float:
    """Return about how many seconds a measurement takes that no time limit ends.

    Args:
        n_models: The models.
        n_batches: The batch sizes.
        budget_s: Most seconds of the rounds of one model at one batch size.
    """
    precisions = START_S + QUICK_S + COMPARE_S
    runtimes = START_S + RUNTIME_S + COMPARE_S + n_batches * budget_s
    return n_models * (precisions + runtimes)


def measure_faster(
    specs: Sequence[ModelSpec],
    workload: Workload,
    plan: RoundsPlan,
    cancel_token: CancelToken,
    batches: Sequence[int] = (),
) -> Iterator[FasterResult]:
    """Time each model in float32 and in every faster variant, and compare their predictions.

    Under a time limit the precisions of all models are timed first, which takes seconds. The
    runtimes take up to a minute a model to build; then all variants of a model are timed in the
    same rounds.
    Yields after every new result. Cancelling, or the end of the token's time, keeps the complete
    ones.

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
    quick = replace(plan, budget_s=min(QUICK_S, plan.budget_s))
    # Enough rounds for a 90th percentile if the budget allows.
    plan = replace(plan, min_rounds=max(plan.min_rounds, MIN_P90))
    early = specs if cancel_token.left_s < inf else ()
    parts = [
        *((1, partial(_precisions, spec=spec, workload=workload, plan=quick)) for spec in early),
        *(
            (1 + len(workloads), partial(_one_model, spec=spec, workloads=workloads, plan=plan))
            for spec in specs
        ),
    ]
    result = FasterResult(
        n_steps=sum(n for n, _ in parts),
        workload=workload,
        specs=(*specs,),
        batches=(*batch_sizes,),
    )
    yield from _in_turn(result, parts, cancel_token)


def _in_turn(
    result: FasterResult,
    parts: Sequence[tuple[int, Callable[..., Iterator[FasterResult]]]],
    cancel_token: CancelToken,
) -> Iterator[FasterResult]:
    """Yield the results of each part, a number of steps and what they do; end in time."""
    after = 0
    for n_steps, part in parts:
        after += n_steps
        try:
            for update in part(result, cancel_token=cancel_token):
                result = update
                yield result
        except Cancelled as stopped:
            if stopped.reason != "deadline" or cancel_token.left_s > 0:
                raise
        if cancel_token.cancelled:
            return
        if cancel_token.left_s <= 0:
            yield replace(result, building=None, is_out_of_time=True)
            return
        result = replace(result, done=after)
    yield replace(result, done=result.n_steps)


def _precisions(
    result: FasterResult,
    spec: ModelSpec,
    workload: Workload,
    plan: RoundsPlan,
    cancel_token: CancelToken,
) -> Iterator[FasterResult]:
    """Yield the results so far, extended by the precisions of one model."""
    with ExitStack() as stack:
        cancel_token.set_deadline(BUILD_S)
        try:
            with MEASUREMENT_LOCK.paused():
                variants = precision_variants(spec, workload, cancel_token, stack)
        except Cancelled as stopped:
            if stopped.reason != "deadline":
                raise
            return
        timed = variant_latency(variants, plan, cancel_token)
        if timed is not None:
            yield from _with_costs(result.with_model(timed), variants, cancel_token)


def _with_costs(
    result: FasterResult, variants: Sequence[Variant], cancel_token: CancelToken
) -> Generator[FasterResult, None, FasterResult]:
    """Yield the results so far, then extended by what each variant costs; return the last."""
    yield result
    for cost in _costs(variants, cancel_token):
        result = result.with_cost(cost)
        yield result
    return result


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
            yield from _late(result, spec, "late", cancel_token)
            return
        result = replace(result, missing=(*result.missing, *missing), done=result.done + 1)
        yield result
        timed = variant_latency(variants, plan, cancel_token)
        if timed is None:
            yield from _late(result, spec, "slow", cancel_token)
            return
        result = yield from _with_costs(result.with_model(timed), variants, cancel_token)
        for work in workloads[1:]:
            if is_over(cancel_token):
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

    last = next(v for v in result.models if v.spec is variants[0].network.spec)
    try:
        check_size(last.spec.architecture, work, free_bytes(work.device), 0)
    except BadWorkload:
        return _without(result, last.spec, "memory", BATCH.format(n=work.batch))
    others = [variant.at(work.batch) for variant in variants if variant.name != COMPILE]
    timed = variant_latency(others, plan, cancel_token)
    if timed is None:
        late = _without(result, last.spec, "slow", BATCH.format(n=work.batch))
        return result if is_over(cancel_token) else late
    batches = {**last.batches, work.batch: timed.summary}
    return result.with_model(replace(last, batches=batches))


def _without(
    result: FasterResult, spec: ModelSpec, reason: str, name: str = EVERY_WAY
) -> FasterResult:
    """Return the results with one more missing model or variant."""
    return replace(result, missing=(*result.missing, Missing(spec, name, reason)))


def is_over(cancel_token: CancelToken) -> bool:
    """Return whether a measurement was stopped, or has used up its own time."""
    return cancel_token.cancelled or cancel_token.left_s <= 0


def _late(
    result: FasterResult, spec: ModelSpec, reason: str, cancel_token: CancelToken
) -> Iterator[FasterResult]:
    """Yield the results with the reason why a model has none, unless all of it has ended."""
    if is_over(cancel_token):
        return
    is_known = any(variants.spec.name == spec.name for variants in result.models)
    yield _without(result, spec, reason, TOGETHER if is_known else EVERY_WAY)


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
            if stopped.reason != "deadline" or cancel_token.left_s <= 0:
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
