"""Results from shapes alone: sharing modes, published sizes, custom models, pass memory."""

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
from explorer.refusal import Refusal, Sentence


@dataclass(frozen=True, slots=True)
class Scores:
    """One row of the ALBERT paper's Table 4: published scores on the development sets."""

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
    """One sharing mode, counted on a network on the meta device."""

    mode: str
    d_embedding: int
    total: int
    applied: int
    scores: Scores


@lru_cache(maxsize=2)
def sharing_modes(d_embedding: int) -> tuple[SharingMode, ...]:
    """Return the four sharing modes of ALBERT-base at E = 128 or 768, unshared first."""
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
    """Number of parameters as a paper prints it, in millions."""

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
"""Printed numbers by model name, that of the model's own paper first."""


@dataclass(frozen=True, slots=True)
class Size:
    """One of the seven published sizes, with the numbers that follow from its shape."""

    spec: ModelSpec
    total: int
    applied: int
    printed: tuple[Printed, ...]
    flops: tuple[int, int, int]
    """Operations of one forward pass over T tokens: ``flops[0] + flops[1] T + flops[2] T^2``."""


@lru_cache(maxsize=1)
def seven_sizes() -> tuple[Size, ...]:
    """Return the published sizes of every model, small to large within each."""
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
    """Return a, b, c of the operations a + b T + c T^2, for the browser to compute any length T."""
    at_0, at_1, at_2 = (shape_flops(shape, length) for length in (0, 1, 2))
    square = (at_2 - 2 * at_1 + at_0) // 2
    return at_0, at_1 - at_0 - square, square


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """One model of a family, with its counts and the savings of each change from BERT."""

    spec: ModelSpec
    counts: ParameterCounts
    savings: tuple[Saving, ...]
    """Empty for BERT itself."""


def family_members(family: str) -> tuple[FamilyMember, ...]:
    """Return the members of a family in a fixed order; empty if its files are missing here."""
    specs = family_specs(family)
    if not all(spec.architecture.d_vocab for spec in specs):
        return ()
    bert_shape = specs[0].architecture
    return tuple(
        FamilyMember(spec, parameter_counts(spec), savings(bert_shape, spec.architecture))
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
"""Printed name, smallest and largest value of each input."""


class Contradiction(Refusal):
    """Refusal of an impossible shape; the message gives the reason in one sentence."""


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """Counts, operations and memory of a custom shape."""

    shape: Architecture
    sharing: str
    length: int
    batch: int
    components: dict[str, int]
    applied: int
    """Parameters applied by one forward pass: the count of the same shape with nothing shared."""
    flops: int
    """Operations of one forward pass over the batch."""
    peak_bytes: int
    """Peak activation bytes in float32."""

    @property
    def reduced_spec(self) -> ModelSpec:
        """The spec of the reduced network whose forward pass gives this shape's peak memory."""
        return reduced_spec(self.shape)

    @property
    def total(self) -> int:
        """The number of stored parameters."""
        return sum(self.components.values())


def built_model(values: Mapping[str, Any]) -> BuiltModel:
    """Compute counts, operations and activation memory of a custom shape.

    Raises:
        Contradiction: a value is out of range, or two values contradict each other.
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
        shape_memory(reduced_spec(shape), length, batch).peak_bytes,
    )


def _whole(name: str, value: object) -> int:
    label, low, high = LIMITS[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise Contradiction(Sentence("not-a-whole-number", f"{label} must be a whole number."))
    if not low <= value <= high:
        raise Contradiction(
            Sentence("shape-out-of-bounds", f"{label} must lie between {low:,} and {high:,}.")
        )
    return int(value)


def _refuse_contradictions(shape: Architecture, sharing: str, length: int) -> None:
    if sharing not in SHARING:
        raise Contradiction(
            Sentence(
                "bad-sharing", "Layers can share nothing, the attention, the FFN or everything."
            )
        )
    if shape.d_model % shape.n_heads:
        raise Contradiction(
            Sentence(
                "width-not-divisible",
                f"{shape.n_heads} heads cannot share a width of {shape.d_model:,} evenly: "
                f"H must be a multiple of A.",
            )
        )
    if shape.d_embedding > shape.d_model:
        raise Contradiction(
            Sentence(
                "embedding-too-wide",
                f"An embedding of {shape.d_embedding:,} is wider than the layers' "
                f"{shape.d_model:,}: factorising needs E at most H.",
            )
        )
    if length > shape.n_positions:
        raise Contradiction(
            Sentence(
                "too-few-positions",
                f"{length:,} tokens do not fit into {shape.n_positions:,} positions: "
                f"shorten the text or add positions.",
            )
        )


def reduced_spec(shape: Architecture) -> ModelSpec:
    """Return the spec of a reduced network with the same peak activation memory as a shape.

    Two layers are enough: each layer's tensors are freed before the next one's are made. The
    released classes differ in their activation function, so a factorised shape runs as ALBERT.
    """
    spec = next(s for s in BASE.values() if s.architecture.has_projection == shape.has_projection)
    changes: dict[str, Any] = {
        "activation": spec.architecture.activation,
        "n_layers": min(2, shape.n_layers),
        "shares_layers": shape.has_projection,
        "n_segments": max(1, shape.n_segments),
        "d_vocab": 2,
    }
    return replace(spec, architecture=replace(shape, **changes))


@dataclass(frozen=True, slots=True)
class ForwardMemory:
    """Memory of one forward pass of an encoder: weights and activations."""

    weight_bytes: int
    peak_bytes: int
    """Peak bytes of tensors that the pass itself allocates, its outputs included."""
    length: int
    batch: int


class _AliveBytes(TorchDispatchMode):
    """Dispatch mode that tracks the bytes of every storage until it is freed.

    Only results of operations are counted, not the scratch space inside one, so a real allocator
    may briefly hold a little more.
    """

    def __init__(self, ignored: set[int]) -> None:
        super().__init__()
        self.ignored = ignored
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
        if key not in self.ignored and key not in self.alive:
            self.alive[key] = (StorageWeakRef(storage), storage.nbytes())


def forward_memory(
    encoder: nn.Module, length: int, batch: int = 1, with_outputs: bool = False
) -> ForwardMemory:
    """Compute the peak activation bytes of a pass over ``batch`` texts of ``length`` tokens.

    With ``with_outputs`` the pass returns all attention matrices and hidden states, as the explorer
    requests; without, a layer's tensors are freed before the next layer runs.

    On the meta device nothing is computed, but every tensor has its size, so shapes too large for
    this machine can be measured too. The caller must hold the network's lock.
    """
    device = next(encoder.parameters()).device
    ids = torch.zeros(batch, length, dtype=torch.long, device=device)
    tensors = [*encoder.parameters(), *encoder.buffers(), ids]
    known = {tensor.untyped_storage()._cdata for tensor in tensors}
    with torch.inference_mode(), _AliveBytes(known) as alive:
        encoder(input_ids=ids, output_attentions=with_outputs, output_hidden_states=with_outputs)
    weights = sum(p.numel() * p.element_size() for p in encoder.parameters())
    return ForwardMemory(weights, alive.peak, length, batch)


@lru_cache(maxsize=256)
def shape_memory(
    spec: ModelSpec, length: int, batch: int = 1, with_outputs: bool = False
) -> ForwardMemory:
    """Compute ``forward_memory`` of a spec's architecture in float32 on the meta device."""
    return forward_memory(meta_network(spec).base_model, length, batch, with_outputs)
