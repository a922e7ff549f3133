"""Records of a result: unrounded rows under named columns, for files, frames, tables and charts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas

FORMULA = re.compile(r"(^|[;\t\r\n])(?=[=+\-@\t\r])")
"""Start of a spreadsheet formula; ``assets/js/take/files.js`` has the same pattern."""
NOT_RUN: Mapping[str, object] = dict.fromkeys(("text", "device", "dtype"))
"""File header of records that do not depend on the text: its lines are removed."""
NO_RUN: Mapping[str, object] = {**NOT_RUN, "family": None, "models": None}
"""File header of records that depend on neither text nor weights."""


@dataclass(frozen=True, slots=True)
class Records:
    """Rows under named columns, which every result, chart and table has."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    header: Mapping[str, object] = field(default_factory=dict)
    """Header lines of the file that replace the page's own; None removes a line, True keeps it
    also on a tab that reads no text."""
    constants: Mapping[str, object] = field(default_factory=dict)
    """Constants of the Python code that reproduces them, besides the text and the models."""

    def document(self) -> dict[str, Any]:
        """Return columns, rows, header and constants for JSON; NaN and infinity become None."""
        rows = [[_plain(cell) for cell in row] for row in self.rows]
        document = {"columns": self.columns, "rows": rows}
        return document | {"said": self.header, "constants": self.constants}

    def to_frame(self, dtype: type | None = None) -> "pandas.DataFrame":
        """Return the rows as a pandas frame.

        With ``object`` for dtype a whole number stays one in a column with an empty cell.
        """
        import pandas

        rows = [tuple(row) for row in self.rows]
        return pandas.DataFrame(rows, columns=list(self.columns), dtype=dtype)


def unrounded(values: "np.ndarray | Sequence[float] | float") -> Any:  # noqa: ANN401 - as nested
    """Return numbers as nested lists for JSON that read back as the same numbers.

    A float32 value has its shortest decimals, 0.1, and not those of its float64 neighbour,
    0.10000000149011612.
    """
    array = np.asarray(values)
    shortest = array.astype(str).astype(np.float64) if array.dtype == np.float32 else array
    return shortest.tolist()


def harmless(value: object) -> object:
    """Escape formulas in a cell, for spreadsheets that split at commas, semicolons or tabs.

    The cell has to be written in quotation marks, or the second part of ``a;'=1`` is one again.
    """
    return FORMULA.sub(r"\1'", value) if isinstance(value, str) else value


def _plain(cell: object) -> object:
    value = cell.item() if hasattr(cell, "item") else cell
    return None if isinstance(value, float) and not isfinite(value) else value
