"""PageState: everything the reader chose, as one frozen value; a link is its only other form."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from explorer.models.specs import FAMILIES, MODEL_KEYS
from explorer.models.tokens import plain_text

TABS: tuple[str, ...] = (
    "predictions",
    "attention",
    "distillation",
    "parameters",
    "latency",
    "claims",
)
DEVICES: tuple[str, ...] = ("cpu", "cuda", "mps")
DTYPES: tuple[str, ...] = ("float32", "bfloat16", "float16")
LINK_VERSION = "1"
LINK_TEXT_LIMIT = 600
DEFAULT_TEXT = "He was born in the United [MASK]."
TEMPERATURES = (0.05, 20.0)
MAX_LAYER = MAX_HEAD = 63


@dataclass(frozen=True, slots=True)
class PageState:
    """One view of the explorer; equal states show equal pages."""

    text: str = DEFAULT_TEXT
    family: str = "mini"
    tab: str = "predictions"
    model: str = "bert"
    layer: int = 0
    """Counted from 0, like ``head``; the page prints layer 1 for 0."""
    head: int = 0
    temperature: float = 2.0
    device: str = "cpu"
    """Not part of a link: the reader's machine is not the sender's."""
    dtype: str = "float32"
    """Not part of a link either."""

    def to_params(self) -> dict[str, str]:
        """The link's parameters: the version, the family and whatever is not a default."""
        plain = PageState()
        chosen = {
            f.name: _print(getattr(self, f.name))
            for f in fields(self)
            if f.name in _READERS and getattr(self, f.name) != getattr(plain, f.name)
        }
        chosen["family"] = self.family
        if "text" in chosen:
            chosen["text"] = chosen["text"][:LINK_TEXT_LIMIT]
        return {"v": LINK_VERSION, **chosen}


def from_params(
    params: Mapping[str, str], default: PageState | None = None
) -> tuple[PageState, tuple[str, ...]]:
    """The state a link asks for, and the names of the fields that had to be repaired.

    Total: unknown keys are ignored and a bad value becomes the default, whatever is sent.
    """
    state = default or PageState()
    found: dict[str, Any] = {}
    repaired: list[str] = []
    for name, read in _READERS.items():
        if name not in params:
            continue
        value = read(params[name])
        if value is None:
            repaired.append(name)
        else:
            found[name] = value
    return replace(state, **found), tuple(repaired)


def _print(value: object) -> str:
    """The shortest text that reads back as the same value."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _read_text(raw: str) -> str | None:
    return plain_text(str(raw)[: 2 * LINK_TEXT_LIMIT])[:LINK_TEXT_LIMIT].strip() or None


def _one_of(allowed: tuple[str, ...], raw: str) -> str | None:
    return raw if raw in allowed else None


def _read_index(limit: int, raw: str) -> int | None:
    try:
        value = int(str(raw)[:9])
    except ValueError:
        return None
    return value if 0 <= value <= limit else None


def _read_temperature(raw: str) -> float | None:
    try:
        value = float(str(raw)[:32])
    except ValueError:
        return None
    low, high = TEMPERATURES
    return value if math.isfinite(value) and low <= value <= high else None


_READERS = {
    "text": _read_text,
    "family": lambda raw: _one_of(FAMILIES, raw),
    "tab": lambda raw: _one_of(TABS, raw),
    "model": lambda raw: _one_of(MODEL_KEYS, raw),
    "layer": lambda raw: _read_index(MAX_LAYER, raw),
    "head": lambda raw: _read_index(MAX_HEAD, raw),
    "temperature": _read_temperature,
}
"""How each field of a link is read; None means it had to be repaired."""
