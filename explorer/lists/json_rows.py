"""Rows of a JSON file: objects by line, an array of them, or one object that holds them."""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from explorer.lists.roles import KNOWN, NAMES, OF_LISTS, BadRows
from explorer.refusal import Sentence, brief

NOT_JSON = Sentence("row-not-json", "Its line is no JSON object.")
ONE_OBJECT = Sentence(
    "json-without-rows",
    "This JSON is one object without a list of rows: give an array of objects, or one object a "
    "line.",
)
SEVERAL_LISTS = Sentence(
    "json-several-lists",
    "This JSON object holds several lists ({names}): save the one that you mean as an array.",
)
LONGEST_LIST = 1_000
"""Letters of a cell up to which it may be a list that is written out."""
GAP = "BLANK"
"""Gap of StereoSet's contexts."""
EVIDENCE = (
    "Of each row's evidence the first masked sentence is read, and {n} more are not: LAMA too asks "
    "for each fact once, with a template (Petroni et al. 2019)."
)
WRAPPERS = ("row", "tweet")
"""Names of the object in which the hub's viewer and an archive of tweets have each row."""
ASSIGNED = re.compile(r"\s*window\.[\w.]+\s*=\s*(?=[\[{])")
"""Beginning of a file of such an archive, which is a script."""
WITH_BLANK = "context with BLANK"
"""Column of the contexts of StereoSet that have a gap."""
HUB_KINDS: Mapping[Any, str] = {0: "anti-stereotype", 1: "stereotype", 2: "unrelated"}
"""Numbers that the hub's form of StereoSet has for the kinds of sentences."""
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
        rows = _of_lists(value)
        return rows if any(isinstance(each, dict | str) for each in rows) else None
    if not isinstance(value, dict):
        return None
    has_evidence = "evidences" in value and unfolded(value) is not value  # a row of LAMA
    if not has_evidence and (inside := _rows_inside(value)) is not None:
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
    if all(_is_stereoset(each) for each in lists.values()) and lists:
        return [row for part, each in lists.items() for row in _of_stereoset(part, each)]
    if set(lists) == {"features", "rows"}:
        return lists["rows"]
    if len(lists) > 1:
        raise BadRows(SEVERAL_LISTS.format(names=", ".join(map(brief, lists))))
    if lists:
        return next(iter(lists.values()))
    nested = [each for each in value.values() if isinstance(each, dict)]
    if len(nested) == 1 and any(isinstance(v, list) and _is_rows(v) for v in nested[0].values()):
        return _rows_inside(nested[0])
    return _by_column(value)


def _of_lists(value: Sequence[object]) -> Sequence[object]:
    """Return rows; those that are lists of as many values each as objects with numbered columns."""
    if len({len(row) if isinstance(row, list) else 0 for row in value} | {0}) != 2:
        return value
    return [
        {f"column {place}": each for place, each in enumerate(row, 1)}
        for row in value
        if isinstance(row, list)
    ]


def _is_rows(value: Sequence[object]) -> bool:
    return any(isinstance(each, dict) for each in value)


def _is_stereoset(rows: Sequence[Any]) -> bool:
    """Return whether rows are contexts with labelled sentences, as StereoSet's are."""
    return all(
        isinstance(row, dict)
        and isinstance(row.get("context"), str)
        and bool(_sentences(row))
        and all("gold_label" in each for each in _sentences(row))
        for row in rows
    )


def of_stereoset(values: Iterable[object]) -> Sequence[object]:
    """Return values; rows of StereoSet, whose parts are in one list, as those of its file."""
    rows = [*values]
    return [*_of_stereoset("", rows)] if rows and _is_stereoset(rows) else rows


