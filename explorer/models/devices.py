"""Devices of this machine: names, synchronisation, free memory."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import torch
from torch.nn import functional

from explorer.models.zerogpu import may_use_gpu


def available_devices() -> tuple[str, ...]:
    """Return ``cpu``, then the accelerators with the first one last: ``cuda:1``, ``cuda``.

    The kind is torch's own name: ``cuda`` (ROCm too), ``mps``, ``xpu`` or what is present.
    """
    is_there = may_use_gpu() and torch.accelerator.is_available()
    accelerator = torch.accelerator.current_accelerator() if is_there else None
    if accelerator is None:
        return ("cpu",)
    others = [f"{accelerator.type}:{i}" for i in range(1, torch.accelerator.device_count())]
    return ("cpu", *reversed(others), accelerator.type)


def resolve_device(device: str) -> str:
    """Return the device to use: ``auto`` is the first accelerator, an absent one ``cpu``."""
    devices = available_devices()
    return devices[-1] if device == "auto" else device if device in devices else "cpu"


@cache
def computes_in(device: str, dtype: torch.dtype) -> bool:
    """Return whether a device implements the operations of a layer in this precision."""
    try:
        x = torch.ones(2, 2, dtype=dtype, device=device)
        functional.gelu(functional.layer_norm(functional.linear(x, x), (2,)).softmax(-1) @ x)
    except RuntimeError as error:
        if "not implemented" not in str(error) and not isinstance(error, NotImplementedError):
            raise
        return False
    return True


def kind_of(device: str) -> str:
    """Return the kind of a device: ``cuda`` for ``cuda:1``."""
    return device.partition(":")[0]


def device_name(device: str) -> str:
    """Return an accelerator's own name where its torch module gives one, else torch's."""
    get_name = getattr(torch.get_device_module(device), "get_device_name", None)
    return str(get_name(device)) if get_name else device


def synchronise(device: str) -> None:
    """Wait until an accelerator has finished all queued work."""
    with on_device(device):
        torch.accelerator.synchronize()


def on_device(device: str) -> AbstractContextManager[object]:
    """Return a context in which events and queued work go to this accelerator."""
    index = torch.device(device).index
    return nullcontext() if index is None else torch.accelerator.device_index(index)


def new_event(device: str) -> Callable[[], Any] | None:
    """Return a factory of timed events in an accelerator's queue; None where it has none."""
    event = getattr(torch.get_device_module(device), "Event", None)
    return (lambda: event(enable_timing=True)) if event else None


def free_device_bytes(device: str) -> int | None:
    """Return the free bytes of an accelerator; None where it does not report them."""
    try:
        return int(torch.accelerator.get_memory_info(torch.device(device).index)[0])
    except (RuntimeError, NotImplementedError):
        return None


def forget_free_memory() -> None:
    """Release cached accelerator memory that no tensor uses."""
    if torch.accelerator.is_available():
        torch.accelerator.empty_cache()
