"""Unrounded numbers behind a chart or table, as the menu below it saves them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from explorer.views.markup import script_json

NOT_RUN: Mapping[str, object] = dict.fromkeys(("text", "device", "dtype"))
"""File header of numbers that do not depend on the text: its lines are removed."""
NO_RUN: Mapping[str, object] = {**NOT_RUN, "family": None, "models": None}
"""File header of numbers that depend on neither text nor weights."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """Rows under named columns, which every chart and table of the page has."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    header: Mapping[str, object] = field(default_factory=dict)
    """Header lines of the file that replace the page's own; None removes a line, True keeps it
    also on a tab that reads no text."""
    constants: Mapping[str, object] = field(default_factory=dict)
    """Constants of the Python code that reproduces them, besides the text and the models."""

    @property
    def json(self) -> str:
        """Columns, rows, header and constants as JSON; NaN and infinity become null."""
        rows = [[_plain(cell) for cell in row] for row in self.rows]
        document = {"columns": self.columns, "rows": rows}
        return script_json(document | {"said": self.header, "constants": self.constants})


def _plain(cell: object) -> object:
    value = cell.item() if hasattr(cell, "item") else cell
    return None if isinstance(value, float) and not isfinite(value) else value