def _of_stereoset(part: str, rows: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield a row of StereoSet with a column for each of its labelled sentences.

    In its part ``intersentence`` a sentence follows its context; elsewhere it takes the place of a
    context with the gap BLANK.
    """
    for row in rows:
        follows = part == "intersentence" or not (part or GAP in row["context"])
        before = f"{row['context']} " if follows else ""
        sentences = {
            HUB_KINDS.get(each["gold_label"], str(each["gold_label"])): (
                f"{before}{each.get('sentence', '')}"
            )
            for each in _sentences(row)
        }
        names = {"term": row.get("target"), "bias_type": row.get("bias_type")}
        context = {} if follows else {WITH_BLANK: row["context"]}
        yield sentences | names | context | ({"part": part} if part else {})


def _sentences(row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the sentences of a row of StereoSet, which the hub has by column."""
    found = row.get("sentences")
    if isinstance(found, dict) and isinstance(found.get("gold_label"), list):
        columns = [found["gold_label"], found.get("sentence")]
        if all(isinstance(each, list) for each in columns):
            pairs = zip(*columns, strict=False)
            return [{"gold_label": kind, "sentence": text} for kind, text in pairs]
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def unfolded(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a JSON row, one of LAMA with its masked sentence in a cell of its own.

    A row that is inside one object (``WRAPPERS``) is that object. Of several pieces of evidence
    (T-REx) the first is read. Several sentences with one mask among them are one text.
    """
    evidences, sentences = value.get("evidences"), value.get("masked_sentences")
    for name in WRAPPERS:
        if isinstance(inside := value.get(name), dict):
            return inside
    if isinstance(sentences, list) and all(isinstance(each, str) for each in sentences):
        return {**value, "masked_sentences": " ".join(sentences)}
    if isinstance(evidences, list) and sentences is None and "masked_sentence" not in value:
        held = [each.get("masked_sentence") for each in evidences if isinstance(each, dict)]
        if held and isinstance(held[0], str):
            return {**value, "masked_sentence": held[0]}
    return value


def n_unread(values: Iterable[Any]) -> int:
    """Return how many masked sentences of rows of LAMA are not read, because one of a row is."""
    n = 0
    for value in values:
        is_row = isinstance(value, dict) and "masked_sentence" not in value
        if is_row and "masked_sentence" in unfolded(value):
            held = [each for each in value["evidences"] if isinstance(each, dict)]
            n += sum("masked_sentence" in each for each in held) - 1
    return n


def _by_column(value: Mapping[str, Any]) -> Sequence[object] | None:
    """Return the rows of an object of columns, each a list or an object by row number.

    pandas writes three such objects: by column, by row (``orient="index"``), and the names of the
    columns next to lists of rows (``orient="split"``).
    """
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list):
        return [dict(zip(map(str, names), row, strict=False)) for row in data if _is_list(row)]
    if _has_rows_by_name(value):
        return [*value.values()]
    if _is_tagged(value):
        return None
    columns = {
        name: list(each.values()) if isinstance(each, dict) else each
        for name, each in value.items()
    }
    lengths = {len(each) if isinstance(each, list) else 0 for each in columns.values()}
    if len(lengths) != 1 or not lengths - {0} or lengths == {1}:
        return None
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _is_tagged(value: Mapping[str, Any]) -> bool:
    """Return whether an object is one row of words and their tags, and no object of columns."""
    lower = {name.strip().lower(): each for name, each in value.items()}
    held = [lower[name] for role in OF_LISTS for name in NAMES[role] if name in lower]
    return len(held) > 1 and all(_is_list(each) and not any(map(_is_list, each)) for each in held)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _has_rows_by_name(value: Mapping[str, Any]) -> bool:
    """Return whether each value is a row: an object whose names are no numbers of rows."""
    inside = [set(each) for each in value.values() if isinstance(each, dict)]
    names = set[str]().union(*inside)
    is_whole = len(inside) == len(value) > 1
    has_known = any(name.strip().lower() in KNOWN for name in value)
    return is_whole and not has_known and not any(name.isdigit() for name in names)


def cell(value: object) -> str | tuple[str, ...] | None:
    """Return the text of a value, several texts of a list, or None of an object.

    A list of one value is that value, and an empty one holds nothing.
    """
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list):
        texts = [cell(each) for each in value]
        return None if any(not isinstance(each, str) for each in texts) else tuple(map(str, texts))
    # A frame's empty cell is not a number; as a word it would be an answer.
    if value is None or value != value:
        return ""
    if isinstance(value, dict):
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def of_text(text: str) -> str | tuple[str, ...] | None:
    """Return the value of a cell of a table: a text, unless JSON or Python wrote a list there."""
    inside = text.strip()
    if len(inside) > LONGEST_LIST or not inside.startswith(("[", "{")):
        return text
    if not inside.endswith(("]", "}")):
        return text
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            value = read(inside)
            return cell(value) if isinstance(value, list | dict) else text
    return text
