"""Rows of a list of texts, the columns that they are read from, and the kind of question."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explorer.analysis.digits import counted
from explorer.lists.forms import GAPS
from explorer.lists.roles import (
    KNOWN,
    MAX_ROWS,
    NAMES,
    BadRows,
    LeftOut,
    RawTable,
    column,
    kind_of,
    number_of,
    recognised,
)
from explorer.lists.several import divided, has_several
from explorer.lists.spread import n_choices
from explorer.lists.stereoset import Blank, blank_of
from explorer.models.tokens import MASK, SEPARATOR, find_choices, hide_choices, plain_text
from explorer.refusal import Sentence, brief, joined

KINDS: tuple[str, ...] = (
    *("masked", "plain", "pairs", "labelled", "multilabel", "scored"),
    "tagged",
)
JUDGED: tuple[str, ...] = ("labelled", "multilabel", "scored")
"""Kinds whose rows train a regression once all features are there."""
MAX_TOKENS = 512
NO_COLUMN = Sentence(
    "no-such-list-column", "There is no column “{name}” here. The columns are: {known}."
)
NO_ROLE = Sentence("no-such-role", "“{role}” is no role of a column: {known}.")
NO_KIND = Sentence("no-such-kind", "The kind must be one of: {known}.")
NEEDS = {
    "masked": Sentence(
        "masked-columns", "Masked rows need a column with texts in which one word is [MASK]."
    ),
    "plain": Sentence("no-text-column", "There is no column with texts."),
    "pairs": Sentence("pair-columns", "Pairs need two columns of sentences, good and bad."),
    "labelled": Sentence(
        "labelled-columns", "Labelled rows need a column with texts and a column “label”."
    ),
    "multilabel": Sentence(
        "multilabel-columns",
        "Rows with several labels need a column with texts and a column “labels”.",
    ),
    "scored": Sentence(
        "scored-columns", "Rows with a score need a column with texts and a column “score”."
    ),
    "tagged": Sentence(
        "tagged-columns", "Tagged rows need two columns of lists: words, and a tag for each word."
    ),
}
REQUIRED = {
    "masked": ("text",),
    "plain": ("text",),
    "pairs": ("good", "bad"),
    "labelled": ("text", "label"),
    "multilabel": ("text", "label"),
    "scored": ("text", "score"),
    "tagged": ("tokens", "tags"),
}
OPTIONAL = {
    "masked": ("answer", "group"),
    "plain": ("group",),
    "pairs": ("group", "direction", "unrelated", "term", "context"),
    "labelled": ("second", "group"),
    "multilabel": ("second", "group"),
    "scored": ("second", "group"),
    "tagged": ("group",),
}
"""Roles that a kind reads where a list has them."""
GAP = Sentence("row-gap", "It has a gap that is not [MASK]: write [MASK] there.")
CHOICES = Sentence(
    "row-choices",
    "It has a choice, {choice}, which is read in masked rows: this list is of another kind.",
)
TEMPLATE = re.compile(r"\[[XY]\]|\$(?:OCCUPATION|PARTICIPANT|[A-Z]+_[A-Z]+)\b")
IS_TEMPLATE = Sentence("row-template", "It is a template: write words in place of {slot}.")
CODES = re.compile(r"\d+(?:[,;|]\d+)*")
"""Numbers of labels, one or several."""
NO_ROWS = Sentence("no-rows", "There are no rows to read.")
EMPTY = Sentence("row-empty", "It has no text.")
NOT_ONE_MASK = Sentence("row-not-one-mask", "It has {n} masks; exactly one is read.")
EMPTY_SIDE = Sentence("row-empty-side", "One of its two sentences is empty.")
NO_LABEL = Sentence("row-without-label", "It has no label.")
NO_SCORE = Sentence("row-without-score", "It has no score.")
NOT_A_NUMBER = Sentence("row-score-not-a-number", "Its score “{score}” is no number.")
INSIDE = Sentence(
    "texts-inside-objects",
    "“{name}” holds an object or several values in each row, and no other column is known to hold "
    "texts: give a column with one text in each row.",
)
SEVERAL_LABELS = Sentence(
    "several-labels",
    "“{name}” holds several labels in {rows}, and labelled texts have one label each: read the "
    "list as the kind “multilabel”.",
)
CHOSEN = Sentence(
    "several-choices",
    "Each row offers {n} choices, of which one is right. This is not read: give the right text of "
    "each row in a column “good”, and a wrong one in a column “bad”.",
)
NOT_A_CELL = Sentence(
    "row-several-values", "Its “{name}” holds an object or several values; one is read."
)
UNEVEN = Sentence("row-words-and-tags", "It has {words} and {tags}.")
BAD_WORD = Sentence("row-bad-word", "Its word “{word}” is empty, or holds a space.")
NO_TAG = Sentence("row-without-tag", "Its word “{word}” has no tag.")
ARE_NUMBERS = Sentence(
    "tags-are-numbers",
    "The tags in “{name}” are numbers: save their names, which the data set has next to them "
    '(features["{name}"].feature.names in the library datasets).',
)
FEW_LEFT_OUT = 3
"""Rows left out that a sentence names."""
TOO_MANY = Sentence(
    "rows-over-limit", "It and all rows after it, {n} together, are over the limit of {most} rows."
)
LAST_ONE = Sentence("row-over-limit", "It is over the limit of {most} rows.")


@dataclass(frozen=True, slots=True)
class TextRow:
    """Row of a list, as it is run."""

    number: int
    text: str
    """For pairs the good sentence."""
    other: str = ""
    """The bad sentence of a pair."""
    answer: str = ""
    """The given answer; bars divide several, of which any counts."""
    label: str = ""
    """The label; bars divide several, see ``labels``."""
    group: str = ""
    score: float | None = None
    direction: str = ""
    """Of a pair of CrowS-Pairs ``stereo`` or ``antistereo``: see ``crows_score``."""
    choices: tuple[str, ...] = ()
    """Words that a masked text offers, as ``[he|she]`` does."""
    labels: tuple[str, ...] = ()
    """The labels of a row that may have any number of them."""
    term: str = ""
    """Of a row of StereoSet the target term."""
    blank: Blank | None = None
    """Of a row of StereoSet's part ``intrasentence`` the context and the words at its gap."""
    tokens: tuple[str, ...] = ()
    """The words of a row whose words have tags; ``text`` has spaces between them."""
    tags: tuple[str, ...] = ()
    """The tag of each."""
    cut: str = ""
    """The part of a text that is read where all of it is too long; otherwise empty."""

    @property
    def read(self) -> str:
        """The text that the models read."""
        return self.cut or self.text

    @property
    def accepted(self) -> tuple[str, ...]:
        """The answers of which any one counts."""
        return tuple(dict.fromkeys(filter(None, map(str.strip, self.answer.split("|")))))

    @property
    def words(self) -> tuple[str, ...]:
        """The words whose probability is asked for: accepted answers, then those offered."""
        return tuple(dict.fromkeys((*self.accepted, *self.choices)))


