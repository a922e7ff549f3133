"""Measured: what one live check found, as numbers with units and one sentence."""

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.models.kinds import label_of
from explorer.models.specs import BASE, LARGER, ModelSpec

FULL: dict[str, ModelSpec] = {
    **BASE,
    "bert_large": LARGER["bert-large-uncased"],
    "albert_large": LARGER["albert-large-v2"],
    "albert_xlarge": LARGER["albert-xlarge-v2"],
    "albert_xxlarge": LARGER["albert-xxlarge-v2"],
}
"""The architectures that printed claims are about, by the names their quantities carry."""
SHAPES = "full-size shapes"
RANDOM = "full-size shapes, random weights"
PRINTED = "published tables"
CLAIMED = ("bert", "distilbert", "albert")
"""The models that the printed claims are about."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a check: its value and how it is printed, unit included."""

    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Measured:
    """What a check found, on which networks, and whether that is what the sources say."""

    text: str
    holds: bool
    on: str
    quantities: Mapping[str, Quantity]
    published: bool = False
    """The numbers were looked up in printed tables, not measured."""


def family_name(family: str) -> str:
    """What the reader sees beside a number that was measured on a family."""
    return {"mini": "bundled mini family", "base": "published checkpoints"}[family]


def listed(parts: Mapping[str, object]) -> str:
    """``BERT 12, DistilBERT 6, ALBERT 12`` for values by model key."""
    return ", ".join(f"{label_of(key)} {value}" for key, value in parts.items())


def parameters(n: int) -> Quantity:
    """A number of parameters."""
    return Quantity(n, f"{n:,} parameters")


def percent(x: float, of: str = "", digits: int = 1) -> Quantity:
    """A share, already times 100."""
    return Quantity(x, f"{x:.{digits}f} %{of}")


def times(x: float, of: str) -> Quantity:
    """A quotient of two like things."""
    return Quantity(x, f"{x:.2f} × {of}")
