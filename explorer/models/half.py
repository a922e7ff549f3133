"""Layers in bfloat16, for lists: copies of a network's own, read at one position of each text.

The embeddings, the head and the softmax stay in float32. Every batch of texts of one padded length
has the same shape, so that a text's numbers are the same to the bit in any list.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers.activations import NewGELUActivation

from explorer.models.devices import kind_of
from explorer.models.layer_parts import (
    LayerParts,
    known_parts,
    state_at,
    states_after,
    states_before,
    tokens_read,
)
from explorer.models.loading import LoadedModel, forget_all, leased_as
from explorer.models.run import MaskedRow, half_rows, half_tokens
from explorer.models.specs import ModelSpec

DTYPE = "bfloat16"
COPY = " (layers in bfloat16)"
"""End of the name under which a copy is among the networks in memory."""
INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "bf16", "sve_bf16")
"""Names of the processors' instructions that multiply bfloat16, as PyTorch and Linux write them."""
LEAST_WIDTH = 512
"""Width of an encoder from which on bfloat16 gains time: the miniatures' lists took 1.16 times as
long in it, those of the base sizes 0.7 times (BENCHMARKS.md)."""
NARROW = "its layers are too narrow to gain time by bfloat16"
NO_INSTRUCTIONS = "this {device} has no instructions for bfloat16"
NOT_KNOWN = "{label} has modules of its own, so that its layers cannot be copied"


@cache
def has_instructions(device: str) -> bool:
    """Return whether a device multiplies bfloat16 by instructions of its own.

    PyTorch's own check of a processor, ``torch.ops.mkldnn._is_mkldnn_bf16_supported``, is true with
    AVX-512 without these instructions, where the products are emulated and slower than float32.
    """
    if kind_of(device) == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if kind_of(device) != "cpu" or not torch.backends.mkldnn.is_available():
        return False
    return any(map(processor().get, INSTRUCTIONS))


def processor() -> Mapping[str, Any]:
    """Return the processor's features by name, from PyTorch or else from Linux."""
    if hasattr(torch.cpu, "get_capabilities"):
        return torch.cpu.get_capabilities()
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    return {
        flag: True
        for line in lines
        if line.lower().startswith(("flags", "features"))
        for flag in line.partition(":")[2].split()
    }


def half_refused(loaded: LoadedModel) -> str:
    """Return why a network's layers cannot run in bfloat16; empty if they can."""
    if not has_instructions(loaded.device):
        return NO_INSTRUCTIONS.format(device=loaded.device)
    if loaded.spec.architecture.d_model < LEAST_WIDTH:
        return NARROW
    with loaded.lock:
        return "" if known_parts(loaded) else NOT_KNOWN.format(label=loaded.spec.label)


@dataclass(frozen=True, slots=True, eq=False)
class HalfLayers:
    """A network's layers in bfloat16."""

    spec: ModelSpec
    layers: tuple[LayerParts, ...]
    dtype: str = DTYPE

    def state_at(
        self,
        states: torch.Tensor,
        is_read: torch.Tensor | None,
        where: tuple[torch.Tensor, torch.Tensor],
    ) -> torch.Tensor:
        """Return the last hidden state, float32 [text, d_model], at one position of each text.

        Args:
            states: What enters the first layer, [text, position, d_model].
            is_read: As in ``layer_parts.state_at``; so is the next.
            where: Indices of the texts and of their positions.
        """
        states = states.to(torch.bfloat16)
        for parts in self.layers[:-1]:
            states = states_after(parts, states, is_read)
        return state_at(self.layers[-1], states, is_read, where).float()


@contextmanager
def half_layers(loaded: LoadedModel) -> Iterator[HalfLayers]:
    """Use the copy of a network's layers, made if there is none; see ``forget_half``."""

    def make() -> HalfLayers:
        with loaded.lock:
            return copied(loaded)

    key = (loaded.spec.name + COPY, loaded.device, DTYPE)
    with leased_as(key, loaded.spec, make) as layers:
        yield layers


def forget_half(loaded: LoadedModel) -> None:
    """Remove the copy of a network's layers from memory as soon as no batch uses it."""
    forget_all(lambda name: name == loaded.spec.name + COPY)


def copied(loaded: LoadedModel) -> HalfLayers:
    """Return a copy of the layers in bfloat16; layers that share their weights share the copy's."""
    copies: dict[int, nn.Module] = {}

    def half(module: nn.Module) -> nn.Module:
        if id(module) not in copies:
            copies[id(module)] = _half(module)
        return copies[id(module)]

    names = [field.name for field in fields(LayerParts) if field.name != "n_heads"]
    layers = tuple(
        LayerParts(parts.n_heads, *(half(getattr(parts, name)) for name in names))  # type: ignore[arg-type]
        for parts in known_parts(loaded)
    )
    return HalfLayers(loaded.spec, layers)


def _half(module: nn.Module) -> nn.Module:
    """Return a copy of a module in bfloat16; ALBERT's GELU in one operation instead of eight."""
    if isinstance(module, NewGELUActivation):
        return nn.GELU("tanh")
    weights = {id(w): nn.Parameter(w.to(torch.bfloat16), False) for w in module.parameters()}
    return copy.deepcopy(module, weights)  # which takes these for the weights, and copies no other


def read_states(loaded: LoadedModel, rows: Sequence[MaskedRow]) -> torch.Tensor:
    """Return the last hidden state, float32 [row, d_model], at each row's position.

    Args:
        loaded: A network whose structure is known.
        rows: Rows of one ``half_tokens``, at most ``half_rows`` of it.

    Raises:
        ValueError: they are not of one padded length, or too many.
    """
    lengths = {half_tokens(len(row.ids), loaded.max_tokens) for row in rows}
    n_tokens = lengths.pop()
    n_rows = half_rows(n_tokens, loaded.device)
    if lengths or len(rows) > n_rows:
        raise ValueError("rows of a batch in bfloat16 must fit its one shape")
    filled = (*rows, *[rows[0]] * (n_rows - len(rows)))
    inputs = _of_one_shape(loaded, filled, n_tokens)
    positions = torch.tensor([row.position for row in filled], device=loaded.device)
    where = torch.arange(n_rows, device=loaded.device), positions
    with loaded.lock:
        states = states_before(loaded, 0, inputs)
    with half_layers(loaded) as layers:
        return layers.state_at(states, tokens_read(inputs), where)


def _of_one_shape(
    loaded: LoadedModel, rows: Sequence[MaskedRow], n_tokens: int
) -> dict[str, torch.Tensor]:
    """Return the encoder's arguments, padded to a number of tokens, always with their mask."""
    pad = int(loaded.tokenizer.pad_token_id)
    more = [n_tokens - len(row.ids) for row in rows]
    values = {
        "input_ids": [(*row.ids, *((pad,) * n)) for row, n in zip(rows, more, strict=True)],
        "attention_mask": [(1,) * len(row.ids) + (0,) * (n_tokens - len(row.ids)) for row in rows],
    }
    if loaded.spec.architecture.n_segments > 1:
        values["token_type_ids"] = [
            (*row.segments, *((0,) * n)) for row, n in zip(rows, more, strict=True)
        ]
    return {name: torch.tensor(each, device=loaded.device) for name, each in values.items()}
