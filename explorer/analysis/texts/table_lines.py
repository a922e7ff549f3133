"""Records of a table in which quotation marks may be wrong."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SAMPLE = 50
"""Lines from which the usual number of cells is taken."""
MAX_READS = 20
"""Times that the lines of a table are read in all; from then on each line is a record."""
UNCLOSED = "unexpected end"
"""Part of what csv says of a quote that is never closed."""


@dataclass(frozen=True, slots=True)
class Records:
    """Records of a table that are not empty."""

    rows: list[list[str]]
    opened: list[int]
    """Indices of the rows in which a quote is opened and never closed."""

    def add(self, row: list[str], is_open: bool = False) -> None:
        """Add a record unless it is empty."""
        if has_text(row):
            self.opened.extend([len(self.rows)] * is_open)
            self.rows.append(row)


@dataclass(frozen=True, slots=True)
class Reading:
    """Records from one line on, up to the first one whose quotes are wrong."""

    rows: list[list[str]]
    n_lines: int
    """The number of their lines."""
    n_read: int
    """The number of lines that were read, with those of the wrong record."""
    is_open: bool = False
    """True if the wrong record has a quote that is never closed."""


def has_text(row: Sequence[str]) -> bool:
    """Return whether a cell of a row is not empty."""
    return any(cell.strip() for cell in row)


def records_of(text: str, delimiter: str) -> Records:
    """Return the records of a table, whatever is wrong with its quotes."""
    lines = io.StringIO(text, newline="").readlines()
    table = _Table(lines, delimiter, _usual_width(lines[:SAMPLE], delimiter))
    found, begins, left = Records([], []), 0, MAX_READS * len(table.lines)
    while begins < len(table.lines):
        reading = table.well_formed(begins) if left > 0 else Reading([], 0, 0)
        for row in reading.rows:
            found.add(row)
        begins += reading.n_lines
        left -= reading.n_read
        if begins < len(table.lines):
            mended = table.alone(begins) if reading.is_open or left <= 0 else table.mended(begins)
            found.add(mended.rows[0], mended.is_open)
            begins += mended.n_lines
            left -= mended.n_read
    return found


def _usual_width(lines: Sequence[str], delimiter: str) -> int:
    rows = (next(csv.reader([line], delimiter=delimiter), []) for line in lines)
    widths = Counter(len(row) for row in rows if has_text(row))
    return max(widths, key=lambda width: (widths[width], width), default=1)


@dataclass(frozen=True, slots=True)
class _Table:
    lines: Sequence[str]
    delimiter: str
    width: int
    """The number of cells of most lines."""

    def well_formed(self, begins: int) -> Reading:
        """Return the records from a line on."""
        reader, rows, n_lines = self._reader(begins, strict=True), [], 0
        try:
            for row in reader:
                rows.append(row)
                n_lines = reader.line_num
        except csv.Error as error:
            return Reading(rows, n_lines, reader.line_num, UNCLOSED in str(error))
        return Reading(rows, len(self.lines) - begins, reader.line_num)

    def mended(self, begins: int) -> Reading:
        """Return the record that begins at a line: a cell of several lines, else the line itself.

        In a cell of several lines quotes may stand that are not doubled.
        """
        alone = self.alone(begins)
        if not alone.is_open or self._is_row(begins):
            return alone
        reader = self._reader(begins, strict=False)
        row: list[str] = next(reader, [])
        n_lines = reader.line_num
        if len(row) == self.width:
            return Reading([row], n_lines, n_lines)
        return Reading(alone.rows, 1, n_lines, alone.is_open)

    def alone(self, number: int) -> Reading:
        """Return a line as a record, so that a quote in it takes no other row with it."""
        line, is_open = [self.lines[number]], False
        try:
            next(csv.reader(line, delimiter=self.delimiter, strict=True), [])
        except csv.Error as error:
            is_open = UNCLOSED in str(error)
        row = next(csv.reader(line, delimiter=self.delimiter), [])
        return Reading([row], 1, 1, is_open)

    def _is_row(self, number: int) -> bool:
        """Return whether a line looks like a whole row; prose has spaces behind its commas."""
        cells = self.lines[number].split(self.delimiter)
        return len(cells) == self.width and not any(cell.startswith(" ") for cell in cells)

    def _reader(self, begins: int, strict: bool) -> Any:  # noqa: ANN401 - csv names no type
        lines = (self.lines[number] for number in range(begins, len(self.lines)))
        return csv.reader(lines, delimiter=self.delimiter, strict=strict)
