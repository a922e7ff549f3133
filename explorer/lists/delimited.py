"""Rows of a table in a text file, by the way of quoting that leaves the fewest rows broken.

The csv module of the standard library reads each way. pandas gives its caller no row numbers for
rows with too many cells, and the reader must name them.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import Any

DELIMITERS = ",;\t|"
SEPARATOR_LINE = re.compile(r'\s*"?sep=(.)"?\s*(?:\r\n|\n|\r)')
"""First line by which Excel is told the delimiter."""
BRACKETS = re.compile(r"\[[^\[\]\n]*\]")
SAMPLE_LETTERS, SAMPLE_ROWS = 50_000, 50
QUOTED, NUMBER = re.compile(r'"(?:[^"\\]|\\.|"")*"', re.DOTALL), re.compile(r"[-+\d.,e]+|NA")
SPACED = re.compile(rf"{QUOTED.pattern}(?: +(?:{QUOTED.pattern}|[^\s\"]+))+ *")
"""Line of R's ``write.table``: cells in quotation marks, divided by spaces."""
SENTINEL = "end of the table"
MIN_QUOTED = 3
"""Rows above which a column of quoted cells says that cells are quoted."""
RULE = re.compile(r" *:?-+:? *|")
"""Cell of the line below the header of a Markdown table."""
MAX_LINES, MAX_READS = 20, 5
"""Lines that one broken cell may have, and times that the letters of a table are joined in all."""
csv.field_size_limit(2**20)


@dataclass(frozen=True, slots=True)
class Records:
    """Rows of a table that are not empty."""

    rows: list[list[str]]
    opened: frozenset[int] = frozenset()
    """Indices of the rows in which a quotation mark is opened and never closed."""
    n_more: int = 0
    """Rows after these, which are only counted."""


def records_of(text: str, known: frozenset[str], most: int) -> tuple[Records, str]:
    """Return the first rows of a table and its delimiter.

    Args:
        text: The content of the file.
        known: Names of columns, in lower case; a header with two of them settles the delimiter.
        most: Number of rows that are read; those after them are counted.
    """
    if told := SEPARATOR_LINE.match(text):
        text, delimiter = text[told.end() :], told[1]
    elif is_spaced(text):
        text, delimiter = _with_names_of_rows(text), " "
    else:
        delimiter = max(DELIMITERS, key=lambda sign: _fit(text, sign, known))
    records = _best(text, delimiter, most)
    if delimiter == "|" and len(records.rows) > 1 and all(map(RULE.fullmatch, records.rows[1])):
        records = replace(records, rows=[records.rows[0], *records.rows[2:]])
    return records, delimiter


def is_spaced(text: str) -> bool:
    """Return whether the first lines of a text are those of R's ``write.table``.

    Each line has as many cells; the first one may have one less, for the names of the rows.
    """
    lines = [line for line in text[:SAMPLE_LETTERS].splitlines() if line.strip()][:MAX_LINES]
    if len(lines) < 2 or not all(map(SPACED.fullmatch, lines)):
        return False
    first, *others = (len(re.findall(rf"{QUOTED.pattern}|\S+", line)) for line in lines)
    return len({*others}) == 1 and first in (others[0], others[0] - 1)


def _with_names_of_rows(text: str) -> str:
    """Return a table of R's whose first line names the column of the rows' own names too."""
    first, second = [line for line in text.splitlines() if line.strip()][:2]
    widths = [len(re.findall(rf"{QUOTED.pattern}|\S+", line)) for line in (first, second)]
    return f'"" {text.lstrip()}' if widths[0] < widths[1] else text


