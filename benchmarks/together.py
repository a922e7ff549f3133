"""``python -m benchmarks together``: concurrent texts in shared passes, or in one pass each."""

import argparse
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.click import measured, over_first, span
from benchmarks.served import made_up_text, stand_in_family
from explorer.analysis.latency.measure import TimedCall
from explorer.inference import runs, worker_queues
from explorer.links.page_state import PageState
from explorer.models.specs import BASE

LENGTHS = (10, 43)
"""Tokens of a text: lower bound, and exclusive upper bound."""
GOALS = {"wall": "at most 0.77 for 8 and 16 (1.3 times the throughput)", "cpu": "at most 0.82"}


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("together", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--texts", type=int, nargs="+", default=[1, 8, 16], help="at once")
    parser.add_argument("--clock", choices=list(GOALS), default="wall")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds per measurement")


def run(chosen: argparse.Namespace) -> int:
    """Print the time of shared passes over that of single ones, for each number of texts."""
    stand_in_family()
    words = np.random.default_rng(1)
    for count in chosen.texts:
        modes = (("alone", 1), ("together", worker_queues.MAX_ROWS))
        calls = [TimedCall(name, asking(count, words, most)) for name, most in modes]
        latency = measured(calls, chosen)
        alone, shared = 1e3 * np.median(latency.seconds, axis=0)
        sys.stdout.write(
            f"{count} texts at once: {shared:.0f} ms together, {alone:.0f} ms each alone; "
            f"{span(over_first(latency))} ({chosen.clock} clock, {latency.n_rounds} rounds; goal: "
            f"{GOALS[chosen.clock] if count > 1 else 'at most 1.02'})\n"
        )
        sys.stdout.flush()
    return 0


def asking(count: int, words: np.random.Generator, most: int) -> Callable[[], None]:
    """Return a call that runs texts never seen before, of the same lengths every time."""
    lengths = np.random.default_rng(1).integers(*LENGTHS, count).tolist()
    return lambda: ask([made_up_text(n, words) for n in lengths], most)


def ask(texts: list[str], most: int) -> None:
    """Run texts through all three networks, with at most ``most`` of them in one pass."""
    before, worker_queues.MAX_ROWS = worker_queues.MAX_ROWS, most
    try:
        states = [PageState(text=text, family="base", device="cpu") for text in texts]
        futures = [runs.start_run(spec, state.ask) for state in states for spec in BASE.values()]
        for future in futures:
            future.result()
    finally:
        worker_queues.MAX_ROWS = before
