"""The start example's headline, precomputed, so that the page shows it while torch is loading.

``python -m explorer.ui.predictions.opening`` recomputes it; a test compares it with the
bundled weights.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from explorer.assets import DATA, read_in
from explorer.links.page_state import PageState
from explorer.ui.kit.asked import with_runs
from explorer.ui.predictions import tab as predictions
from explorer.views.markup import Markup

OPENING = DATA / "opening.json"


def show_opening(start: PageState, headline: list[Any]) -> None:
    """Put the stored example into the headline if ``start`` would compute the same."""
    for component, value in zip(headline, opening_values(start) or (), strict=False):
        component.value = str(value)


def opening_values(state: PageState) -> list[object] | None:
    """Return the stored values of the headline; None for a state that may have others."""
    if _decides(state) != _decides(PageState()):
        return None
    finding, canvas = _stored(OPENING)
    return [Markup(finding), canvas]


@cache
def _stored(path: Path) -> list[str]:
    with read_in(path):
        finding, canvas = json.loads(path.read_text("utf-8"))
        return [str(finding), str(canvas)]


def compute_opening() -> list[str]:
    """Compute the headline of the default state with the bundled models."""
    return [str(value) for value in with_runs(predictions.show)(PageState())]


def _decides(state: PageState) -> tuple[str, ...]:
    return state.text, state.family, state.dtype, state.hidden, state.tab


if __name__ == "__main__":
    OPENING.write_text(json.dumps(compute_opening(), ensure_ascii=False, indent=1) + "\n", "utf-8")
