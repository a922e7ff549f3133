"""Memory that one forward pass takes on top of the weights, from the allocator's own record."""

from collections.abc import Callable
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

Call = Callable[[], object]


def peak_bytes(call: Call, device: str = "cpu") -> int | None:
    """The most bytes that were held at one moment of a call beyond those held before it.

    The process's size cannot tell: after the first call the allocator has the pages already.
    None where the device keeps no record.
    """
    if device == "cuda":
        return cuda_peak_bytes(call, torch.cuda)
    if device != "cpu":
        return None
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


def cuda_peak_bytes(call: Call, device: object) -> int:
    """The same from a CUDA device's own peak counter."""
    device.synchronize()  # type: ignore[attr-defined]
    device.reset_peak_memory_stats()  # type: ignore[attr-defined]
    before = device.memory_allocated()  # type: ignore[attr-defined]
    call()
    device.synchronize()  # type: ignore[attr-defined]
    return int(device.max_memory_allocated() - before)  # type: ignore[attr-defined]
