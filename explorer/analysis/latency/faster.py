"""What makes a model faster on this machine, and what each way costs in accuracy."""

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
from explorer.models.specs import ModelSpec
from explorer.timing.workload import DTYPE_NAMES, BadWorkload, Workload, check_size, pass_bytes

if TYPE_CHECKING:
    from explorer.timing.networks import TimedNetwork
    from explorer.timing.runtimes.process import Order, RuntimeProcess

BUILD_S = 240.0
"""Seconds that compiling or exporting one model may take."""
COSTS_S = 60.0
EVERY_WAY = "Every way to run"
BATCH = "A batch of {n}"
PROCESS_BYTES = 700_000_000
"""Memory of a process with torch and a compiler or exporter in it, before any weights."""
COPIES = 4
"""Copies of the weights that are held while a model is exported or compiled, and while a second
process tells what serving it takes, from above."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A row that is not there, and why."""

    spec: ModelSpec
    name: str
    reason: str
    """One of ``timing.runtimes.table.REASONS``."""


@dataclass(frozen=True, slots=True, eq=False)
class Faster:
    """What was found so far."""

    models: tuple[VariantLatency, ...] = ()
    costs: tuple[AccuracyCost, ...] = ()
    missing: tuple[Missing, ...] = ()
    building: ModelSpec | None = None
    """Whose runtimes are being built at this moment."""
    done: int = 0
    asked: int = 0
    """Steps that are over, and all of them: each model is built and then timed."""
    workload: Workload | None = None
    """The pass, but for its dtype, in which the ways differ."""


def measure_faster(
    specs: Sequence[ModelSpec],
    workload: Workload,
    plan: RoundsPlan,
    cancel_token: CancelToken,
    batches: Sequence[int] = (),
) -> Iterator[Faster]:
    """Time each model in float32 and in every cheaper way, then what each does to its answers.

    Yields whenever there is something new. Stopping keeps what is complete.

    Args:
        specs: the models.
        workload: the pass.
        plan: how long to time one model with one batch.
        cancel_token: ends it.
        batches: texts per pass that are timed as well, each by the same plan.

    Raises:
        BadWorkload: the pass does not fit the machine. Stopped: somebody asked for the end.
    """
    sizes = [workload.batch, *(batch for batch in batches if batch != workload.batch)]
    works = [replace(workload, batch=batch) for batch in sizes]
    steps = 1 + len(works)
    # So that the 90th percentile is known where the budget has room for it.
    plan = replace(plan, min_rounds=max(plan.min_rounds, MIN_P90))
    found = Faster(asked=steps * len(specs), workload=workload)
    for number, spec in enumerate(specs):
        for shot in _one_model(
            replace(found, done=steps * number), spec, works, plan, cancel_token
        ):
            found = shot
            yield found
        if cancel_token.cancelled:
            return
    yield replace(found, done=found.asked)


def _one_model(
    found: Faster,
    spec: ModelSpec,
    works: Sequence[Workload],
    plan: RoundsPlan,
    cancel_token: CancelToken,
) -> Iterator[Faster]:
    """What was found before, and then one more model: built, timed, and asked for its answers."""
    with ExitStack() as held:
        yield replace(found, building=spec)
        try:
            variants, missing = ways_to_run(spec, works[0], cancel_token, held)
        except Cancelled as stopped:
            if stopped.reason != "deadline":
                yield found
                raise
            yield _without(found, spec, "late")
            return
        found = replace(found, missing=(*found.missing, *missing), done=found.done + 1)
        yield found
        timed = variant_latency(variants, plan, cancel_token)
        if timed is None:
            if not cancel_token.cancelled:
                yield _without(found, spec, "slow")
            return
        found = replace(found, models=(*found.models, timed))
        yield found
        for cost in _costs(variants, cancel_token):
            found = replace(found, costs=(*found.costs, cost))
            yield found
        for work in works[1:]:
            if cancel_token.cancelled:
                return
            found = _with_batch(
                replace(found, done=found.done + 1), variants, work, plan, cancel_token
            )
            yield found


def _with_batch(
    found: Faster,
    variants: Sequence[Variant],
    work: Workload,
    plan: RoundsPlan,
    cancel_token: CancelToken,
) -> Faster:
    """What was found and the last model's times with another batch, or why they are not there.

    What torch compiled is for one shape: another would be compiled as long again, and is left out.
    """
    from explorer.timing.machine import free_bytes
    from explorer.timing.runtimes.table import COMPILE

    *before, last = found.models
    try:
        check_size(last.spec.architecture, work, free_bytes(work.device), 0)
    except BadWorkload:
        return _without(found, last.spec, "memory", BATCH.format(n=work.batch))
    others = [variant.at(work.batch) for variant in variants if variant.name != COMPILE]
    timed = variant_latency(others, plan, cancel_token)
    if timed is None:
        late = _without(found, last.spec, "slow", BATCH.format(n=work.batch))
        return found if cancel_token.cancelled else late
    batches = {**last.batches, work.batch: timed.summary}
    return replace(found, models=(*before, replace(last, batches=batches)))