@dataclass(frozen=True, slots=True)
class TextList:
    """Rows of one kind, with those that are left out."""

    kind: str
    columns: Mapping[str, str]
    """Name of the column of each role that is read."""
    rows: tuple[TextRow, ...]
    left_out: tuple[LeftOut, ...] = ()
    has_header: bool = True
    unused: tuple[str, ...] = ()
    """Names of the columns that are not read."""
    note: str = ""
    """Sentence on what the rows are, where they are not those of the file."""

    way: str = ""
    """One of ``cut.WAYS``, by which long texts were cut; empty where none was."""
    source: str = ""
    """The name of the file; empty of pasted lines."""

    @property
    def n_cut(self) -> int:
        """The number of rows of which only a part is read."""
        return sum(bool(row.cut) for row in self.rows)

    @property
    def n_different(self) -> int:
        """The number of rows, equal ones counted once."""
        return len({replace(row, number=0) for row in self.rows})

    def without(self, left_out: Sequence[LeftOut]) -> "TextList":
        """Return the list without more rows."""
        numbers = {row.number for row in left_out}
        rows = tuple(row for row in self.rows if row.number not in numbers)
        together = sorted((*self.left_out, *left_out), key=lambda row: row.number)
        return replace(self, rows=rows, left_out=tuple(together))


def left_out_said(left_out: Sequence[LeftOut]) -> str:
    """Return which rows are not read, and why; empty if all are."""
    if not left_out:
        return ""
    first = " ".join(f"Row {row.number:,}: {row.reason}" for row in left_out[:FEW_LEFT_OUT])
    more = len(left_out) - FEW_LEFT_OUT
    return f"Not read: {first}{f' And {more:,} more.' if more > 0 else ''}"


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
    if not columns and not kind:
        _check_values(table, roles)
    roles = _chosen(table, roles, columns or {})
    if kind not in ("", *KINDS):
        raise BadRows(NO_KIND.format(known=", ".join(KINDS)))
    label = roles.get("label", "")
    is_sure = table.has_header or all(map(CODES.fullmatch, filter(None, column(table, label))))
    if kind == "multilabel" or (not kind and is_sure):
        table = divided(table, label)
    kind = kind or _kind(table, roles, is_label_chosen=bool((columns or {}).get("label")))
    if kind == "labelled":
        _check_labels(table, label)
    if kind == "tagged":
        _check_tags(table, roles.get("tags", ""))
    is_named = roles.get("group", "").strip().lower() == "group"
    if kind in JUDGED and "group" not in (columns or {}) and not is_named:
        roles.pop("group", "")  # a field or a subset: its rows need not stay together
    return _rows(table, kind, _needed(kind, roles))


