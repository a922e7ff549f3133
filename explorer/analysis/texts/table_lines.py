"""Records of a table in which quotation marks may be wrong."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import Any

SAMPLE = 50
"""Lines from which the usual number of cells is taken."""
MAX_READS = 5
"""Times that the letters of a table are read in all; from then on each line is a record."""
UNCLOSED = "unexpected end"
"""Part of what csv says of a quote that is never closed."""


@dataclass(frozen=True, slots=True)
class Records:
    """Records of a table that are not empty."""

    rows: list[list[str]]
    opened: list[int]
    """Indices of the rows in which a quote is opened and never closed."""
    n_more: int = 0
    """Records after these, which are only counted."""

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
    is_wrong: bool = False
    """True if it ends at a wrong record."""


def has_text(row: Sequence[str]) -> bool:
    """Return whether a cell of a row is not empty."""
    return any(map(str.strip, row))


def records_of(text: str, delimiter: str, most: int) -> Records:
    """Return the first ``most`` records of a table, whatever is wrong with its quotes.

    Those after them are counted: by their quotes, or as lines once a quote is wrong.
    """
    lines = io.StringIO(text, newline="").readlines()
    table = _Table(lines, delimiter, _width_of(lines[:SAMPLE], delimiter))
    ends = [0, *accumulate(map(len, lines))]
    found, begins, left = Records([], []), 0, MAX_READS * len(text)
    while begins < len(table.lines) and len(found.rows) < most:
        n_rows = most - len(found.rows)
        reading = table.well_formed(begins, n_rows) if left > 0 else Reading([], 0, 0, False, True)
        for row in reading.rows:
            found.add(row)
        left -= ends[begins + reading.n_read] - ends[begins]
        begins += reading.n_lines
        if reading.is_wrong:
            mended = table.alone(begins) if reading.is_open or left <= 0 else table.mended(begins)
            found.add(mended.rows[0], mended.is_open)
            left -= ends[begins + mended.n_read] - ends[begins]
            begins += mended.n_lines
    return replace(found, n_more=table.count_from(begins, left > 0))


def usual_width(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of cells of most rows, the larger one of two; 1 without rows."""
    widths = Counter(map(len, rows))
    return max(widths, key=lambda width: (widths[width], width), default=1)


def _width_of(lines: Sequence[str], delimiter: str) -> int:
    """Return the number of cells of the first line, or of most if that has one or an open quote."""
    read = [alone for line in lines if has_text((alone := _alone(line, delimiter)).rows[0])]
    if read and len(read[0].rows[0]) > 1 and not read[0].is_open:
        return len(read[0].rows[0])
    return usual_width([alone.rows[0] for alone in read])


def _alone(line: str, delimiter: str) -> Reading:
    """Return a line as a record, so that a quote in it takes no other row with it."""
    reader = csv.reader([line, ""], delimiter=delimiter)
    row = next(reader, [])
    return Reading([row], 1, 1, is_open=reader.line_num > 1)


@dataclass(frozen=True, slots=True)
class _Table:
    lines: Sequence[str]
    delimiter: str
    width: int
    """The number of cells that a row has."""

    def well_formed(self, begins: int, most: int) -> Reading:
        """Return the records from a line on, at most so many."""
        reader, rows, n_lines = self._reader(begins, strict=True), [], 0
        try:
            for row in islice(reader, most):
                rows.append(row)
                n_lines = reader.line_num
        except csv.Error as error:
            return Reading(rows, n_lines, reader.line_num, UNCLOSED in str(error), True)
        return Reading(rows, n_lines, n_lines)

    def count_from(self, begins: int, by_quotes: bool) -> int:
        """Return the number of records from a line on that are not empty, or of such lines."""
        n_rows, n_lines = 0, begins
        if by_quotes:
            reader = self._reader(begins, strict=True)
            try:
                for row in reader:
                    n_rows, n_lines = n_rows + has_text(row), begins + reader.line_num
            except csv.Error:
                pass  # its line and all after it are counted as lines
        return n_rows + sum(1 for line in self.lines[n_lines:] if line.strip())

    def mended(self, begins: int) -> Reading:
        """Return the record that begins at a line: a cell of several lines, else the line itself.

        In a cell of several lines quotes may stand that are not doubled.
        """
        alone = self.alone(begins)
        is_row = len(alone.rows[0]) < self.width and self._is_row(begins)
        if not alone.is_open or is_row:
            return alone
        reader = self._reader(begins, strict=False)
        row: list[str] = next(reader, [])
        n_lines = reader.line_num
        has_rows = any(map(self._is_row, range(begins + 1, begins + n_lines - 1)))
        if len(row) == self.width and not has_rows:
            return Reading([row], n_lines, n_lines)
        return Reading(alone.rows, 1, n_lines, alone.is_open)

    def alone(self, number: int) -> Reading:
        """Return a line as a record."""
        return _alone(self.lines[number], self.delimiter)

    def _is_row(self, number: int) -> bool:
        """Return whether a line looks like a whole row; prose has spaces behind its commas."""
        cells = self.lines[number].split(self.delimiter)
        return len(cells) == self.width and not any(cell.startswith(" ") for cell in cells)

    def _reader(self, begins: int, strict: bool) -> Any:  # noqa: ANN401 - csv names no type
        lines = (self.lines[number] for number in range(begins, len(self.lines)))
        return csv.reader(lines, delimiter=self.delimiter, strict=strict)
