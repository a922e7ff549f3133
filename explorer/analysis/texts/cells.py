"""Cells of a file before its columns have a meaning, and the rows of it that are not read."""

from dataclasses import dataclass

from explorer.refusal import Refusal

MAX_ROWS = 2_000
"""Rows of a list that are read; those after them are counted."""


class BadRows(Refusal):
    """Refusal of a list that cannot be read; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Row that is not read, with the reason."""

    number: int
    """Counted from 1, without the header and without empty rows."""
    reason: str


@dataclass(frozen=True, slots=True)
class RawTable:
    """Cells of a file by row, before columns have a meaning."""

    names: tuple[str, ...]
    """Header of each column, or "column 1" ... where the file has none."""
    cells: tuple[tuple[str, ...], ...]
    """By row, at most ``MAX_ROWS``; every row has as many cells as there are names."""
    has_header: bool
    left_out: tuple[LeftOut, ...] = ()
    n_more: int = 0
    """Rows after these, which are only counted."""
    structured: frozenset[tuple[int, str]] = frozenset()
    """Row number and column of each cell that holds an object or several values."""

    @property
    def n_rows(self) -> int:
        """The number of rows, those that are only counted included."""
        return len(self.cells) + self.n_more
