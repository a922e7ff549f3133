"""Columns that are one thing together: a label each, or the choices of a row."""

import re
from dataclasses import replace

from explorer.lists.roles import LABEL, NAMES, NO_LABELS, RawTable, column

LEAST = 3
"""Columns of zeros and ones next to each other from which on they are labels."""
LEAST_ONE_EACH = 2
"""The same where each row has a 1 in exactly one of them."""
YES, NO = frozenset({"1", "1.0", "true"}), frozenset({"0", "0.0", "false"})
NO_CLASS = re.compile(r"(?:is|has)[_ ].*")
"""Names of columns that are facts about a row."""
LABELS = "labels"
EACH_A_LABEL = "The labels of a row are the columns from “{first}” to “{last}” that hold 1."
OPTION = re.compile(
    r"(?:option|choice|ending|answer|alternative|candidate|sol|solution)[_ ]?[0-9a-e]"
)
GOLD = ("label", "answer", "gold", "correct")
"""Names of the column that says which choice is right."""
CONTEXT = ("premise", "goal", "question", "context", "sentence", "text")
SLOT = re.compile(r"(?<!\S)_(?=[\s.,;:!?’'-]|$)")
"""Gap of WinoGrande."""
COMPARED = (
    "Of “{first}” and “{second}”, the one that “{gold}” names is the good one; each is put {where}."
)
AT_SLOT, BEHIND = "at “_” in “{name}”", "after “{name}”"


def gathered(table: RawTable) -> RawTable:
    """Return a table with a column of the labels, or of the two texts, that it has by parts."""
    return _with_pairs(_with_labels(table))


def _with_labels(table: RawTable) -> RawTable:
    """Return a table with a list of labels where columns say yes or no to each, as Jigsaw's do."""
    lower = [name.strip().lower() for name in table.names]
    is_said = any(LABEL.fullmatch(name) or name in NAMES["label"] for name in lower)
    if is_said or not table.has_header or table.structured:
        return table
    first, last = _longest_run([_says_yes_or_no(table, name) for name in table.names])
    names = table.names[first:last]
    labels = [
        tuple(
            name
            for name, cell in zip(names, row[first:last], strict=True)
            if cell.strip().lower() in YES
        )
        for row in table.cells
    ]
    cells = [(*row, "|".join(held)) for row, held in zip(table.cells, labels, strict=True)]
    lists = dict(table.lists)
    is_one_each = all(len(held) == 1 for held in labels)
    if len(names) < (LEAST_ONE_EACH if is_one_each else LEAST):
        return table
    if not is_one_each:
        lists |= {(number, LABELS): held for number, held in enumerate(labels, 1)}
    note = EACH_A_LABEL.format(first=names[0], last=names[-1])
    return replace(
        table,
        names=(*table.names, LABELS),
        cells=tuple(cells),
        lists=lists,
        note=note,
        made={LABELS: names},
    )


def _says_yes_or_no(table: RawTable, name: str) -> bool:
    lower = name.strip().lower()
    if NO_LABELS.fullmatch(lower) or NO_CLASS.fullmatch(lower):
        return False
    cells = {cell.lower() for cell in column(table, name)}
    return bool(cells) and cells <= YES | NO


def _longest_run(flags: list[bool]) -> tuple[int, int]:
    """Return the ends of the longest run of true values, the second one behind it."""
    best, begins = (0, 0), 0
    for place, flag in enumerate([*flags, False]):
        if not flag:
            best = max(best, (begins, place), key=lambda ends: ends[1] - ends[0])
            begins = place + 1
    return best


def n_choices(table: RawTable) -> int:
    """Return how many choices each row offers, of which one is right; 0 where it offers none."""
    if not _gold(table):
        return 0
    n_options = len(_options(table))
    lengths = {
        name: {len(values) for (_, held), values in table.lists.items() if held == name}
        for name in {name for _, name in table.lists} - {LABELS}
    }
    alike = [n for name, (n, *more) in lengths.items() if not more and _is_full(table, name)]
    return n_options if n_options > 1 else next((n for n in alike if n > 1), 0)


def _is_full(table: RawTable, name: str) -> bool:
    """Return whether each row has a list of texts in a column."""
    lists = [values for (_, held), values in table.lists.items() if held == name]
    words = [" " in text for values in lists for text in values]
    return len(lists) == len(table.cells) and sum(words) > len(words) / 2


def _options(table: RawTable) -> list[str]:
    return [name for name in table.names if OPTION.fullmatch(name.strip().lower())]


def _gold(table: RawTable) -> str:
    """Return the column of the numbers of the right choices; empty if there is none."""
    lower = {name.strip().lower(): name for name in table.names}
    named = (lower[name] for name in GOLD if name in lower)
    return next((name for name in named if all(map(str.isdigit, column(table, name)))), "")


def _with_pairs(table: RawTable) -> RawTable:
    """Return a table of pairs where each row has two choices, as COPA's and WinoGrande's do.

    Choices are counted from 0 or from 1; where no row says which, the table stays as it is.
    """
    options, gold = _options(table), _gold(table)
    lower = {name.strip().lower(): name for name in table.names}
    context = next((lower[name] for name in CONTEXT if name in lower), "")
    numbers = {*column(table, gold)}
    base = 0 if "0" in numbers else 1
    if len(options) != 2 or not (numbers and context):
        return table
    if not numbers <= {str(base), str(base + 1)} or numbers == {"1"}:
        return table
    has_slot = all(len(SLOT.findall(text)) == 1 for text in column(table, context))
    kept = [name for name in table.names if name not in (*options, gold, context)]
    cells = []
    for row in table.cells:
        cell = dict(zip(table.names, row, strict=True))
        right = int(cell[gold]) - base
        texts = [_filled(cell[context], cell[option], has_slot) for option in options]
        cells.append((texts[right], texts[1 - right], *(cell[name] for name in kept)))
    where = (AT_SLOT if has_slot else BEHIND).format(name=context)
    note = COMPARED.format(first=options[0], second=options[1], gold=gold, where=where)
    names = ("good", "bad", *kept)
    return replace(table, names=names, cells=tuple(cells), note=note)


def _filled(context: str, option: str, has_slot: bool) -> str:
    return SLOT.sub(lambda _: option, context) if has_slot else f"{context} {option}"
