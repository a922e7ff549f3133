"""Columns whose cells hold several labels: lists of a file, or labels that a sign divides."""

from collections.abc import Sequence
from dataclasses import replace

from explorer.lists.roles import MAX_CLASSES, RawTable, column

MANY = 0.1
"""Share of rows with several labels from which on a list is one of several labels a row."""
SIGNS = "|;,"
"""Signs that divide the labels of a cell."""
DIVIDED = "Labels in “{name}” are divided at each “{sign}”."


def has_several(table: RawTable, name: str) -> bool:
    """Return whether more than a few rows of a column have several values.

    Columns of zeros and ones do unless each row has exactly one label.
    """
    if name in table.made:
        return any(held == name for _, held in table.lists)
    n = sum(column == name and len(values) > 1 for (_, column), values in table.lists.items())
    return bool(name) and n > MANY * len(table.cells)


def divided(table: RawTable, name: str) -> RawTable:
    """Return a table in which the cells of a column are lists, where a sign divides its labels.

    It does if more than a tenth of the rows have it, the parts are at most 20, and they are fewer
    than the different cells: so "Toys, games" is one label, and "joy,anger" next to "joy" and
    "anger" is two.
    """
    cells = column(table, name)
    if not cells or any(held == name for _, held in table.lists):
        return table
    sign = next((sign for sign in SIGNS if _divides(cells, sign)), "")
    if not sign:
        return table
    lists = dict(table.lists) | {
        (number, name): parts_of(cell, sign) for number, cell in enumerate(cells, 1) if cell
    }
    note = " ".join(filter(None, (table.note, DIVIDED.format(name=name, sign=sign))))
    return replace(table, lists=lists, note=note)


def parts_of(cell: str, sign: str) -> tuple[str, ...]:
    """Return the labels of a cell, without spaces around them and empty ones."""
    return tuple(filter(None, map(str.strip, cell.split(sign))))


def _divides(cells: Sequence[str], sign: str) -> bool:
    different = {cell for cell in cells if cell}
    parts = {part for cell in different for part in parts_of(cell, sign)}
    n_several = sum(len(parts_of(cell, sign)) > 1 for cell in cells)
    is_few = len(parts) <= MAX_CLASSES and len(parts) < len(different)
    return n_several > MANY * len(cells) and is_few
