"""From a shape alone: work, sharing, the seven sizes, a model of one's own, memory of a pass."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from explorer.analysis.parameters.count import ParameterCounts, network_parameters, parameter_counts
from explorer.analysis.parameters.shape import Saving, savings, shape_flops
from explorer.models.architectures import SHARING_MODES, meta_network, sharing_network
from explorer.models.choice.family import family_specs, shape_counts, shape_total
from explorer.models.specs import BASE, LARGER, MODEL_KEYS, Architecture, ModelSpec
from explorer.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Scores:
    """One row of the ALBERT paper's Table 4: published development scores, nothing measured."""

    printed_millions: int
    squad1: str
    """F1/EM."""
    squad2: str
    mnli: float
    sst2: float
    race: float
    average: float


TABLE_4: dict[int, dict[str, Scores]] = {
    768: {
        "none": Scores(108, "90.4/83.2", "80.4/77.6", 84.5, 92.8, 68.2, 82.3),
        "attention": Scores(83, "89.9/82.7", "80.0/77.2", 84.0, 91.4, 67.7, 81.6),
        "ffn": Scores(57, "89.2/82.1", "78.2/75.4", 81.5, 90.8, 62.6, 79.5),
        "all": Scores(31, "88.6/81.5", "79.2/76.6", 82.0, 90.6, 63.3, 79.8),
    },
    128: {
        "none": Scores(89, "89.9/82.8", "80.3/77.3", 83.2, 91.5, 67.9, 81.6),
        "attention": Scores(64, "89.9/82.8", "80.7/77.9", 83.4, 91.9, 67.6, 81.7),
        "ffn": Scores(38, "88.9/81.6", "78.6/75.6", 82.3, 91.7, 64.4, 80.2),
        "all": Scores(12, "89.3/82.3", "80.0/77.1", 82.0, 90.3, 64.0, 80.1),
    },
}
"""Lan et al. 2019, Table 4 (ALBERT-base), by embedding size E and sharing mode."""


@dataclass(frozen=True, slots=True)
class SharingMode:
    """One way to share, as a real network counted on the meta device."""

    mode: str
    d_embedding: int
    total: int
    applied: int
    scores: Scores


@lru_cache(maxsize=2)
def sharing_modes(d_embedding: int) -> tuple[SharingMode, ...]:
    """The four modes of ALBERT-base at E = 128 or 768, unshared first."""
    spec = BASE["albert"]
    spec = replace(spec, architecture=replace(spec.architecture, d_embedding=d_embedding))
    modes = []
    for mode in SHARING_MODES:
        counts = network_parameters(mode, sharing_network(spec, mode))
        scores = TABLE_4[d_embedding][mode]
        modes.append(SharingMode(mode, d_embedding, counts.total, counts.applied, scores))
    return tuple(modes)


@dataclass(frozen=True, slots=True)
class Printed:
    """A number of parameters as a paper prints it, in millions."""

    millions: float
    source: str


_BERT, _DISTILBERT = "Devlin et al. 2018, section 3", "Sanh et al. 2019, Table 3"
_ALBERT = "Lan et al. 2019, Table 1"
PRINTED: dict[str, tuple[Printed, ...]] = {
    "bert-base-uncased": (Printed(110, _BERT), Printed(108, _ALBERT)),
    "bert-large-uncased": (Printed(340, _BERT), Printed(334, _ALBERT)),
    "distilbert-base-uncased": (Printed(66, _DISTILBERT),),
    "albert-base-v2": (Printed(12, _ALBERT),),
    "albert-large-v2": (Printed(18, _ALBERT),),
    "albert-xlarge-v2": (Printed(60, _ALBERT),),
    "albert-xxlarge-v2": (Printed(235, _ALBERT),),
}
"""What the papers print, the model's own paper first; nothing for others."""


@dataclass(frozen=True, slots=True)
class Size:
    """One of the seven with everything its shape decides."""

    spec: ModelSpec
    total: int
    applied: int
    printed: tuple[Printed, ...]
    flops: tuple[int, int, int]
    """Operations of one pass over T tokens: ``flops[0] + flops[1] T + flops[2] T^2``."""


@lru_cache(maxsize=1)
def seven_sizes() -> tuple[Size, ...]:
    """Every published size of every model, small to large within each."""
    published = (*BASE.values(), *LARGER.values())
    return tuple(_size(spec) for key in MODEL_KEYS for spec in published if spec.key == key)


def _size(spec: ModelSpec) -> Size:
    counts = parameter_counts(spec)
    return Size(
        spec,
        counts.total,
        counts.applied,
        PRINTED.get(spec.name, ()),
        flops_coefficients(spec.architecture),
    )


def flops_coefficients(shape: Architecture) -> tuple[int, int, int]:
    """The three numbers from which a browser computes the work at any length by itself."""
    none, one, two = (shape_flops(shape, length) for length in (0, 1, 2))
    square = (two - 2 * one + none) // 2
    return none, one - none - square, square


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """One model of a family with its counts and the changes that lead to it from BERT."""

    spec: ModelSpec
    counts: ParameterCounts
    savings: tuple[Saving, ...]
    """Empty for BERT itself."""