def _chosen(
    table: RawTable, roles: Mapping[str, str], columns: Mapping[str, str]
) -> dict[str, str]:
    """Return the recognised roles with those that are chosen in their place.

    Raises:
        BadRows: there is no such role or column.
    """
    for role, name in columns.items():
        if role not in NAMES:
            raise BadRows(NO_ROLE.format(role=brief(role), known=", ".join(NAMES)))
        if name and name not in table.names:
            known = ", ".join(map(brief, table.names))
            raise BadRows(NO_COLUMN.format(name=brief(name), known=known))
    return {role: name for role, name in {**roles, **columns}.items() if name}


def _check_values(table: RawTable, roles: Mapping[str, str]) -> None:
    """Refuse a list whose texts may be inside an object, or whose rows offer several choices."""
    held = [name for number, name in table.structured if number == 1]
    if held and roles.get("text", "").lower() not in KNOWN and "good" not in roles:
        raise BadRows(INSIDE.format(name=brief(min(held))))
    if n := n_choices(table):
        raise BadRows(CHOSEN.format(n=n))


def _kind(table: RawTable, roles: Mapping[str, str], is_label_chosen: bool) -> str:
    """Return the kind that the columns suggest; a column that is chosen for the labels has them."""
    usual = kind_of(table, roles)
    if usual not in ("labelled", "plain"):
        return usual
    several = "multilabel" if has_several(table, roles.get("label", "")) else ""
    return several or ("labelled" if is_label_chosen else usual)


def _check_tags(table: RawTable, name: str) -> None:
    """Refuse tags that are numbers, whose names are not in the file."""
    cells = [part for cell in column(table, name) for part in cell.split("|")]
    if cells and all(part.isdecimal() for part in cells):
        raise BadRows(ARE_NUMBERS.format(name=brief(name)))


def _check_labels(table: RawTable, name: str) -> None:
    """Refuse a list of which many rows have several labels."""
    if has_several(table, name):
        n = sum(held == name and len(each) > 1 for (_, held), each in table.lists.items())
        raise BadRows(SEVERAL_LABELS.format(name=brief(name), rows=counted(n, "row")))


def _needed(kind: str, roles: Mapping[str, str]) -> dict[str, str]:
    """Return the roles that a kind reads.

    Raises:
        BadRows: the kind lacks one.
    """
    roles = dict(roles)
    if kind in JUDGED and "text" not in roles and "good" in roles:
        roles |= {"text": roles["good"], "second": roles["bad"]}
    if kind == "pairs" and "good" not in roles and "second" in roles:
        roles |= {"good": roles["text"], "bad": roles["second"]}
    if any(role not in roles for role in REQUIRED[kind]):
        raise BadRows(NEEDS[kind])
    read = (*REQUIRED[kind], *OPTIONAL[kind])
    return {role: roles[role] for role in NAMES if role in read and role in roles}


def _over(n: int) -> LeftOut:
    """Return the rows that are over the limit, as one row that is not read."""
    reason = TOO_MANY if n > 1 else LAST_ONE
    return LeftOut(MAX_ROWS + 1, reason.format(n=f"{n:,}", most=f"{MAX_ROWS:,}"))


def _rows(table: RawTable, kind: str, roles: Mapping[str, str]) -> TextList:
    """Return the rows of a kind, and those that it cannot read with the reason."""
    rows, left_out = [], list(table.left_out)
    if table.n_more:
        left_out.append(_over(table.n_more))
    unreadable = {row.number for row in left_out}
    for number in range(1, len(table.cells) + 1):
        if number in unreadable:
            continue
        found = (_tagged if kind == "tagged" else _read)(table, number, kind, roles)
        if isinstance(found, TextRow):
            rows.append(found)
        else:
            left_out.append(found)
    if not rows:
        first = [f"Row {row.number}: {row.reason}" for row in left_out[:1]]
        raise BadRows(joined([NO_ROWS, *first]))
    left_out.sort(key=lambda row: row.number)
    inside = {part for name in roles.values() for part in table.made.get(name, ())}
    unused = tuple(name for name in table.names if name not in {*roles.values(), *inside})
    return TextList(
        *(kind, roles, tuple(rows), tuple(left_out), table.has_header, unused),
        table.note,
        source=table.source,
    )


