"""``python -m benchmarks place``: another word, layer or head of the Layer tab, at full size."""

import argparse
import sys
import time
from statistics import median
from typing import Any

import numpy as np

from benchmarks.served import made_up_text, stand_in_family

GOAL_MS, GOAL_KB, WORDS = 150, 300, 32
PLACES = {
    "word": [{"at": str(at)} for at in (0, 7, 11, 20, 31)],
    "layer": [{"layer": str(layer)} for layer in (1, 4, 6, 9, 11)],
    "head": [{"head": str(head)} for head in (1, 3, 5, 8, 11)],
}


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command."""
    parser = commands.add_parser("place", help=__doc__)
    parser.set_defaults(run=run)


def run(_chosen: argparse.Namespace) -> int:
    """Print the median time and the largest size of each kind of place, with the goals."""
    stand_in_family()
    text = made_up_text(WORDS + 2, np.random.default_rng(0))
    sys.stdout.write(places_report({"text": text, "family": "base"}))
    return 0


def places_report(base: dict[str, str]) -> str:
    """Return a line for each kind of place, beside the text and the family of ``base``."""
    timed(base)  # the run itself
    lines = [f"goals: {GOAL_MS} ms, {GOAL_KB} KB"]
    for what, places in PLACES.items():
        found = [timed(base | place) for place in places]
        ms, kb = median(ms for ms, _ in found), max(kb for _, kb in found)
        lines.append(f"another {what}: {ms:.0f} ms, {kb:.0f} KB")
    return "\n".join(lines) + "\n"


def timed(params: dict[str, str]) -> tuple[float, float]:
    """Return the milliseconds until a place is drawn, and the picture's size in KB."""
    from explorer.ui.layer import tab

    start = time.perf_counter()
    canvas = tab.look({"params": params})
    return 1e3 * (time.perf_counter() - start), len(canvas.encode()) / 1e3
