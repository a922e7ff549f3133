"""Reading of pasted lines and of .txt, .csv, .tsv and .jsonl files, whatever is wrong with them."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from explorer.analysis.digits import counted
from explorer.lists import json_rows
from explorer.lists.delimited import DELIMITERS, has_text, is_spaced, records_of, usual_width
from explorer.lists.forms import lines_in_form, reshaped, table_of_values, token_lines
from explorer.lists.roles import KNOWN, MAX_ROWS, NAMES, BadRows, LeftOut, RawTable
from explorer.refusal import Sentence, brief

MAX_BYTES = 2**20
MAX_COLUMNS = 100
SUFFIXES = {
    "csv": "table",
    "tsv": "table",
    "jsonl": "json",
    "ndjson": "json",
    "json": "json",
    "txt": "lines",
}
NOT_TEXT = Sentence(
    "list-not-text", "This file holds no text: save it as .csv, .tsv, .jsonl or .txt."
)
PARQUET = Sentence(
    "list-is-parquet",
    "This is a Parquet file, which Python and a shell read by its path: for the page, save it as "
    ".csv, .tsv or .jsonl.",
)
MARKUP = re.compile(r"\s*<(?:\?xml|!doctype|html|head|body|table)\b", re.I)
IS_MARKUP = Sentence(
    "list-is-markup",
    "This is a page or a file in XML: save its texts as .csv, .tsv, .jsonl or .txt.",
)
ZERO_BYTES = Sentence(
    "zero-bytes", "This file holds zero bytes, which no text has: save it as UTF-8."
)
TOO_LARGE = Sentence("rows-over-bytes", "It and all rows after it are over the limit of 1 MB.")
EMPTY_FILE = Sentence("empty-list", "There is nothing to read: the list is empty.")
HEADER_ALONE = Sentence(
    "only-a-header", "There is nothing to read: below the names of the columns there is no row."
)
OPEN_QUOTE = Sentence("row-open-quote", "A quotation mark is opened here and never closed.")
EXTRA_CELLS = Sentence("row-cells", "It has {n} cells for {columns}.")
TOO_WIDE = Sentence(
    "list-too-wide",
    "This list has {columns} in {rows}, which is more than is read: keep the columns that matter.",
)
ARRAY_TOO_LARGE = Sentence(
    "array-too-large", "This JSON array is over 1 MB: save it as .jsonl, one object a line."
)
SENTENCE_WORDS = 4
"""Words from which on a cell that ends as a sentence is one, above others that do."""
ENDS = (".", "!", "?", "…")
NAME = re.compile(r"[^\W\d][\w #.:()/?-]{0,59}|#[\w .-]{1,59}|")
NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
DATED = re.compile(r"\d[\d./: -]*(?: ?[AP]M)?(?: (?:GMT|UTC)?(?:[+-]\d+)?)?", re.I)
"""Numbers and times, as forms write them."""
SURE_ROWS = 3
"""Rows from which on cells of numbers or times are a column, below any name."""
COMMENTS = re.compile(r"(?:#(?:[ \t#-][^\r\n]*)?(?:\r\n|\n|\r))+")
COMMENTS_LEFT_OUT = "Above the table {n} of comments, which begin with #, are left out."
POLARITY = {"good", "bad"}
CERTAIN = {"text", "sentence", "label"}
"""Known names that no row of a list has in a cell of its own."""
PARQUET_BEGINS = b"PAR1"
BINARY = (b"PK\x03\x04", b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"\x1f\x8b", b"\xd0\xcf\x11\xe0")
"""First bytes of archives and spreadsheets, PDF, pictures and old Office files."""


def read_table(content: str | bytes, name: str = "") -> RawTable:
    """Return the cells of a file, or of pasted lines where there is no name.

    At most ``MAX_BYTES`` bytes are looked at. Of them ``MAX_ROWS`` rows are read, and the rest is
    counted.

    Args:
        content: The text, or the bytes of the file in UTF-8, UTF-16 or Windows-1252.
        name: The file's name, whose ending says what it is; otherwise the content does.

    Raises:
        BadRows: it is empty, no text, too wide, or one JSON array over the limit.
    """
    text, is_cut = _within_limit(content)
    text = text.lstrip("\ufeff").replace("\x00", "")
    if script := json_rows.ASSIGNED.match(text):
        text = text[script.end() :]
    if not text.strip():
        raise BadRows(EMPTY_FILE)
    if MARKUP.match(text):
        raise BadRows(IS_MARKUP)
    named = SUFFIXES.get(name.rpartition(".")[2].lower(), "")
    if is_cut and named in ("", "json") and re.match(r"\s*\[\s*[{\"]", text):
        raise BadRows(ARRAY_TOO_LARGE)
    table = _sentences(text, is_cut) if named != "json" else None
    if table is None:
        # A .txt may hold a table or JSON: its content decides.
        form = named if named not in ("", "lines") else _form_of(text)
        readers = {"table": _read_delimited, "json": _read_json, "lines": _read_lines}
        table = readers[form](text)
    if not table.cells:
        raise BadRows(EMPTY_FILE)
    if is_cut:
        over = LeftOut(table.n_rows + 1, TOO_LARGE)
        table = replace(table, left_out=(*table.left_out, over))
    return replace(reshaped(table), source=name)


def _sentences(text: str, is_cut: bool) -> RawTable | None:
    """Return the rows of a file with a token on each line; the last one of a cut file is broken."""
    table = token_lines(text)
    if table and is_cut and not table.n_more:
        return replace(table, cells=table.cells[:-1])
    return table


def decoded(content: bytes) -> str:
    """Return the text of a file: by its byte order mark, else UTF-8, else Windows-1252.

    Raises:
        BadRows: the bytes are no text.
    """
    if content.startswith((PARQUET_BEGINS, *BINARY)):
        raise BadRows(PARQUET if content.startswith(PARQUET_BEGINS) else NOT_TEXT)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    sample = content[:2_000]
    if encoding := _unmarked_utf_16(sample):
        return content.decode(encoding, "replace")
    if sum(0 < byte < 32 and byte not in b"\t\n\v\f\r" for byte in sample) > len(sample) // 50:
        raise BadRows(NOT_TEXT)
    if 0 in content:
        raise BadRows(ZERO_BYTES)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # Cut inside a character at the limit: still UTF-8.
        if len(content) >= MAX_BYTES and error.start >= len(content) - 3:
            return content[: error.start].decode("utf-8-sig")
        return content.decode("cp1252", "replace")


def _unmarked_utf_16(sample: bytes) -> str:
    """Return the encoding of Latin text in UTF-16, else nothing.

    One byte of a pair is zero in most of its characters, the other one never is.
    """
    low, high = sample[::2], sample[1::2]
    for zeros, letters, encoding in ((high, low, "utf-16-le"), (low, high, "utf-16-be")):
        if zeros and zeros.count(0) > 0.4 * len(zeros) and 0 not in letters:
            return encoding
    return ""


def _within_limit(content: str | bytes) -> tuple[str, bool]:
    """Return the text up to the last whole line within the limit, and whether any was cut."""
    n_bytes = len(content.encode("utf-8", "ignore") if isinstance(content, str) else content)
    text = content[:MAX_BYTES] if isinstance(content, str) else decoded(content[:MAX_BYTES])
    if n_bytes <= MAX_BYTES:
        return text, False
    encoded = text.encode("utf-8", "ignore")[:MAX_BYTES].decode("utf-8", "ignore")
    return encoded[: encoded.rfind("\n") + 1] or encoded, True


def _form_of(text: str) -> str:
    """Return what content is: JSON, a table with tabs or a known header, or plain lines."""
    if text.lstrip().startswith(("[", "{")) and (
        all(line.lstrip().startswith("{") for line in islice(json_rows.lines(text), 20))
        or json_rows.whole(text)
    ):
        return "json"
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and (all("\t" in line for line in lines) or is_spaced(text)):
        return "table"
    first, *rows = (
        [cell.strip(' "') for cell in re.split(f"[{DELIMITERS}]", line)] for line in lines[:20]
    )
    columns = [[row[i] for row in rows if i < len(row)] for i in range(len(first))]
    return "table" if rows and _has_known_names(first, columns) else "lines"


def _read_lines(text: str) -> RawTable:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if table := lines_in_form(lines):
        return table
    has_header = len(lines) > 1 and lines[0].lower() in NAMES["text"]
    cells = tuple((line,) for line in lines[has_header : has_header + MAX_ROWS])
    return RawTable(("text",), cells, has_header, n_more=len(lines) - has_header - len(cells))


def _read_json(text: str) -> RawTable:
    """Read one JSON object a line, or the rows of an array or an object; a string is a text."""
    found = json_rows.whole(text)
    lines = json_rows.lines(text)
    first = map(json_rows.parsed, islice(lines, MAX_ROWS)) if found is None else found[:MAX_ROWS]
    values = json_rows.of_stereoset(first)
    n_more = sum(1 for _ in lines) if found is None else len(found) - len(values)
    if table := _in_form(values):
        return replace(table, n_more=n_more)
    return _of_objects(values, n_more)


def _of_objects(values: Sequence[object], n_more: int) -> RawTable:
    """Return the table of values of which each should be an object."""
    objects: list[Mapping[str, object]] = []
    left_out = []
    for number, value in enumerate(values, 1):
        if isinstance(value, str):
            value = {"text": value}
        if not isinstance(value, dict):
            left_out.append(LeftOut(number, json_rows.NOT_JSON))
            value = {}
        objects.append(json_rows.unfolded(value))
    names = tuple(dict.fromkeys(str(name) for value in objects for name in value))
    _check_width(len(names), len(objects) + n_more)
    if not names:
        if not left_out:
            raise BadRows(EMPTY_FILE)
        reason = f"Row {left_out[0].number}: {json_rows.NOT_JSON}"
        raise BadRows(Sentence(json_rows.NOT_JSON.code, reason))
    rows = ([json_rows.cell(value.get(name)) for name in names] for value in objects)
    table = table_of_values(names, rows)
    n_unread = json_rows.n_unread(values)
    note = json_rows.EVIDENCE.format(n=f"{n_unread:,}") if n_unread else ""
    has_header = names != _distinct([""] * len(names))
    return replace(table, has_header=has_header, left_out=tuple(left_out), n_more=n_more, note=note)


def _in_form(values: Sequence[object]) -> RawTable | None:
    """Return the table of strings that hold labels, answers or tags; None of other values."""
    texts = [value.strip() for value in values if isinstance(value, str)]
    if len(texts) < len(values):
        return None
    return token_lines("\n".join(texts)) or lines_in_form(texts)


def _check_width(n_columns: int, n_rows: int) -> None:
    # Every row is filled up to this width.
    if n_columns > MAX_COLUMNS:
        columns, rows = counted(n_columns, "column"), counted(n_rows, "row")
        raise BadRows(TOO_WIDE.format(columns=columns, rows=rows))


def _read_delimited(text: str) -> RawTable:
    """Read a table with the delimiter that divides most of its rows alike."""
    text, note = without_comments(text)
    found, delimiter = records_of(text, KNOWN, MAX_ROWS + 1)
    records = found.rows
    if not records:
        raise BadRows(EMPTY_FILE)
    if len(records) == 1 and all(cell.strip().lower() in KNOWN for cell in records[0]):
        raise BadRows(HEADER_ALONE)
    if len(records[0]) == 1 and records[0][0].strip().lower() in NAMES["text"]:
        records = [_without_split_prose(record, delimiter) for record in records]
    if max(map(len, records)) > MAX_COLUMNS:
        records = [_without_empty_end(record) for record in records]
    is_narrow = len(records[0]) <= MAX_COLUMNS
    has_header = len(records) > 1 and is_narrow and is_header(records[0], records[1:])
    width = len(records[0]) if has_header else usual_width(records)
    rows = records[has_header : has_header + MAX_ROWS]
    n_more = found.n_more + len(records) - has_header - len(rows)
    _check_width(width, len(rows) + n_more)
    header = records[0] if has_header else [""] * width
    opened = {place + (not has_header) for place in found.opened if place >= has_header}
    left_out = tuple(_broken(rows, width, opened))
    values = ([json_rows.of_text(cell) for cell in (row + [""] * width)[:width]] for row in rows)
    table = table_of_values(_distinct(header), values)
    return replace(table, has_header=has_header, left_out=left_out, n_more=n_more, note=note)


def _broken(
    rows: Sequence[Sequence[str]], width: int, opened: Collection[int]
) -> Iterator[LeftOut]:
    """Yield the rows in which a quotation mark stays open, then those with too many cells."""
    for number in sorted(opened):
        if number <= len(rows):
            yield LeftOut(number, OPEN_QUOTE)
    for number, row in enumerate(rows, 1):
        if len(row) > width and number not in opened and has_text(row[width:]):
            columns = counted(width, "column")
            yield LeftOut(number, EXTRA_CELLS.format(n=len(row), columns=columns))


def without_comments(text: str) -> tuple[str, str]:
    """Return a table without the lines of comments above it, and a sentence on them."""
    found = COMMENTS.match(text)
    if not found:
        return text, ""
    n = len(found[0].splitlines())
    return text[found.end() :], COMMENTS_LEFT_OUT.format(n=counted(n, "line"))


def _without_split_prose(record: list[str], delimiter: str) -> list[str]:
    """Return a row of a list with one column as one cell.

    Every comma of prose has a space behind it, or stands between digits.
    """
    is_prose = all(
        after.startswith(" ") or f"{before[-1:]}{after[:1]}".isdecimal()
        for before, after in pairwise(record)
    )
    return [delimiter.join(record)] if is_prose else record


def _without_empty_end(record: list[str]) -> list[str]:
    """Return a row without its last cells, which a spreadsheet writes though they are empty."""
    n = len(record)
    while n > 1 and not record[n - 1].strip():
        n -= 1
    return record[:n]


def is_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns: by known names, else by its form.

    Names by their form are short, all different, and are no value of their own column. A column
    below them has numbers only, words with spaces below a name without one, or long cells. Any cell
    with letters above numbers or times is a name.
    """
    names = [cell.strip() for cell in first]
    columns = [[row[i].strip() for row in rows if i < len(row)] for i in range(len(names))]
    if _has_known_names(names, columns):
        return True
    if any(map(_is_above_numbers, names, columns)):
        return True
    if len(set(names)) < len(names) or not all(map(NAME.fullmatch, names)):
        return False
    if any(name in column for name, column in zip(names, columns, strict=True)):
        return False
    return any(map(_is_named, names, columns))