def _without(found: Faster, spec: ModelSpec, reason: str, name: str = EVERY_WAY) -> Faster:
    """What was found, and that a model, or a row of it, is not in it."""
    return replace(found, missing=(*found.missing, Missing(spec, name, reason)))


def _costs(variants: Sequence[Variant], cancel_token: CancelToken) -> Iterator[AccuracyCost]:
    """What each way costs where the weights are real, as far as that is known in a minute."""
    if variants[0].timed.weights == "random":
        return
    cancel_token.set_deadline(COSTS_S)
    try:
        yield from accuracy_costs(variants, cancel_token)
    except Cancelled as stopped:
        if stopped.reason != "deadline":
            raise


def ways_to_run(
    spec: ModelSpec, workload: Workload, cancel_token: CancelToken, held: ExitStack
) -> tuple[list[Variant], list[Missing]]:
    """Every way to run a model that this machine offers, float32 first, and those it does not.

    The processes that run the other runtimes end with ``held``, and the networks may leave.
    """
    from explorer.timing.runtimes.table import MEMORY, NoRuntime

    cancel_token.set_deadline(BUILD_S)
    variants = precision_variants(spec, workload, cancel_token, held)
    started, missing = _start(variants[0].timed, workload, held)
    cancel_token.set_deadline(BUILD_S)
    resident: dict[str, int | None] = {}
    for process in started:
        try:
            resident.update(process.wait_until_built(cancel_token.check))
        except NoRuntime as error:
            missing.append(Missing(spec, process.order.runtime, error.reason))
        except Cancelled as stopped:
            if stopped.reason != "deadline":
                raise
            process.end()
            cancel_token.set_deadline(BUILD_S)
            missing.append(Missing(spec, process.order.runtime, "late"))
        else:
            if process.order.runtime != MEMORY:
                first = variants[0]
                variants.append(Variant(process.order.runtime, first.timed, workload, process))
    return [replace(one, resident=resident.get(one.name)) for one in variants], missing


def precision_variants(
    spec: ModelSpec, workload: Workload, cancel_token: CancelToken, held: ExitStack
) -> list[Variant]:
    """float32, then the precisions that this device offers to make a pass cheaper.

    The networks are kept until the end of ``held``.
    """
    from explorer.timing.networks import int8_network, int8_weights_network, timed_network

    dtypes = ("float32", "bfloat16") if workload.device == "cpu" else DTYPE_NAMES
    found = []
    for dtype in dtypes:
        work = replace(workload, dtype=dtype)
        timed = held.enter_context(timed_network(spec, work, cancel_token.check))
        found.append(Variant(dtype, timed, work))
    if workload.device == "cpu":
        first = found[0]
        for name, smaller in (("int8", int8_network), ("int8 weights", int8_weights_network)):
            timed = held.enter_context(smaller(first.timed))
            found.append(Variant(name, timed, first.workload))
    return found


def _start(
    timed: "TimedNetwork", workload: Workload, processes: ExitStack
) -> tuple[list["RuntimeProcess"], list[Missing]]:
    """Start the runtimes side by side: each builds for tens of seconds, on one core at a time."""
    from explorer.timing.machine import free_bytes
    from explorer.timing.networks import checkpoint_here
    from explorer.timing.runtimes.process import Order, RuntimeProcess
    from explorer.timing.runtimes.table import RUNTIMES

    spec = timed.spec
    started: list[RuntimeProcess] = []
    missing: list[Missing] = []
    free, path = free_bytes(), checkpoint_here(spec)
    for runtime in RUNTIMES:
        order = Order(runtime, spec, workload, path)
        needed = runtime_bytes(timed, workload)
        reason = why_not(order, needed, free)
        if reason:
            missing.append(Missing(spec, runtime, reason))
            continue
        free -= needed
        started.append(processes.enter_context(RuntimeProcess(order)))
    return started, missing


def why_not(order: "Order", needed: int, free: int) -> str:
    """What keeps a runtime from being tried at all: a reason, or nothing."""
    from explorer.timing.runtimes.table import COMPILE, absent_packages

    if order.runtime != COMPILE and order.workload.device != "cpu":
        return "device"
    if absent_packages(order.runtime):
        return "packages"
    return "memory" if needed > 0.8 * free else ""


def runtime_bytes(timed: "TimedNetwork", workload: Workload) -> int:
    """Memory that building and running a model in another process may take, from above."""
    weights = timed.n_bytes(head=True)
    return PROCESS_BYTES + COPIES * weights + pass_bytes(timed.spec.architecture, workload)
