"""Passes of a family's models, ready to be timed: in this process, or alone in one of their own."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.analysis.latency.measure import TimedCall
from explorer.models.specs import ModelSpec
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.timing.workload import Workload, clock_on

if TYPE_CHECKING:
    from explorer.timing.runtimes.process import RuntimeProcess


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


@dataclass(frozen=True, slots=True)
class TimedPass:
    """Pass of a row, ready to be timed."""

    call: TimedCall
    weights: str
    n_bytes: int


def process_for(
    rows: Sequence[ModelOnDevice], cancel_token: CancelToken, stack: ExitStack
) -> "RuntimeProcess | None":
    """Start a process that runs the passes on the wall clock and nothing else; None without any.

    In a server they would be slow. OpenMP's threads (libgomp's) spin at the barriers of a pass only
    while the process has no more of them than cores, and every thread that has used torch keeps
    some. Beyond that they sleep: BERT takes 1.4 times as long as in a script, ALBERT 1.6 times.

    Raises:
        BadWorkload: the machine has too little memory. Cancelled: ``cancel_token`` was cancelled.
    """
    from explorer.timing.networks import check_pass, checkpoint_here
    from explorer.timing.runtimes.process import TORCH_BYTES, BuildRequest, RuntimeProcess

    rows = [row for row in rows if row.workload.clock == "wait"]
    if not rows:
        return None
    held = TORCH_BYTES
    for row in rows:
        held += check_pass(row.spec, row.workload, held)
    requests = [
        BuildRequest(row.workload.dtype, row.spec, row.workload, checkpoint_here(row.spec))
        for row in rows
    ]
    process = stack.enter_context(RuntimeProcess(*requests))
    with MEASUREMENT_LOCK.paused():
        process.wait_until_built(cancel_token.check)
    return process


def timed_passes(
    rows: Sequence[ModelOnDevice],
    process: "RuntimeProcess | None",
    cancel_token: CancelToken,
    stack: ExitStack,
) -> list[TimedPass]:
    """Return the passes of the rows: those that ``process_for`` has started, the others here.

    Raises:
        BadWorkload: a device is missing, or the machine has too little memory.
    """
    from explorer.timing.networks import bytes_of_pass, check_pass, weights_of

    passes, place = [], 0
    for row in rows:
        work = row.workload
        if process is None or work.clock != "wait":
            passes.append(_pass_here(row, cancel_token, stack))
            continue
        check_pass(row.spec, work)
        call = process_call(process, place, row.name, work, cancel_token)
        on_cpu = replace(work, clock="compute")
        call = replace(call, on_cpu=process_call(process, place, row.name, on_cpu, cancel_token))
        passes.append(TimedPass(call, weights_of(row.spec), bytes_of_pass(row.spec, work)))
        place += 1
    return passes


def _pass_here(row: ModelOnDevice, cancel_token: CancelToken, stack: ExitStack) -> TimedPass:
    from explorer.timing.networks import timed_network
    from explorer.timing.protocol import forward_call, interruptible, stopwatch

    work, check = row.workload, cancel_token.check
    timed = stack.enter_context(timed_network(row.spec, work, check))
    stack.enter_context(interruptible([(row.spec, timed.network)], work.tokens, check))
    call = TimedCall(row.name, forward_call(row.spec, timed.network, work), stopwatch(work))
    return TimedPass(call, timed.weights, timed.n_bytes(work.head))


def process_call(
    process: "RuntimeProcess", place: int, name: str, workload: Workload, cancel_token: CancelToken
) -> TimedCall:
    """Return a pass of another process as a timed call that checks the token while it waits."""

    def seconds(_call: object = None) -> float:
        # The process reads its own clock, so the call returns the time.
        return process.seconds(workload, cancel_token.check, place)

    return TimedCall(name, seconds, seconds)
