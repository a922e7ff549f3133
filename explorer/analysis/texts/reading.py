"""Reading of pasted lines and of .txt, .csv, .tsv and .jsonl files, whatever is wrong with them."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Sequence

from explorer.analysis.digits import counted
from explorer.analysis.texts.rows import NAMES, BadRows, LeftOut, RawTable
from explorer.refusal import brief

MAX_BYTES = 2**20
MAX_COLUMNS = 100
DELIMITERS = ",;\t|"
SUFFIXES = {
    "csv": "table",
    "tsv": "table",
    "jsonl": "json",
    "ndjson": "json",
    "json": "json",
    "txt": "lines",
}
NOT_TEXT = "This file holds no text: save it as .csv, .tsv, .jsonl or .txt."
ZERO_BYTES = "This file holds zero bytes, which no text has: save it as UTF-8."
TOO_LARGE = "It and all rows after it are over the limit of 1 MB."
EMPTY_FILE = "There is nothing to read: the list is empty."
HEADER_ALONE = "There is nothing to read: below the names of the columns there is no row."
NOT_JSON = "Its line is no JSON object."
OPEN_QUOTE = "A quotation mark is opened here and never closed."
EXTRA_CELLS = "It has {n} cells for {columns}."
TOO_WIDE = "This list has {n:,} columns, and at most {most} are read."
ARRAY_TOO_LARGE = "This JSON array is over 1 MB: save it as .jsonl, one object a line."
LINE_END = re.compile(r"\r\n|\n|\r")
"""End of a line of JSON, in whose strings other ends of lines may stand."""
LONGEST_NAME = 40
SENTENCE = re.compile(r"\[\s*mask\s*\]|[.!?…]$", re.IGNORECASE)
"""Part of a cell that no name of a column has."""
KNOWN = {name for names in NAMES.values() for name in names}
BINARY = (b"PK\x03\x04", b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"\x1f\x8b", b"\xd0\xcf\x11\xe0")
"""First bytes of archives and spreadsheets, PDF, pictures and old Office files."""
csv.field_size_limit(MAX_BYTES)


def read_table(content: str | bytes, name: str = "") -> RawTable:
    """Return the cells of a file, or of pasted lines where there is no name.

    Args:
        content: The text, or the bytes of the file in UTF-8, UTF-16 or Windows-1252.
        name: The file's name, whose ending says what it is; otherwise the content does.

    Raises:
        BadRows: it is empty, no text, too wide, or one JSON array over the limit.
    """
    text, is_cut = _within_limit(content)
    text = text.lstrip("\ufeff").replace("\x00", "")
    if not text.strip():
        raise BadRows(EMPTY_FILE)
    named = SUFFIXES.get(name.rpartition(".")[2].lower(), "")
    form = named or _form_of(text)
    if is_cut and named in ("", "json") and re.match(r"\s*\[\s*[{\"]", text):
        raise BadRows(ARRAY_TOO_LARGE)
    readers = {"table": _read_delimited, "json": _read_json, "lines": _read_lines}
    table = readers[form](text)
    if not table.cells:
        raise BadRows(EMPTY_FILE)
    if is_cut:
        over = LeftOut(len(table.cells) + 1, TOO_LARGE)
        table = RawTable(table.names, table.cells, table.has_header, (*table.left_out, over))
    return table


def decoded(content: bytes) -> str:
    """Return the text of a file: by its byte order mark, else UTF-8, else Windows-1252.

    Raises:
        BadRows: the bytes are no text.
    """
    if content.startswith(BINARY):
        raise BadRows(NOT_TEXT)
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
    """Return what pasted content is: JSON lines, a table whose header is known, or plain lines."""
    if all(line.lstrip().startswith("{") for line in _json_lines(text)[:20]) or _array(text):
        return "json"
    lines = [line for line in text.splitlines() if line.strip()]
    first = [cell.strip().strip('"') for cell in re.split(f"[{DELIMITERS}]", lines[0])]
    has_tabs = len(lines) > 1 and all("\t" in line for line in lines)
    return "table" if (len(lines) > 1 and _has_known_name(first)) or has_tabs else "lines"


def _has_known_name(cells: Sequence[str]) -> bool:
    """Return whether one of the cells is a known name of a column, and none is a sentence."""
    is_known = any(cell.lower() in KNOWN for cell in cells)
    return is_known and all(
        len(cell) <= LONGEST_NAME and not SENTENCE.search(cell) for cell in cells
    )


def _read_lines(text: str) -> RawTable:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    has_header = len(lines) > 1 and lines[0].lower() in NAMES["text"]
    cells = tuple((line,) for line in lines[has_header:])
    return RawTable(("text",), cells, has_header)


def _read_json(text: str) -> RawTable:
    """Read one JSON object a line, or the objects of an array; a string alone is a text."""
    objects: list[dict[str, object]] = []
    left_out = []
    for number, value in enumerate(_array(text) or map(_parsed, _json_lines(text)), 1):
        if isinstance(value, str):
            value = {"text": value}
        if not isinstance(value, dict):
            left_out.append(LeftOut(number, NOT_JSON))
            value = {}
        objects.append(value)
    names = tuple(dict.fromkeys(str(name) for value in objects for name in value))
    _check_width(len(names))
    cells = tuple(tuple(_cell(value.get(name)) for name in names) for value in objects)
    if not names:
        raise BadRows(EMPTY_FILE if not left_out else f"Row {left_out[0].number}: {NOT_JSON}")
    return RawTable(names, cells, True, tuple(left_out))


def _json_lines(text: str) -> list[str]:
    return [line for line in LINE_END.split(text) if line.strip()]


def _check_width(n: int) -> None:
    # Every row is filled up to this width.
    if n > MAX_COLUMNS:
        raise BadRows(TOO_WIDE.format(n=n, most=MAX_COLUMNS))


def _array(text: str) -> list[object]:
    """Return the values of a text that is one JSON array with rows; empty for any other."""
    value = _parsed(text) if text.lstrip().startswith("[") else None
    is_list = isinstance(value, list) and any(isinstance(each, dict | str) for each in value)
    return value if isinstance(value, list) and is_list else []


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _cell(value: object) -> str:
    # A frame's empty cell is not a number; as a word it would be an answer.
    if value is None or value != value:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _read_delimited(text: str) -> RawTable:
    """Read a table with the delimiter that divides most of its rows alike."""
    delimiter = max(DELIMITERS, key=lambda sign: _fit(text, sign))
    records, opened = _records(text, delimiter)
    if not records:
        raise BadRows(EMPTY_FILE)
    if len(records) == 1 and all(cell.strip().lower() in KNOWN for cell in records[0]):
        raise BadRows(HEADER_ALONE)
    if len(records[0]) == 1 and records[0][0].strip().lower() in NAMES["text"]:
        records = [_without_split_prose(record, delimiter) for record in records]
    is_narrow = len(records[0]) <= MAX_COLUMNS
    has_header = len(records) > 1 and is_narrow and is_header(records[0], records[1:])
    width = len(records[0]) if has_header else _usual_width(records)
    _check_width(width)
    header = records[0] if has_header else [""] * width
    names, rows = _distinct(header), records[has_header:]
    left_out = [LeftOut(i + (not has_header), OPEN_QUOTE) for i in opened if i >= has_header]
    for number, row in enumerate(rows, 1):
        if len(row) > width and _has_text(row[width:]):
            columns = counted(width, "column")
            left_out.append(LeftOut(number, EXTRA_CELLS.format(n=len(row), columns=columns)))
    cells = tuple(tuple((row + [""] * width)[:width]) for row in rows)
    return RawTable(names, cells, has_header, tuple(left_out))


def _without_split_prose(record: list[str], delimiter: str) -> list[str]:
    """Return a row of a list with one column as one cell: prose has spaces behind its commas."""
    is_prose = any(cell.startswith(" ") for cell in record[1:])
    return [delimiter.join(record)] if is_prose else record


def _fit(text: str, delimiter: str) -> tuple[bool, float, int]:
    """Rate a delimiter: a known header, then the share of rows of one width, then that width."""
    sample = [
        row
        for row in csv.reader(io.StringIO(text[:50_000], newline=""), delimiter=delimiter)
        if row
    ][:50]
    widths = [len(row) for row in sample]
    usual = max(set(widths), key=lambda width: (widths.count(width), width)) if widths else 1
    known = sum(cell.strip().lower() in KNOWN for cell in sample[0]) if sample else 0
    share = widths.count(usual) / len(widths) if usual > 1 else 0.0
    return known > 1, share, usual


def _records(text: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the records that are not empty, and the indices of those with an open quote.

    Where quotes are wrong, the line at which the record begins is read by itself, so that a quote
    that is opened and not closed takes no other row with it.
    """
    lines = io.StringIO(text, newline="").readlines()
    records: list[list[str]] = []
    opened: list[int] = []
    begins = 0
    while begins < len(lines):
        rest = (lines[number] for number in range(begins, len(lines)))
        reader = csv.reader(rest, delimiter=delimiter, strict=True)
        n_read = 0
        try:
            for record in reader:
                records += [record] if _has_text(record) else []
                n_read = reader.line_num
            break
        except csv.Error:
            line = lines[begins + n_read]
            begins += n_read + 1
            record = next(csv.reader([line], delimiter=delimiter), [])
            opened += [len(records)] if _has_text(record) and _is_open(line, delimiter) else []
            records += [record] if _has_text(record) else []
    return records, opened


