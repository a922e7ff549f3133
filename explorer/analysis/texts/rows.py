"""Rows of a list of texts, the columns that they are read from, and the kind of question."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from explorer.models.tokens import MASK, SEPARATOR, plain_text
from explorer.refusal import Refusal, brief

KINDS: tuple[str, ...] = ("masked", "plain", "pairs", "labelled")
MAX_ROWS = 2_000
MAX_TOKENS = 512
MIN_CLASSES, MAX_CLASSES = 2, 20
NAMES: dict[str, tuple[str, ...]] = {
    "text": ("text", "sentence", "review", "content", "phrase", "masked", "prompt"),
    "answer": ("answer", "target", "expected", "word"),
    "good": ("good", "sentence_good", "sentence1", "sent_more"),
    "bad": ("bad", "sentence_bad", "sentence2", "sent_less"),
    "label": ("label", "class", "category", "labels", "topic", "sentiment"),
    "group": ("group", "field", "phenomenon", "subset", "bias_type"),
}
"""Column names of each role, in lower case, the preferred one first."""
LONGEST_LABEL = 40
NO_COLUMN = "There is no column “{name}” here. The columns are: {known}."
NO_ROLE = "“{role}” is no role of a column: {known}."
NO_KIND = "The kind must be one of: {known}."
NEEDS = {
    "masked": "Masked rows need a column with texts in which one word is [MASK].",
    "plain": "There is no column with texts.",
    "pairs": "Pairs need two columns of sentences, good and bad.",
    "labelled": "Labelled rows need a column with texts and a column “label”.",
}
NO_ROWS = "There are no rows to read."
EMPTY = "It has no text."
NOT_ONE_MASK = "It has {n} masks; exactly one is read."
EMPTY_SIDE = "One of its two sentences is empty."
NO_LABEL = "It has no label."
TOO_MANY = "It and all rows after it, {n} together, are over the limit of {most} rows."
LAST_ONE = "It is over the limit of {most} rows."


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

    @property
    def n_rows(self) -> int:
        """The number of rows, those that are only counted included."""
        return len(self.cells) + self.n_more


@dataclass(frozen=True, slots=True)
class TextRow:
    """Row of a list, as it is run."""

    number: int
    text: str
    """For pairs the good sentence."""
    other: str = ""
    """The bad sentence of a pair."""
    answer: str = ""
    label: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class TextList:
    """Rows of one kind, with those that are left out."""

    kind: str
    columns: Mapping[str, str]
    """Name of the column of each role that is read."""
    rows: tuple[TextRow, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def n_different(self) -> int:
        """The number of rows, equal ones counted once."""
        return len({replace(row, number=0) for row in self.rows})

    def without(self, left_out: Sequence[LeftOut]) -> "TextList":
        """Return the list without more rows."""
        numbers = {row.number for row in left_out}
        rows = tuple(row for row in self.rows if row.number not in numbers)
        together = sorted((*self.left_out, *left_out), key=lambda row: row.number)
        return TextList(self.kind, self.columns, rows, tuple(together))


def text_list(
    table: RawTable, kind: str = "", columns: Mapping[str, str] | None = None
) -> TextList:
    """Return the rows of a table: columns by name and content, the kind from the columns.

    Args:
        table: The cells of a file.
        kind: One of ``KINDS``; empty: follows from the columns.
        columns: The name of the column of a role, where it is not the recognised one; an empty
            name takes a role away.

    Raises:
        BadRows: there is no such kind or column, the kind lacks a column, or no row is left.
    """
    roles = recognised(table)
    for role, name in (columns or {}).items():
        if role not in NAMES:
            raise BadRows(NO_ROLE.format(role=brief(role), known=", ".join(NAMES)))
        if name and name not in table.names:
            known = ", ".join(map(brief, table.names))
            raise BadRows(NO_COLUMN.format(name=brief(name), known=known))
        roles[role] = name
    roles = {role: name for role, name in roles.items() if name}
    if kind not in ("", *KINDS):
        raise BadRows(NO_KIND.format(known=", ".join(KINDS)))
    kind = kind or kind_of(table, roles)
    is_named = roles.get("group", "").strip().lower() == "group"
    if kind == "labelled" and "group" not in (columns or {}) and not is_named:
        roles.pop("group", "")  # a field or a subset: its rows need not stay together
    return _rows(table, kind, _needed(kind, roles))


def recognised(table: RawTable) -> dict[str, str]:
    """Return the column of each role: by its name, else by its content."""
    lower = [name.strip().lower() for name in table.names]
    roles: dict[str, str] = {}
    for role, names in NAMES.items():
        place = next((lower.index(name) for name in names if name in lower), None)
        if place is not None and table.names[place] not in roles.values():
            roles[role] = table.names[place]
    if ("good" in roles) != ("bad" in roles):
        roles.pop("good", roles.pop("bad", None))
    free = [i for i, name in enumerate(table.names) if name not in roles.values()]
    if free and "text" not in roles and "good" not in roles:
        longest = max(free, key=lambda i: sum(len(row[i]) for row in table.cells))
        roles["text"] = table.names[longest]
        free.remove(longest)
    if "label" not in roles and not table.has_header:
        labels = next((i for i in free if _are_labels([row[i] for row in table.cells])), None)
        if labels is not None:
            roles["label"] = table.names[labels]
    return roles


def kind_of(table: RawTable, roles: Mapping[str, str]) -> str:
    """Return the kind that the columns of a table suggest."""
    if "good" in roles and "label" not in roles:
        return "pairs"
    texts = _column(table, roles.get("text", ""))
    if texts and 2 * sum(MASK in plain_text(text) for text in texts) >= len(texts):
        return "masked"
    labels = {label for label in _column(table, roles.get("label", "")) if label}
    is_labelled = MIN_CLASSES <= len(labels) <= MAX_CLASSES
    return "labelled" if is_labelled else "pairs" if "good" in roles else "plain"


def _needed(kind: str, roles: Mapping[str, str]) -> dict[str, str]:
    """Return the roles that a kind reads.

    Raises:
        BadRows: the kind lacks one.
    """
    is_pair = kind == "pairs" or (kind == "labelled" and "text" not in roles)
    needed = (("good", "bad") if is_pair else ("text",)) + (
        ("label",) if kind == "labelled" else ()
    )
    if any(role not in roles for role in needed):
        raise BadRows(NEEDS[kind])
    extra = ("answer", "group") if kind == "masked" else ("group",)
    return {role: roles[role] for role in (*needed, *extra) if role in roles}


def _rows(table: RawTable, kind: str, roles: Mapping[str, str]) -> TextList:
    """Return the rows of a kind, and those that it cannot read with the reason."""
    places = {role: table.names.index(name) for role, name in roles.items()}
    rows, left_out = [], list(table.left_out)
    if over := table.n_more:
        reason = TOO_MANY if over > 1 else LAST_ONE
        left_out.append(LeftOut(MAX_ROWS + 1, reason.format(n=f"{over:,}", most=f"{MAX_ROWS:,}")))
    unreadable = {row.number for row in left_out}
    for number, row in enumerate(table.cells, 1):
        if number in unreadable:
            continue
        cell = {role: plain_text(row[place]) for role, place in places.items()}
        if reason := _fault(kind, cell):
            left_out.append(LeftOut(number, reason))
        else:
            rows.append(_row(number, kind, cell))
    if not rows:
        raise BadRows(
            f"{NO_ROWS} Row {left_out[0].number}: {left_out[0].reason}" if left_out else NO_ROWS
        )
    left_out.sort(key=lambda row: row.number)
    return TextList(kind, roles, tuple(rows), tuple(left_out))


def _fault(kind: str, cell: Mapping[str, str]) -> str:
    """Return the reason why a row is not read; empty if it is."""
    if "good" in cell:
        if not (cell["good"] and cell["bad"]):
            return EMPTY_SIDE
    elif not cell["text"]:
        return EMPTY
    if kind == "masked" and (n_masks := cell["text"].count(MASK)) != 1:
        return NOT_ONE_MASK.format(n=n_masks)
    return NO_LABEL if kind == "labelled" and not cell["label"] else ""


def _row(number: int, kind: str, cell: Mapping[str, str]) -> TextRow:
    extra = {name: cell.get(name, "") for name in ("answer", "label", "group")}
    if "good" not in cell:
        return TextRow(number, cell["text"], **extra)
    if kind == "labelled":
        return TextRow(number, f"{cell['good']} {SEPARATOR} {cell['bad']}", **extra)
    return TextRow(number, cell["good"], cell["bad"], **extra)


def _column(table: RawTable, name: str) -> list[str]:
    if name not in table.names:
        return []
    place = table.names.index(name)
    return [row[place].strip() for row in table.cells]


def _are_labels(values: Sequence[str]) -> bool:
    """Return whether values are a few short labels, each on two rows or more on average."""
    labels = {value.strip() for value in values}
    is_short = all(0 < len(label) <= LONGEST_LABEL for label in labels)
    few = MIN_CLASSES <= len(labels) <= min(MAX_CLASSES, len(values) // 2)
    return is_short and few and not any(re.search(r"\[mask\]", label, re.I) for label in labels)
