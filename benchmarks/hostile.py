"""``python -m benchmarks hostile``: a visitor presses Compare while others attack the page."""

import argparse
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from benchmarks import start
from benchmarks.attacks import ATTACKS, CUT_BY_PROXY, LISTS, answered_again, attack
from benchmarks.load import held_by
from benchmarks.proxy import behind_nginx, check_nginx
from benchmarks.questions import VIEW, PageRequest, Visitor, view_event

EVERY_S = 1.0
"""Shortest time from one press of Compare to the next."""
WARM = 10
MAX_RATIO, MAX_MB, MAX_QUEUE_S = 10.0, 1536, 10.0
"""The goals: p95 over that of the visitor alone, memory, seconds until the queue is empty."""
MAX_RATIOS = {LISTS: 3.0}
"""The goals of attacks that are honest work."""
BEHIND = " (behind nginx)"
GIVE_UP_S = 60.0
"""Time that a press without an answer counts as."""
HEAD = (
    "| attack | presses | p50 ms | p95 ms | p95 over alone | most MB | queue gone after s |\n"
    "|---|---|---|---|---|---|---|\n"
)


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("hostile", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each attack")


@dataclass(slots=True)
class VisitorTimes:
    """Response times of a visitor, and the server's largest memory meanwhile."""

    seconds: list[float] = field(default_factory=list)
    megabytes: int = 0

    def ms(self, share: int) -> float:
        """Return a percentile of the times, in milliseconds."""
        return float(1e3 * np.percentile(self.seconds, share))


def run(chosen: argparse.Namespace) -> int:
    """Print a row for each attack; return 1 if a goal is missed.

    Raises:
        Refusal: nginx is not installed.
    """
    check_nginx()
    alone, rows = VisitorTimes(), {}
    for name in ATTACKS:
        with server_for(name) as (url, process):
            visitor = warm_visitor(url)
            press(visitor, process, alone, chosen.seconds / 4)
            rows[name] = times_under_attack(name, visitor, url, process, chosen.seconds)
    _print(HEAD)
    _print(_row("none", alone, alone, None))
    for name, (seen, gone_s) in rows.items():
        _print(_row(name, seen, alone, gone_s))
    met = [
        meets_goals(seen, alone, gone_s, MAX_RATIOS.get(name, MAX_RATIO))
        for name, (seen, gone_s) in rows.items()
    ]
    return 0 if all(met) else 1


@contextmanager
def server_for(attack_name: str) -> Iterator[tuple[str, int]]:
    """Start the page, behind nginx if a proxy has to cut the attack; yield its URL and process.

    Raises:
        Refusal: nginx is not installed.
    """
    with start.app() as (url, process), ExitStack() as stack:
        start.wait_for(url)
        if attack_name in CUT_BY_PROXY:
            folder = Path(stack.enter_context(TemporaryDirectory()))
            url = stack.enter_context(behind_nginx([urlsplit(url).port or 80], folder))
        yield url, process


def warm_visitor(url: str) -> Visitor:
    """Return a visitor after warm-up presses, which do not count."""
    visitor = Visitor(url, view_event(url))
    for number in range(WARM):
        visitor.send(PageRequest(VIEW, (f"warm [MASK] number {number}.", "mini")))
    return visitor


def times_under_attack(
    name: str, visitor: Visitor, url: str, process: int, seconds: float
) -> tuple[VisitorTimes, float]:
    """Measure a visitor during an attack, and the seconds until the queue is empty after it."""
    seen = VisitorTimes()
    with under_attack(name, url, seconds):
        press(visitor, process, seen, seconds)
    gone_s = answered_again(url, GIVE_UP_S)
    seen.megabytes = max(seen.megabytes, held_by(process)[0])
    return seen, gone_s


@contextmanager
def under_attack(name: str, url: str, seconds: float) -> Iterator[None]:
    """Attack from another process, so that its work is not in the visitor's times."""
    attacker = get_context("spawn").Process(target=attack, args=(name, url, seconds + 5))
    attacker.start()
    try:
        yield
    finally:
        attacker.terminate()
        attacker.join()


def press(visitor: Visitor, process: int, times: VisitorTimes, seconds: float) -> None:
    """Press Compare every second, each time with another text, and watch the process's memory."""
    stopped = threading.Event()

    def look() -> None:
        while not stopped.wait(0.2):
            times.megabytes = max(times.megabytes, held_by(process)[0])

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    end = time.monotonic() + seconds
    while (started := time.monotonic()) < end:
        times.seconds.append(seconds_until_answered(visitor, f"the [MASK] sat at {started:.3f}."))
        time.sleep(max(0.0, started + EVERY_S - time.monotonic()))
    stopped.set()
    watcher.join()


def seconds_until_answered(visitor: Visitor, text: str) -> float:
    """Return the seconds from the press to the whole answer; refused presses are repeated."""
    started = time.perf_counter()
    while (elapsed := time.perf_counter() - started) < GIVE_UP_S:
        if not visitor.send(PageRequest(VIEW, (text, "mini"))).failure:
            return time.perf_counter() - started
        time.sleep(0.1)
    return elapsed


def meets_goals(
    times: VisitorTimes, alone: VisitorTimes, gone_s: float, max_ratio: float = MAX_RATIO
) -> bool:
    """Return whether an attack left the visitor, the memory and the queue within the goals."""
    ratio = times.ms(95) / alone.ms(95)
    return ratio <= max_ratio and times.megabytes <= MAX_MB and gone_s <= MAX_QUEUE_S


def _row(name: str, times: VisitorTimes, alone: VisitorTimes, gone_s: float | None) -> str:
    ratio, gone_text = times.ms(95) / alone.ms(95), "" if gone_s is None else f"{gone_s:.1f}"
    name += BEHIND if name in CUT_BY_PROXY else ""
    return (
        f"| {name} | {len(times.seconds)} | {times.ms(50):,.0f} | {times.ms(95):,.0f} "
        f"| {ratio:.1f} | {times.megabytes:,} | {gone_text} |\n"
    )


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