def _has_text(record: Sequence[str]) -> bool:
    return any(cell.strip() for cell in record)


def _is_open(line: str, delimiter: str) -> bool:
    """Return whether a quote is opened in a line and not closed there."""
    try:
        next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False


def is_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns: by a known name, else by its form.

    Names are short, all different, and are no value of their own column.
    """
    names = [cell.strip() for cell in first]
    columns = [[row[i].strip() for row in rows if i < len(row)] for i in range(len(names))]
    if all(name.lower() in KNOWN for name in names):
        return True
    if any(name and name in column for name, column in zip(names, columns, strict=True)):
        return False
    if _has_known_name(names):
        return True
    if len(set(names)) < len(names) or not all(
        re.fullmatch(r"[^\W\d][\w -]{0,29}", n) for n in names
    ):
        return False
    lengths = [sum(map(len, column)) / max(len(column), 1) for column in columns]
    return any(mean > 3 * len(name) for name, mean in zip(names, lengths, strict=True))


def _usual_width(records: Sequence[Sequence[str]]) -> int:
    widths = Counter(map(len, records))
    return max(widths, key=lambda width: (widths[width], width))


def _distinct(header: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns: a nameless one has its number, a repeated one too."""
    names: list[str] = []
    for place, cell in enumerate(header, 1):
        name = brief(cell.strip()) or f"column {place}"
        names.append(f"{name} {place}" if name in names else name)
    return tuple(names)
