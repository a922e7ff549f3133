"""Stored once, used how often: hooks count what one forward pass really calls."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel

Called = list[nn.Module]


@dataclass(frozen=True, slots=True)
class LayerCalls:
    """How many layers one forward pass went through and how many different ones there were."""

    calls: int
    distinct: int
    """Different weight tensors among the calls: 1 when one layer is shared by all."""
    tensors: tuple[int, ...]
    """For each call, which tensor it used, numbered from 0 in order of first use."""


@contextmanager
def _recorded(modules: list[nn.Module]) -> Iterator[Called]:
    """Each call of these modules, in order; the hooks are gone afterwards."""
    called: Called = []
    handles = [m.register_forward_hook(lambda m, _in, _out: called.append(m)) for m in modules]
    try:
        yield called
    finally:
        for handle in handles:
            handle.remove()


@torch.inference_mode()
def _forward(encoder: nn.Module, length: int = 2) -> None:
    device = next(encoder.parameters()).device
    encoder(input_ids=torch.zeros(1, length, dtype=torch.long, device=device))


def parameter_calls(encoder: nn.Module) -> dict[int, int]:
    """Times one forward pass uses each parameter, by the parameter's ``id``."""
    owners = [m for m in encoder.modules() if next(m.parameters(recurse=False), None) is not None]
    with _recorded(owners) as called:
        _forward(encoder)
    return Counter(id(p) for module in called for p in module.parameters(recurse=False))


def layer_calls(encoder: nn.Module, output_pattern: str) -> LayerCalls:
    """Layers one forward pass went through, recognised by their attention output projection."""
    pattern = re.compile(output_pattern)
    outputs = [module for name, module in encoder.named_modules() if pattern.search(name)]
    with _recorded(outputs) as called:
        _forward(encoder)
    numbers: dict[int, int] = {}
    tensors = tuple(numbers.setdefault(id(m.weight), len(numbers)) for m in called)
    return LayerCalls(len(called), len(numbers), tensors)


def loaded_layer_calls(loaded: "LoadedModel") -> LayerCalls:
    """The layer calls of a loaded network, while nobody else runs it."""
    with loaded.lock:
        return layer_calls(loaded.network.base_model, loaded.spec.kind.output)
