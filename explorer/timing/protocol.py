"""Forward passes measured: times by stopwatches and device events, memory by the allocator."""

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from transformers import PreTrainedModel

from explorer.models.architectures import fill_randomly, random_network
from explorer.models.devices import new_event, on_device, synchronise
from explorer.models.specs import ModelSpec
from explorer.timing.workload import Workload

Call = Callable[[], object]
Stopwatch = Callable[[Call], float]
FIRST_ORDINARY_ID = 1000
"""Smaller ids are special or unused in the three vocabularies; all others cost the same."""
LONG_LAYER = 5e10
"""Operations in one layer above which each product checks for cancellation, not each layer."""
PRESSURE = Path("/proc/pressure/cpu")
# Otherwise the profiler's library logs every start and stop.
os.environ.setdefault("KINETO_LOG_LEVEL", "6")


def timed_ids(spec: ModelSpec, workload: Workload, seed: int = 0) -> torch.Tensor:
    """Return random token ids [batch, length], fixed by a seed: they do not affect the time."""
    generator = torch.Generator().manual_seed(seed)
    n_words = spec.architecture.d_vocab
    low = min(FIRST_ORDINARY_ID, n_words // 2)
    shape = (workload.batch, workload.length)
    return torch.randint(low, n_words, shape, generator=generator).to(workload.device)


class Pass(nn.Module):
    """Timed module: ids to the last hidden states, or to all logits if the head is included."""

    def __init__(self, spec: ModelSpec, network: PreTrainedModel, workload: Workload) -> None:
        super().__init__()
        self.network, self.predict = network, spec.kind.head
        self.head, self.looks = workload.head, workload.looks

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Map ids [batch, length] to [batch, length, width]."""
        hidden = self.network.base_model(
            input_ids=ids, output_attentions=self.looks, output_hidden_states=self.looks
        ).last_hidden_state
        return self.predict(self.network, hidden) if self.head else hidden


def forward_call(spec: ModelSpec, network: PreTrainedModel, workload: Workload) -> Call:
    """Return a function without arguments that runs the pass: encoder, and head if requested."""
    ids, run = timed_ids(spec, workload), Pass(spec, network, workload)

    def call() -> None:
        # Gradient mode belongs to a thread, so it is entered where the call runs.
        with torch.inference_mode():
            run(ids)

    return call


@contextmanager
def interruptible(
    networks: Sequence[tuple[ModelSpec, nn.Module]], tokens: int, check: Call
) -> Iterator[None]:
    """Check for cancellation inside a pass too, at every layer or product.

    Only in the calling thread's passes: other requests may use the same network meanwhile.
    """
    thread = threading.get_ident()

    def look(_module: nn.Module, _inputs: object) -> None:
        if threading.get_ident() == thread:
            check()

    with ExitStack() as stack:
        for spec, network in networks:
            for module in _checkpoints(spec, network, tokens):
                stack.callback(module.register_forward_pre_hook(look).remove)
        yield


def _checkpoints(spec: ModelSpec, network: nn.Module, tokens: int) -> list[nn.Module]:
    shape = spec.architecture
    layer = 4 * tokens * shape.d_model * (2 * shape.d_model + shape.d_ffn)
    if layer > LONG_LAYER:
        # By attribute, not by nn.Linear: 8-bit linear layers are of another class.
        return [module for module in network.modules() if hasattr(module, "in_features")]
    pattern = re.compile(spec.kind.output)
    return [module for name, module in network.named_modules() if pattern.search(name)]


@contextmanager
def thread_width(clock: str) -> Iterator[int]:
    """Set torch's threads for the calling thread: one for processor time, else all cores."""
    before = torch.get_num_threads()
    width = 1 if clock == "compute" else usable_cores()
    torch.set_num_threads(width)
    try:
        yield width
    finally:
        torch.set_num_threads(before)


def usable_cores() -> int:
    """Return the number of cores this process may run on."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def stopwatch(workload: Workload) -> Stopwatch:
    """Return the function that times one call on a workload's clock."""
    if workload.device != "cpu":
        return device_stopwatch(workload.device)
    # One thread does all the work of a call, so its processor time is the whole cost, without
    # that of other processes or of the app's other threads.
    return clock_stopwatch(time.thread_time if workload.clock == "compute" else time.perf_counter)


def device_stopwatch(device: str) -> Stopwatch:
    """Return a stopwatch by an accelerator's events, or by waiting for it where it has none."""
    event = new_event(device)
    timed = event_stopwatch(event) if event else waiting_stopwatch(partial(synchronise, device))

    def timed_on_device(call: Call) -> float:
        with on_device(device):
            return timed(call)

    return timed_on_device


def clock_stopwatch(clock: Callable[[], float]) -> Stopwatch:
    """Return a stopwatch that takes the difference of a clock around a call, in seconds."""

    def timed(call: Call) -> float:
        before = clock()
        call()
        return clock() - before

    return timed


def waiting_stopwatch(
    synchronize: Call, clock: Callable[[], float] = time.perf_counter
) -> Stopwatch:
    """Return a stopwatch that waits until a device is idle, for devices without events."""

    def timed(call: Call) -> float:
        synchronize()
        before = clock()
        call()
        synchronize()
        return clock() - before

    return timed


class Event(Protocol):
    """Timed event in a device's queue."""

    def record(self) -> None:
        """Put the event into the queue."""

    def synchronize(self) -> None:
        """Wait until the device has reached the event."""

    def elapsed_time(self, end: Self, /) -> float:
        """Return the milliseconds from this event to a later one."""


def event_stopwatch(new_event: Callable[[], Event]) -> Stopwatch:
    """Return a stopwatch by two events in the device's own queue, in seconds.

    The first event is waited for, so that work queued earlier is not charged to this call.
    """

    def timed(call: Call) -> float:
        start, end = new_event(), new_event()
        start.record()
        start.synchronize()
        start.record()
        call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3

    return timed


def stolen_seconds() -> float | None:
    """Return the seconds so far in which any process on this machine waited for a processor.

    Linux counts them (pressure stall information); None where the system does not.
    """
    try:
        some = next(line for line in PRESSURE.read_text().splitlines() if line.startswith("some"))
        return int(some.rpartition("total=")[2]) / 1e6
    except (OSError, StopIteration, ValueError):
        return None


CallOfLength = Callable[[int], Callable[[], object]]
"""Function from a number of tokens to one pass over them."""


def one_layer_calls(spec: ModelSpec, longest: int) -> tuple[CallOfLength, CallOfLength]:
    """Return calls of one layer of a model and of a one-way LSTM of its width, random weights."""
    width = spec.architecture.d_model
    shape = replace(spec.architecture, n_layers=1, d_vocab=1_000)
    encoder = random_network(replace(spec, architecture=shape)).base_model
    layer = next(m for name, m in encoder.named_modules() if re.search(spec.kind.layer, name))
    lstm = fill_randomly(nn.LSTM(width, width, batch_first=True), 0)
    states = torch.randn(1, longest, width, generator=torch.Generator().manual_seed(0))
    return partial(_call, layer, states), partial(_call, lstm, states)


def _call(run: nn.Module, states: torch.Tensor, length: int) -> Callable[[], object]:
    def call() -> None:
        # Gradient mode belongs to a thread, so it is entered where the call runs.
        with torch.inference_mode():
            run(states[:, :length])

    return call


def pass_peak(spec: ModelSpec, workload: Workload, check: Call) -> int | None:
    """Return the peak extra bytes of one pass of a model, after a warm-up pass.

    Args:
        spec: the model.
        workload: the pass.
        check: called between layers; raises to cancel the pass.
    """
    from explorer.timing.networks import timed_network

    with (
        timed_network(spec, workload) as timed,
        interruptible([(spec, timed.network)], workload.tokens, check),
    ):
        call = forward_call(spec, timed.network, workload)
        call()
        return peak_bytes(call, workload.device)


def peak_bytes(call: Call, device: str = "cpu") -> int | None:
    """Return the peak of the bytes allocated during a call, beyond those before it.

    The process size does not show it: after the first call the allocator already has the pages.
    None where the device keeps no record.
    """
    if device != "cpu":
        return device_peak_bytes(call, device)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        call()
    return highest(allocations(record))


def allocations(record: profile) -> list[int]:
    """Return bytes allocated (positive) and freed (negative), in order of time."""
    profiler: Any = record.profiler  # its type omits the results of a recording
    events = [e for e in profiler.kineto_results.events() if e.name() == "[memory]"]
    return [e.nbytes() for e in sorted(events, key=lambda e: e.start_ns())]


def highest(changes: list[int]) -> int:
    """Return the highest running sum of a list of changes, from 0."""
    current = peak = 0
    for change in changes:
        current += change
        peak = max(peak, current)
    return peak


def device_peak_bytes(call: Call, device: str, memory: Any = torch.accelerator) -> int | None:  # noqa: ANN401
    """Return the peak extra bytes of a call from an accelerator's counter; None without one."""
    with on_device(device):
        memory.synchronize()
        try:
            memory.reset_peak_memory_stats()
            before = memory.memory_allocated()
        except (RuntimeError, NotImplementedError):
            return None
        call()
        memory.synchronize()
        return int(memory.max_memory_allocated() - before)
