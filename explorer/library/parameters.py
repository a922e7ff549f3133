"""Exact parameter counts of the architectures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from explorer.library.family import Family
from explorer.library.results import Result
from explorer.views.notebook import Sketch

if TYPE_CHECKING:
    from explorer.analysis.parameters.count import ParameterCounts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Parameters(Result):
    """Parameter counts by component; tied and shared tensors count once."""

    models: "tuple[ParameterCounts, ...]"

    COLUMNS: ClassVar = ("model", "component", "parameters")
    SKETCH: ClassVar = Sketch("bars", "component", "parameters")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/parameters``.

        ``{"models": [{"name", "total", "stored_bytes_fp32", "applied", "components": {...}}]}``;
        ``total`` is encoder and pooler as released, ``head`` is listed apart.
        """
        return {
            "models": [
                {
                    "name": counts.name,
                    "total": counts.total,
                    "stored_bytes_fp32": 4 * counts.total,
                    "applied": counts.applied,
                    "components": counts.components | {"head": counts.head_total},
                }
                for counts in self.models
            ]
        }

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model and component; the head is outside the released total."""
        return [
            (counts.name, component, number)
            for counts in self.models
            for component, number in (counts.components | {"head": counts.head_total}).items()
        ]


def parameters(models: "str | Sequence[str] | Family") -> Parameters:
    """Return parameter counts of architectures by name; tied and shared tensors count once.

    Args:
        models: Names such as ``bert-base-uncased``, ``albert-xxlarge-v2`` or ``mini-albert``; or
            what ``load`` returned.

    Returns:
        ``models``: by architecture the counts of its components, and ``total`` without the output
        head.

    Raises:
        Refusal: there is no such architecture; the message lists the known ones.

    Example:
        >>> explorer.parameters(["bert-base-uncased", "albert-base-v2"]).models[0].total
        109482240
    """
    from explorer.analysis.parameters.count import named_counts

    if isinstance(models, Family):
        own = {spec.name: spec for spec in models.specs.values()}
        return Parameters(named_counts(list(own), own))
    is_list = isinstance(models, Iterable) and not isinstance(models, str)
    return Parameters(named_counts(list(models) if is_list else [str(models)]))