def _read(table: RawTable, number: int, kind: str, roles: Mapping[str, str]) -> TextRow | LeftOut:
    """Return a row with a text, or two, or why it is left out."""
    cells = dict(zip(table.names, table.cells[number - 1], strict=True))
    cell = {role: plain_text(cells[name]) for role, name in roles.items()}
    held = [
        name
        for role, name in roles.items()
        if (number, name) in table.structured
        or (table.lists.get((number, name)) and not _holds_lists(kind, role))
    ]
    labels = _labels(table, number, kind, roles)
    if kind == "multilabel":
        cell.pop("label")
        cell |= {} if labels is None else {"label": "|".join(labels)}
    if reason := NOT_A_CELL.format(name=brief(held[0])) if held else _fault(kind, cell):
        return LeftOut(number, reason)
    return replace(_row(number, kind, cell), labels=labels or ())


def _tagged(
    table: RawTable, number: int, _kind: str, roles: Mapping[str, str]
) -> TextRow | LeftOut:
    """Return a row whose words have tags, or why it is left out."""
    cells = dict(zip(table.names, table.cells[number - 1], strict=True))
    if held := [name for name in roles.values() if (number, name) in table.structured]:
        return LeftOut(number, NOT_A_CELL.format(name=brief(held[0])))
    words, tags = (
        [plain_text(each) for each in table.lists.get((number, name), (cells[name],))]
        for name in (roles["tokens"], roles["tags"])
    )
    group = plain_text(cells[roles["group"]]) if "group" in roles else ""
    if not any(words):
        return LeftOut(number, EMPTY)
    if len(words) != len(tags):
        said = {"words": counted(len(words), "word"), "tags": counted(len(tags), "tag")}
        return LeftOut(number, UNEVEN.format(**said))
    for word, tag in zip(words, tags, strict=True):
        if len(word.split()) != 1:
            return LeftOut(number, BAD_WORD.format(word=brief(word)))
        if len(tag.split()) != 1:
            return LeftOut(number, NO_TAG.format(word=brief(word)))
    text = " ".join(words)
    return TextRow(number, text, group=group, tokens=tuple(words), tags=tuple(tags))


def _holds_lists(kind: str, role: str) -> bool:
    """Return whether a cell of a role may hold several values."""
    return role == "answer" or (kind == "multilabel" and role == "label")


def _labels(
    table: RawTable, number: int, kind: str, roles: Mapping[str, str]
) -> tuple[str, ...] | None:
    """Return the labels of a row that may have any number; None where it has no list of them."""
    if kind != "multilabel":
        return None
    name = roles["label"]
    cell = plain_text(table.cells[number - 1][table.names.index(name)])
    found = table.lists.get((number, name), (cell,) if cell else None)
    if found is None:
        return None
    return tuple(dict.fromkeys(filter(None, (plain_text(label) for label in found))))


def _fault(kind: str, cell: Mapping[str, str]) -> str:
    """Return the reason why a row is not read; empty if it is."""
    if "good" in cell:
        if not (cell["good"] and cell["bad"]):
            return EMPTY_SIDE
    elif not cell["text"]:
        return EMPTY
    elif "second" in cell and not cell["second"]:
        return EMPTY_SIDE
    if kind == "multilabel":
        return NO_LABEL if "label" not in cell else ""
    if kind == "labelled":
        return NO_LABEL if cell["label"] in ("", "-") else ""
    if kind == "scored":
        return _score_fault(cell["score"])
    return _gap(kind, cell["text"]) if kind != "pairs" else ""


def _score_fault(score: str) -> str:
    if not score:
        return NO_SCORE
    return "" if number_of(score) is not None else NOT_A_NUMBER.format(score=brief(score))


def _gap(kind: str, text: str) -> str:
    """Return the reason why a text's gap is not read; empty if it is."""
    if slot := TEMPLATE.search(text):
        return IS_TEMPLATE.format(slot=slot[0])
    if GAPS.search(text):
        return GAP
    if kind == "masked":
        n_masks = hide_choices(text).count(MASK)
        return "" if n_masks == 1 else NOT_ONE_MASK.format(n=n_masks)
    choices = find_choices(text)
    return CHOICES.format(choice=brief(text[choices[0].start : choices[0].end])) if choices else ""


def _row(number: int, kind: str, cell: Mapping[str, str]) -> TextRow:
    extra: dict[str, Any] = {
        name: cell.get(name, "") for name in ("answer", "label", "group", "direction")
    }
    if kind == "pairs":
        sentences = (cell["good"], cell["bad"], cell.get("unrelated", ""))
        blank = blank_of(cell.get("context", ""), sentences)
        term = cell.get("term", "")
        return TextRow(number, cell["good"], cell["bad"], **extra, term=term, blank=blank)
    text = f" {SEPARATOR} ".join(filter(None, (cell["text"], cell.get("second"))))
    score = number_of(cell["score"]) if kind == "scored" else None
    if kind == "masked" and (offered := find_choices(text)):
        return TextRow(number, hide_choices(text), **extra, choices=offered[0].alternatives)
    return TextRow(number, text, score=score, **extra)
