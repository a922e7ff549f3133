"""Memory of one forward pass besides the weights, from the allocator's records."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.profiler import ProfilerActivity, profile

from explorer.models.devices import on_device

if TYPE_CHECKING:
    from explorer.models.specs import ModelSpec
    from explorer.timing.workload import Workload

# Otherwise the profiler's library logs every start and stop.
os.environ.setdefault("KINETO_LOG_LEVEL", "6")
Call = Callable[[], object]


def pass_peak(spec: "ModelSpec", workload: "Workload", check: Call) -> int | None:
    """Return the peak extra bytes of one pass of a model, after a warm-up pass.

    Args:
        spec: the model.
        workload: the pass.
        check: called between layers; raises to cancel the pass.
    """
    from explorer.timing.networks import timed_network
    from explorer.timing.protocol import forward_call, interruptible

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
