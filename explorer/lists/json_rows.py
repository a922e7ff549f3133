"""Rows of a JSON file: objects by line, an array of them, or one object that holds them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from explorer.lists.roles import BadRows
from explorer.refusal import brief

NOT_JSON = "Its line is no JSON object."
ONE_OBJECT = (
    "This JSON is one object without a list of rows: give an array of objects, or one object a "
    "line."
)
SEVERAL_LISTS = (
    "This JSON object holds several lists ({names}): save the one that you mean as an array."
)
LINE = re.compile(r"\S[^\r\n]*")
"""Line of JSON that is not empty; its strings may have other ends of lines."""


def whole(text: str) -> Sequence[object] | None:
    """Return the rows of a text that is one JSON array or object; None for any other text.

    Raises:
        BadRows: it is an object that holds no list of rows, or several.
    """
    text = text.strip()
    if not text.startswith(("[", "{")):
        return None
    value = parsed(text)
    if isinstance(value, list):
        return value if any(isinstance(each, dict | str) for each in value) else None
    if not isinstance(value, dict):
        return None
    if (inside := _rows_inside(value)) is not None:
        return inside
    if len(list(islice(lines(text), 2))) > 1:
        raise BadRows(ONE_OBJECT)
    return [value]


def lines(text: str) -> Iterator[str]:
    """Yield the lines that are not empty."""
    return (line.group() for line in LINE.finditer(text))


def parsed(text: str) -> object:
    """Return the value of a JSON text; None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _rows_inside(value: Mapping[str, object]) -> Sequence[object] | None:
    """Return the rows that an object holds: one list of objects, or lists as columns.

    Raises:
        BadRows: it holds several lists of objects.
    """
    lists = {
        name: each for name, each in value.items() if isinstance(each, list) and _is_rows(each)
    }
    if len(lists) > 1:
        raise BadRows(SEVERAL_LISTS.format(names=", ".join(map(brief, lists))))
    if lists:
        return next(iter(lists.values()))
    nested = [each for each in value.values() if isinstance(each, dict)]
    if len(nested) == 1 and any(isinstance(v, list) and _is_rows(v) for v in nested[0].values()):
        return _rows_inside(nested[0])
    return _by_column(value)


def _is_rows(value: Sequence[object]) -> bool:
    return any(isinstance(each, dict) for each in value)


def _by_column(value: Mapping[str, object]) -> Sequence[object] | None:
    """Return the rows of an object of columns, each a list or an object by row number."""
    columns = {
        name: list(each.values()) if isinstance(each, dict) else each
        for name, each in value.items()
    }
    lengths = {len(each) if isinstance(each, list) else 0 for each in columns.values()}
    if len(lengths) != 1 or not lengths - {0} or lengths == {1}:
        return None
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def cell(value: object) -> str | None:
    """Return the text of a value, or of the one in a list; None for an object or several values."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    # A frame's empty cell is not a number; as a word it would be an answer.
    if value is None or value != value:
        return ""
    if isinstance(value, list | dict):
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
