"""The seven sizes: exact counts beside what the papers print, bytes and arithmetic work."""

from dataclasses import dataclass
from functools import lru_cache

from explorer.analysis.parameters.count import parameter_counts
from explorer.analysis.parameters.shape import shape_flops
from explorer.models.specs import BASE, LARGER, MODEL_KEYS, Architecture, ModelSpec


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
