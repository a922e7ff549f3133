"""Weights against activations: the bytes alive at once while one forward pass runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from explorer.models.architectures import meta_network
from explorer.models.specs import ModelSpec


@dataclass(frozen=True, slots=True)
class ForwardMemory:
    """What one forward pass of an encoder holds in memory."""

    weight_bytes: int
    peak_bytes: int
    """Most bytes alive at once that the pass itself made, its outputs included."""
    length: int
    batch: int


class _AliveBytes(TorchDispatchMode):
    """Follows every storage that an operation makes until it is freed.

    Sees what operations return, not the scratch space inside one operation, so a real allocator
    may hold a little more for a moment.
    """

    def __init__(self, known: set[int]) -> None:
        super().__init__()
        self.known = known
        self.alive: dict[int, tuple[StorageWeakRef, int]] = {}
        self.peak = 0

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401
        types: Any,  # noqa: ANN401
        args: tuple = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        out = func(*args, **(kwargs or {}))
        self.alive = {k: v for k, v in self.alive.items() if not v[0].expired()}
        for leaf in tree_leaves(out):
            if isinstance(leaf, torch.Tensor):
                self._add(leaf.untyped_storage())
        self.peak = max(self.peak, sum(size for _, size in self.alive.values()))
        return out

    def _add(self, storage: torch.UntypedStorage) -> None:
        key = storage._cdata
        if key not in self.known and key not in self.alive:
            self.alive[key] = (StorageWeakRef(storage), storage.nbytes())


def forward_memory(
    encoder: nn.Module, length: int, batch: int = 1, keeps: bool = False
) -> ForwardMemory:
    """Peak activation bytes of one encoder pass over ``batch`` texts of ``length`` tokens.

    With ``keeps`` the pass returns every attention matrix and hidden state, as the explorer asks
    for; without, a layer's tensors are freed before the next layer runs.

    On the meta device nothing is computed, yet every tensor has its size: shapes too large for
    this machine can be measured the same way. The caller holds the network's lock.
    """
    device = next(encoder.parameters()).device
    ids = torch.zeros(batch, length, dtype=torch.long, device=device)
    tensors = [*encoder.parameters(), *encoder.buffers(), ids]
    known = {tensor.untyped_storage()._cdata for tensor in tensors}
    with torch.inference_mode(), _AliveBytes(known) as alive:
        encoder(input_ids=ids, output_attentions=keeps, output_hidden_states=keeps)
    weights = sum(p.numel() * p.element_size() for p in encoder.parameters())
    return ForwardMemory(weights, alive.peak, length, batch)


@lru_cache(maxsize=256)
def shape_memory(
    spec: ModelSpec, length: int, batch: int = 1, keeps: bool = False
) -> ForwardMemory:
    """The same for a spec's architecture in float32, without weights and without memory."""
    return forward_memory(meta_network(spec).base_model, length, batch, keeps)
