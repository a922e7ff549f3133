"""What one forward pass takes on top of the weights, from the allocator's own record."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.profiler import ProfilerActivity, profile

from explorer.models.devices import on_device

if TYPE_CHECKING:
    from explorer.models.specs import ModelSpec
    from explorer.timing.workload import Workload

# Else the profiler's library writes lines of its own to the log whenever it starts and stops.
os.environ.setdefault("KINETO_LOG_LEVEL", "6")
Call = Callable[[], object]


def pass_peak(spec: "ModelSpec", workload: "Workload", check: Call) -> int | None:
    """Peak extra bytes of one pass of a model, after a pass that does not count.

    Args:
        spec: the model.
        workload: the pass.
        check: called between layers; it raises to end the pass.
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
    """The most bytes that were held at one moment of a call beyond those held before it.

    The process's size cannot tell: after the first call the allocator has the pages already.
    None where the device keeps no record.
    """
    if device != "cpu":
        return device_peak_bytes(call, device)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        call()
    return highest(allocations(record))


def allocations(record: profile) -> list[int]:
    """Bytes taken (positive) and given back (negative), in the order of time."""
    found: Any = record.profiler  # its type does not say what it holds after a recording
    events = [e for e in found.kineto_results.events() if e.name() == "[memory]"]
    return [e.nbytes() for e in sorted(events, key=lambda e: e.start_ns())]


def highest(changes: list[int]) -> int:
    """The highest running sum of a list of changes that starts at nothing."""
    held = most = 0
    for change in changes:
        held += change
        most = max(most, held)
    return most


def device_peak_bytes(call: Call, device: str, memory: Any = torch.accelerator) -> int | None:  # noqa: ANN401
    """The same from an accelerator's own peak counter; None where it has none."""
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
