"""The devices of this machine: names, synchronisation, free memory."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import torch
from torch.nn import functional

from explorer.models.zerogpu import may_use_gpu


def available_devices() -> tuple[str, ...]:
    """Always ``cpu``; then the accelerators, the first one last: ``cuda:1``, ``cuda``.

    The kind is torch's own name: ``cuda`` (ROCm too), ``mps``, ``xpu`` or what is present.
    """
    found = torch.accelerator.current_accelerator(check_available=True) if may_use_gpu() else None
    if found is None:
        return ("cpu",)
    others = [f"{found.type}:{i}" for i in range(1, torch.accelerator.device_count())]
    return ("cpu", *reversed(others), found.type)


def resolve_device(device: str) -> str:
    """``auto`` becomes the first accelerator; a device that is absent becomes ``cpu``."""
    devices = available_devices()
    return devices[-1] if device == "auto" else device if device in devices else "cpu"


@cache
def computes_in(device: str, dtype: torch.dtype) -> bool:
    """Whether a device has the operations of a layer in this precision."""
    try:
        x = torch.ones(2, 2, dtype=dtype, device=device)
        functional.gelu(functional.layer_norm(functional.linear(x, x), (2,)).softmax(-1) @ x)
    except RuntimeError as error:
        if "not implemented" not in str(error) and not isinstance(error, NotImplementedError):
            raise
        return False
    return True


def kind_of(device: str) -> str:
    """``cuda`` for ``cuda:1``."""
    return device.partition(":")[0]


def device_name(device: str) -> str:
    """An accelerator's own name where its module says one, else torch's."""
    named = getattr(torch.get_device_module(device), "get_device_name", None)
    return str(named(device)) if named else device


def synchronise(device: str) -> None:
    """Wait until an accelerator has done all that was queued for it."""
    with on_device(device):
        torch.accelerator.synchronize()


def on_device(device: str) -> AbstractContextManager[object]:
    """Marks and queues in here are this accelerator's, where there are several."""
    index = torch.device(device).index
    return nullcontext() if index is None else torch.accelerator.device_index(index)


def new_event(device: str) -> Callable[[], Any] | None:
    """How to make a timed mark in an accelerator's queue; None where it has none."""
    event = getattr(torch.get_device_module(device), "Event", None)
    return (lambda: event(enable_timing=True)) if event else None


def free_device_bytes(device: str) -> int | None:
    """Bytes that an accelerator has left; None where it does not say."""
    try:
        return int(torch.accelerator.get_memory_info(torch.device(device).index)[0])
    except (RuntimeError, NotImplementedError):
        return None


def forget_free_memory() -> None:
    """Give the memory that no tensor holds back to the accelerator."""
    if torch.accelerator.is_available():
        torch.accelerator.empty_cache()
