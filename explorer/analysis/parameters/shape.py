"""Operations of a forward pass, and parameter savings between two shapes, from shapes alone."""

from dataclasses import dataclass, replace

from explorer.models.choice.family import shape_total
from explorer.models.specs import Architecture, ModelSpec


def forward_flops(spec: ModelSpec, length: int, batch: int = 1, head: bool = False) -> int:
    """Count the floating-point operations of one forward pass; a multiply-add is two.

    Matrix products only, the two attention products included, as
    ``torch.utils.flop_counter`` counts them; ``head`` adds the masked-language-model head
    at every position.
    """
    return shape_flops(spec.architecture, length, batch, head)


def shape_flops(shape: Architecture, length: int, batch: int = 1, head: bool = False) -> int:
    """Count ``forward_flops`` of a shape: 2 L T (4 H^2 + 2 H F) + 4 L T^2 H, projection, pooler."""
    h, e, f, positions = shape.d_model, shape.d_embedding, shape.d_ffn, length * batch
    layer = 2 * positions * (4 * h * h + 2 * h * f) + 4 * positions * length * h
    projection = 2 * positions * e * h * shape.has_projection
    pooler = 2 * batch * h * h * shape.has_pooler
    words = 2 * positions * (h * e + e * shape.d_vocab) * head
    return shape.n_layers * layer + projection + pooler + words


@dataclass(frozen=True, slots=True)
class Saving:
    """One change between two shapes, and the number of parameters before and after it."""

    change: str
    """Key of ``_CHANGES``, such as ``layers``, ``pooler`` or ``sharing``."""
    before: int
    after: int

    @property
    def saved(self) -> int:
        """The number of parameters saved; negative if the change adds some."""
        return self.before - self.after


_CHANGES = {
    "layers": ("n_layers",),
    "width": ("d_model", "d_ffn", "n_heads"),
    "segments": ("n_segments",),
    "pooler": ("has_pooler",),
    "vocabulary": ("d_vocab",),
    "sharing": ("shares_layers",),
    "factorising": ("d_embedding", "has_projection"),
    "positions": ("n_positions",),
}


def savings(start: Architecture, end: Architecture) -> tuple[Saving, ...]:
    """Compute the saving of each change between two shapes, applied in a fixed order."""
    steps, shape = [], start
    # An embedding that is not factorised is as wide as the layers.
    width = () if end.has_projection else ("d_embedding",)
    for change, fields in _CHANGES.items():
        fields = (*fields, *width) if change == "width" else fields
        changed = replace(shape, **{field: getattr(end, field) for field in fields})
        if shape_total(changed) != shape_total(shape):
            steps.append(Saving(change, shape_total(shape), shape_total(changed)))
        shape = changed
    return tuple(steps)
