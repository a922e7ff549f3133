"""``python -m benchmarks versus``: cost of one server relative to another, interleaved.

The second can be replaced by bare forward passes of the same texts, in sequence on one thread.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.click import span
from benchmarks.load import bare_seconds, send_all
from benchmarks.questions import KINDS, PageRequest, requests_of_kinds
from explorer.analysis.latency.ratio import paired_ratio

BARE = "bare"


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("versus", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("url", help="the server whose cost is asked for")
    parser.add_argument("over", help=f"the server that it is compared with, or {BARE}")
    parser.add_argument("--kind", nargs="+", choices=sorted({*KINDS}), default=KINDS)
    parser.add_argument("--family", default="mini", help="that is asked about")
    parser.add_argument("--sessions", type=int, default=16)
    parser.add_argument("--requests", type=int, default=3, help="of each session in a round")
    parser.add_argument("--rounds", type=int, default=15)


def run(chosen: argparse.Namespace) -> int:
    """Print the ratios of wall time and of the machine's CPU time; return 1 if anything failed."""
    count, rounds, failed = chosen.sessions * chosen.requests, [], 0
    for number in range(chosen.rounds + 1):
        requests = requests_of_kinds(chosen.kind, count, number * count, chosen.family)
        pair = [one_round(url, requests, chosen.sessions) for url in (chosen.url, chosen.over)]
        failed += sum(failures for *_, failures in pair)
        rounds.append([seconds for *seconds, _ in pair])
    measured = np.array(rounds[1:])  # the first round warms
    for clock, name in enumerate(("wall time", "processor time of the whole machine")):
        first, second = measured[:, 0, clock], measured[:, 1, clock]
        sys.stdout.write(
            f"{name}: {np.median(first):.2f} s over {np.median(second):.2f} s, "
            f"{span(paired_ratio(first, second))} ({len(measured)} rounds of {count} questions)\n"
        )
    sys.stdout.write(f"failed: {failed}\n")
    return 1 if failed else 0


def one_round(url: str, requests: list[PageRequest], sessions: int) -> tuple[float, float, int]:
    """Return the wall seconds, the machine's CPU seconds, and the number of failed answers."""
    before = processor_seconds()
    if url == BARE:
        return bare_seconds(requests), processor_seconds() - before, 0
    answers, wall = send_all(url, requests, sessions)
    failed = sum(bool(answer.failure) for answer in answers)
    return wall, processor_seconds() - before, failed


def processor_seconds() -> float:
    """Return the CPU seconds of the whole machine since boot (``/proc/stat``)."""
    user, nice, system, *_ = Path("/proc/stat").read_text().split()[1:]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")
