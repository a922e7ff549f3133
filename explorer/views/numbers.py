"""The numbers behind what Python draws, unrounded: what the menu below it saves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from explorer.views.markup import script_json

NOT_RUN: Mapping[str, object] = dict.fromkeys(("text", "device", "dtype"))
"""What the file says of numbers that the text has no part in."""
NO_RUN: Mapping[str, object] = {**NOT_RUN, "family": None, "models": None}
"""The same where the weights have no part in them either."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """Rows under named columns, as every picture of the page has them."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    said: Mapping[str, object] = field(default_factory=dict)
    """What their file says instead of what the page knows; a None takes a line away, a True
    leaves it there also on a tab that reads no text."""
    constants: Mapping[str, object] = field(default_factory=dict)
    """What their lines of Python need besides the text and the models."""

    @property
    def json(self) -> str:
        """All of it for the browser; what is no number there is empty."""
        rows = [[_plain(cell) for cell in row] for row in self.rows]
        document = {"columns": self.columns, "rows": rows}
        return script_json(document | {"said": self.said, "constants": self.constants})


def _plain(cell: object) -> object:
    value = cell.item() if hasattr(cell, "item") else cell
    return None if isinstance(value, float) and not isfinite(value) else value
