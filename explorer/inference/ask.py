"""Ask: a text, the models that read it, and the device and precision that they run in."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from explorer.models.specs import ModelSpec

DTYPES: tuple[str, ...] = ("float32", "bfloat16", "float16")
"""Precisions that networks run in."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Everything that a run depends on; the parameter of all computing."""

    text: str = ""
    specs: Mapping[str, ModelSpec] = field(default_factory=dict)
    """The model of each column, in the order of the columns."""
    device: str = "cpu"
    """A device of the backend, or ``auto``."""
    dtype: str = "float32"
