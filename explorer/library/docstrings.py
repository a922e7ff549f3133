"""Parts of a docstring, of which the shell's help, ``docs/api.md`` and the tools are made."""

import inspect
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Description:
    """Parts of a function's docstring."""

    summary: str
    arguments: Mapping[str, str]
    """By argument: its note."""
    returns: str


def described(function: Callable[..., Any]) -> Description:
    """Return the first sentence of a docstring, its note on each argument, and what it returns."""
    text = inspect.getdoc(function) or ""
    notes: dict[str, str] = {}
    last = ""
    for line in _section(text, "Args:"):
        name, colon, note = line.strip().partition(": ")
        if not line.startswith("     ") and colon:
            last, notes[name] = name, note
        elif last:
            notes[last] += f" {line.strip()}"
    returns = " ".join(line.strip() for line in _section(text, "Returns:"))
    return Description(text.partition("\n")[0], notes, returns)


def _section(text: str, title: str) -> list[str]:
    """Return the indented lines below a title of a docstring."""
    lines = text.partition(f"{title}\n")[2].split("\n")
    return [*itertools.takewhile(lambda line: line.startswith("    "), lines)]
