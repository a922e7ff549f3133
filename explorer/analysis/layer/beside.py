"""Which layer of each model stands beside a layer of the first."""

from collections.abc import Sequence

from explorer.models.choice.family import teacher_of
from explorer.models.specs import ModelSpec


def layers_beside(specs: Sequence[ModelSpec], layer: int) -> dict[str, int]:
    """For a layer of the first model the layer of every model, all counted from 0.

    A student's is the last one that came from this layer of its teacher or from an earlier one;
    else the same number where the models are equally deep, and the same relative depth where not.
    """
    first = specs[0]
    deepest = first.architecture.n_layers
    found = {first.key: min(layer, deepest - 1)}
    for spec in specs[1:]:
        if teacher_of(spec) is first and spec.initialised_from:
            before = [i for i, origin in enumerate(spec.initialised_from) if origin <= layer]
            found[spec.key] = before[-1] if before else 0
        else:
            as_deep = round((found[first.key] + 1) * spec.architecture.n_layers / deepest)
            found[spec.key] = max(0, as_deep - 1)
    return found


def first_layer(specs: Sequence[ModelSpec], key: str, layer: int) -> int:
    """The layer of the first model beside which a layer of another one stands."""
    all_of_first = range(specs[0].architecture.n_layers)
    fits = [one for one in all_of_first if layers_beside(specs, one)[key] >= layer]
    return fits[0] if fits else all_of_first[-1]