def usual_width(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of cells of most rows, the larger one of two; 1 without rows."""
    widths = Counter(map(len, rows))
    return max(widths, key=lambda width: (widths[width], width), default=1)


def has_text(row: Sequence[str]) -> bool:
    """Return whether a cell of a row is not empty."""
    return any(map(str.strip, row))


def _best(text: str, delimiter: str, most: int) -> Records:
    """Return the table by the first way of quoting that fits its rows, else line by line."""
    # Files with tabs are mostly written without quoting: a quotation mark is a letter.
    if '"' not in text or delimiter == "\t":
        literal = _read(text, most, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        if literal and not _has_quoted_cells(literal.rows):
            return literal
    # A space behind a delimiter may come before a quotation mark that opens a cell.
    spaced = len(re.findall(rf'{re.escape(delimiter)} +"', text))
    is_spaced_out = delimiter != " " and 2 * spaced > text.count("\n")
    for way in (text, text.replace('\\"', '""')):
        dialect = {"strict": True, "skipinitialspace": is_spaced_out}
        if records := _read(way, most, delimiter=delimiter, **dialect):
            return records
    return _by_line(text, delimiter, most)


def _has_quoted_cells(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether cells are quoted, so that each mark inside is doubled or escaped."""
    starting = [cell for row in rows for cell in row if cell.startswith('"')]
    inside = [cell[1:-1] for cell in starting if len(cell) > 1 and cell.endswith('"')]
    if rows and _is_quoted_throughout(rows):
        return True
    is_quoted = all('"' not in cell.replace('""', "").replace('\\"', "") for cell in inside)
    is_certain = any('"' in cell for cell in inside) or _has_quoted_column(rows)
    return is_quoted and len(inside) == len(starting) and is_certain


def _has_quoted_column(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a column has all its cells in quotation marks, below a header perhaps."""
    columns = zip_longest(*rows[1:], fillvalue="")
    return len(rows) > MIN_QUOTED and any(all(map(QUOTED.fullmatch, cells)) for cells in columns)


def _is_quoted_throughout(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether all cells of all rows are in quotation marks, numbers aside, as R's are."""
    cells = [cell for row in rows for cell in row if cell and not NUMBER.fullmatch(cell)]
    return bool(cells) and all(QUOTED.fullmatch(cell) for cell in cells)


def _read(text: str, most: int, **dialect: Any) -> Records | None:  # noqa: ANN401 - csv's own
    """Return the first rows that are not empty; None where a quotation mark breaks the dialect."""
    reader = csv.reader(io.StringIO(text, newline=""), **dialect)
    filled = filter(has_text, reader)
    try:
        rows = list(islice(filled, most))
    except csv.Error:
        return None
    n_more = 0
    with suppress(csv.Error):  # the rows that are only counted may be wrong
        for _ in filled:
            n_more += 1
    return Records(rows, n_more=n_more)


def _by_line(text: str, delimiter: str, most: int) -> Records:
    """Return each line as a row, or the lines of a cell together where they fit the table.

    So a quotation mark that is never closed takes no other row with it.
    """
    lines = [line for line in io.StringIO(text, newline="").readlines() if line.strip()]
    sample = [_row(line, delimiter, strict=True) for line in lines[:SAMPLE_ROWS]]
    width = usual_width([row for row in sample if row])
    rows: list[list[str]] = []
    opened: set[int] = set()
    begins, letters = 0, MAX_READS * len(text)
    while begins < len(lines) and len(rows) < most:
        row, n_lines = _row(lines[begins], delimiter), 1
        is_broken = row is None or _closes_only(row)
        if row is None or is_broken or len(row) < width:
            following = lines[begins : begins + MAX_LINES] if letters > 0 else []
            joined, n_read = _joined(following, delimiter, width)
            letters -= n_read
            row, n_lines = joined or (row or [lines[begins].strip()], 1)
            opened |= {len(rows)} if is_broken and not joined else set()
        rows.append(row)
        begins += n_lines
    return Records(rows, frozenset(opened), len(lines) - begins)


def _joined(
    lines: Sequence[str], delimiter: str, width: int
) -> tuple[tuple[list[str], int] | None, int]:
    """Return the row that the first lines are together with their number, and the letters read."""
    n_read = 0
    for n in range(2, len(lines) + 1):
        alone = _row(lines[n - 1], delimiter, strict=True)
        if alone and _is_row(alone, width):
            break
        text = "".join(lines[:n])
        n_read += len(text)
        row = _row(text, delimiter)
        if row is not None and len(row) == width:
            return (row, n), n_read
    return None, n_read


def _is_row(row: Sequence[str], width: int) -> bool:
    """Return whether a line is a row by itself; prose has a space after its commas."""
    is_prose = any(cell.startswith(" ") for cell in row)
    return len(row) == width and not is_prose and not _closes_only(row)


def _row(text: str, delimiter: str, strict: bool = False) -> list[str] | None:
    """Return the cells of one row; None where a quotation mark stays open or breaks a rule."""
    try:
        first, *more = csv.reader(
            [*io.StringIO(f"{text.rstrip()}\n", newline=""), SENTINEL],
            delimiter=delimiter,
            strict=strict,
        )
    except csv.Error:
        return None
    return first if more == [[SENTINEL]] else None


def _closes_only(row: Sequence[str]) -> bool:
    """Return whether a row ends a quotation that another line has begun."""
    return any(cell.endswith('"') and cell.count('"') % 2 for cell in row)


def _fit(text: str, delimiter: str, known: frozenset[str]) -> tuple[bool, float, int]:
    """Rate a delimiter: a known header, then the share of rows of one width, then that width."""
    sample = text[:SAMPLE_LETTERS]
    if delimiter == "|":
        sample = BRACKETS.sub("", sample)  # a choice of words, [he|she], is no end of a cell
    rows = [row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if row]
    usual = usual_width(rows[:SAMPLE_ROWS])
    n_known = sum(cell.strip().lower() in known for cell in rows[0]) if rows else 0
    alike = sum(len(row) == usual for row in rows[:SAMPLE_ROWS])
    share = alike / len(rows[:SAMPLE_ROWS]) if usual > 1 else 0.0
    return n_known > 1, share, usual
