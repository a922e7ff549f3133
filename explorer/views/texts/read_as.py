"""Sentence on how a list was read: on the page, in a shell, and in a result."""

from collections.abc import Sequence

from explorer.analysis.digits import counted, enumerated
from explorer.analysis.texts.rows import TextList

NOUNS = {
    "masked": "masked row",
    "plain": "sentence",
    "pairs": "pair",
    "labelled": "labelled text",
}
"""A row of each kind."""
LABELLED_PAIR = "labelled pair"
ROLES = {
    "text": "text",
    "second": "second text",
    "answer": "answer",
    "label": "label",
    "group": "group",
}
PAIR = "“{good}” is compared with “{bad}”"
MOST_NAMED = 5
READ_AS = "{rows}{header}: {columns}.{unused}"
NO_HEADER = ", no header"
ONE_COLUMN = "“{name}” {verb} {role}{values}"
UNUSED = " Not used: {names}."
MORE = "{n} more"


def read_as(texts: TextList) -> str:
    """Return how a list was read: its kind, the column of each role, and the columns not used.

    Example: 1,043 labelled texts, no header: “column 4” is the text and “column 2” the label
    (0, 1). Not used: “column 1” and “column 3”.
    """
    noun = LABELLED_PAIR if "second" in texts.columns else NOUNS[texts.kind]
    is_pair = texts.kind == "pairs"
    columns = [PAIR.format(**texts.columns)] if is_pair else []
    for role, name in texts.columns.items():
        if role in ROLES:
            verb = "the" if columns and not is_pair else "is the"
            values = _labels(texts) * (role == "label")
            columns.append(ONE_COLUMN.format(name=name, verb=verb, role=ROLES[role], values=values))
    return READ_AS.format(
        rows=counted(len(texts.rows), noun),
        header="" if texts.has_header else NO_HEADER,
        columns=enumerated(columns),
        unused=UNUSED.format(names=_named(texts.unused)) if texts.unused else "",
    )


def _labels(texts: TextList) -> str:
    labels = sorted({row.label for row in texts.rows})
    return f" ({', '.join(_first(labels))})"


def _named(names: Sequence[str]) -> str:
    return enumerated(_first([f"“{name}”" for name in names]))


def _first(names: Sequence[str]) -> list[str]:
    """Return the first names, and how many more there are."""
    more = len(names) - MOST_NAMED
    return [*names[:MOST_NAMED], MORE.format(n=more)] if more > 1 else [*names]
