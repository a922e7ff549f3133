"""Any shape: what it would store, apply and cost, and why a shape cannot be."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from explorer.analysis.parameters.memory import shape_memory
from explorer.analysis.parameters.shape import shape_flops
from explorer.models.choice.counts import shape_counts, shape_total
from explorer.models.specs import BASE, Architecture, ModelSpec
from explorer.refusal import Refusal

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
