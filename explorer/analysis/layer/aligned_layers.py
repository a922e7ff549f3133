"""Which layer of each model stands beside a layer of one of them."""

from collections.abc import Sequence

from explorer.models.choice.family import teacher_of
from explorer.models.specs import ModelSpec


def aligned_layers(specs: Sequence[ModelSpec], key: str, layer: int) -> dict[str, int]:
    """For a layer of the model of this key the layer of every model, all counted from 0.

    A student whose teacher is there stands beside the layer that it was initialised from (or the
    last one before it); any other two models at the same relative depth.
    """
    chosen = next(spec for spec in specs if spec.key == key)
    layer = min(layer, chosen.architecture.n_layers - 1)
    given, at = chosen, layer
    if (teacher := teacher_of(chosen)) and teacher in specs:
        given, at = teacher, chosen.initialised_from[layer]
    return {
        spec.key: layer if spec is chosen else _beside(specs, spec, given, at) for spec in specs
    }


def _beside(specs: Sequence[ModelSpec], spec: ModelSpec, given: ModelSpec, layer: int) -> int:
    teacher = teacher_of(spec)
    if not teacher or teacher not in specs:
        return _as_deep(spec, given, layer)
    at = _as_deep(teacher, given, layer)
    before = [i for i, origin in enumerate(spec.initialised_from) if origin <= at]
    return before[-1] if before else 0


def _as_deep(spec: ModelSpec, given: ModelSpec, layer: int) -> int:
    """The layer at the same relative depth."""
    as_deep = round((layer + 1) * spec.architecture.n_layers / given.architecture.n_layers)
    return max(0, as_deep - 1)