def family_members(family: str) -> tuple[FamilyMember, ...]:
    """The members of a family in the fixed order; none if its shapes are not on this machine."""
    specs = family_specs(family)
    if not all(spec.architecture.d_vocab for spec in specs):
        return ()
    first = specs[0].architecture
    return tuple(
        FamilyMember(spec, parameter_counts(spec), savings(first, spec.architecture))
        for spec in specs
    )


SHARING = ("none", "attention", "ffn", "all")
LIMITS: dict[str, tuple[str, int, int]] = {
    "n_layers": ("The number of layers L", 1, 96),
    "d_model": ("The width H", 1, 16_384),
    "n_heads": ("The number of heads A", 1, 256),
    "d_ffn": ("The feed-forward width F", 1, 65_536),
    "d_embedding": ("The embedding width E", 1, 16_384),
    "d_vocab": ("The vocabulary V", 2, 1_000_000),
    "n_segments": ("The number of segments", 0, 16),
    "n_positions": ("The number of positions", 1, 32_768),
    "length": ("The length", 1, 4_096),
    "batch": ("The batch", 1, 256),
}
"""Name for the reader, smallest and largest value."""


class Contradiction(Refusal):
    """A shape that cannot be; the message says why in one sentence."""


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """What a shape decides before anything is trained."""

    shape: Architecture
    sharing: str
    length: int
    batch: int
    components: dict[str, int]
    applied: int
    """Numbers one pass uses: the count of the same shape with nothing shared."""
    flops: int
    """One forward pass over the batch."""
    peak_bytes: int
    """Most activation bytes alive at once in float32."""

    @property
    def followed(self) -> ModelSpec:
        """The network whose pass says what the whole shape's takes."""
        return followed_spec(self.shape)

    @property
    def total(self) -> int:
        """Numbers stored."""
        return sum(self.components.values())


def built_model(values: Mapping[str, Any]) -> BuiltModel:
    """Counts, work and activation memory of the shape a reader typed.

    Raises:
        Contradiction: a value out of range, or values that exclude each other.
    """
    numbers: dict[str, Any] = {name: _whole(name, values.get(name)) for name in LIMITS}
    length, batch = numbers.pop("length"), numbers.pop("batch")
    sharing = str(values.get("sharing", "none"))
    factorised = numbers["d_embedding"] != numbers["d_model"]
    shape = Architecture(
        **numbers,
        has_pooler=values.get("has_pooler") is True,
        has_projection=factorised,
        shares_layers=sharing == "all",
    )
    _refuse_contradictions(shape, sharing, length)
    return BuiltModel(
        shape,
        sharing,
        length,
        batch,
        shape_counts(shape, sharing),
        shape_total(shape, "none"),
        shape_flops(shape, length, batch),
        activation_bytes(shape, length, batch),
    )


def _whole(name: str, value: object) -> int:
    label, low, high = LIMITS[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise Contradiction(f"{label} must be a whole number.")
    if not low <= value <= high:
        raise Contradiction(f"{label} must lie between {low:,} and {high:,}.")
    return int(value)


def _refuse_contradictions(shape: Architecture, sharing: str, length: int) -> None:
    if sharing not in SHARING:
        raise Contradiction("Layers can share nothing, the attention, the FFN or everything.")
    if shape.d_model % shape.n_heads:
        raise Contradiction(
            f"{shape.n_heads} heads cannot share a width of {shape.d_model:,} evenly: "
            f"H must be a multiple of A."
        )
    if shape.d_embedding > shape.d_model:
        raise Contradiction(
            f"An embedding of {shape.d_embedding:,} is wider than the layers' {shape.d_model:,}: "
            f"factorising needs E at most H."
        )
    if length > shape.n_positions:
        raise Contradiction(
            f"{length:,} tokens do not fit into {shape.n_positions:,} positions: "
            f"shorten the text or add positions."
        )


def activation_bytes(shape: Architecture, length: int, batch: int) -> int:
    """Peak activation bytes of a shape, followed through a real forward pass on meta tensors."""
    return shape_memory(followed_spec(shape), length, batch).peak_bytes


def followed_spec(shape: Architecture) -> ModelSpec:
    """The network whose pass is followed in place of a whole shape's.

    Two layers are enough: each layer's tensors are freed before the next one's are made. The
    released classes differ in their activation function, so a factorised shape runs as ALBERT.
    """
    spec = next(s for s in BASE.values() if s.architecture.has_projection == shape.has_projection)
    followed: dict[str, Any] = {
        "activation": spec.architecture.activation,
        "n_layers": min(2, shape.n_layers),
        "shares_layers": shape.has_projection,
        "n_segments": max(1, shape.n_segments),
        "d_vocab": 2,
    }
    return replace(spec, architecture=replace(shape, **followed))


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