def _is_above_numbers(name: str, column: Sequence[str]) -> bool:
    """Return whether a cell with letters is above a few rows that all have numbers or times."""
    cells = [cell for cell in column if cell]
    is_name = any(map(str.isalpha, name)) and not DATED.fullmatch(name)
    return is_name and len(cells) >= SURE_ROWS and all(map(DATED.fullmatch, cells))


def _is_named(name: str, column: Sequence[str]) -> bool:
    """Return whether the cells of a column are unlike the name above them."""
    cells = [cell for cell in column if cell]
    if not cells:
        return False
    has_numbers = all(NUMBER.fullmatch(cell) for cell in cells)
    has_spaces = " " not in name and sum(" " in cell for cell in cells) > 0.9 * len(cells)
    return has_numbers or has_spaces or sum(map(len, cells)) > 3 * len(name) * len(cells)


def _has_known_names(names: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row has known names of columns, and is not a row with such a word.

    One name may also be a label or an answer, as "good" and "field" are.
    """
    known = {name.lower() for name in names} & KNOWN
    if len(known) > 1 or known & CERTAIN:
        return True
    return bool(known) and not any(map(_is_value, names, columns))


def _is_value(cell: str, column: Sequence[str]) -> bool:
    """Return whether a cell is a value as those below it: "good" above "bad", or a sentence."""
    if cell.lower() in POLARITY:
        return any(value.lower() in POLARITY for value in column)
    is_sentence = cell.endswith(ENDS) and len(cell.split()) >= SENTENCE_WORDS
    return is_sentence and 2 * sum(value.endswith(ENDS) for value in column) > len(column)


def _distinct(header: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns: a nameless one has its number, a repeated one too."""
    names: list[str] = []
    for place, cell in enumerate(header, 1):
        name = brief(cell.strip()) or f"column {place}"
        names.append(f"{name} {place}" if name in names else name)
    return tuple(names)
