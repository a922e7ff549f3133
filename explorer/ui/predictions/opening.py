"""The start example's headline, precomputed, so that the page shows it while torch is loading.

``python -m explorer.ui.predictions.opening`` recomputes it; a test compares it with the
bundled weights.
"""

import json
from typing import Any

from explorer.assets import DATA, read_in
from explorer.links.page_state import PageState
from explorer.ui.predictions import tab as predictions

OPENING = DATA / "opening.json"


def show_opening(start: PageState, headline: list[Any]) -> None:
    """Put the stored example into the headline if ``start`` would compute the same."""
    if _decides(start) != _decides(PageState()):
        return
    with read_in(OPENING):
        values = json.loads(OPENING.read_text("utf-8"))
        for component, value in zip(headline, values, strict=True):
            component.value = format(value, "s")


def compute_opening() -> list[str]:
    """Compute the headline of the default state with the bundled models."""
    return [str(value) for value in predictions.show(PageState())]


def _decides(state: PageState) -> tuple[str, str, str]:
    return state.text, state.family, state.dtype


if __name__ == "__main__":
    OPENING.write_text(json.dumps(compute_opening(), ensure_ascii=False, indent=1) + "\n", "utf-8")
