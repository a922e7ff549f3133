"""``python -m benchmarks hostile``: a visitor presses Compare while others attack the page."""

import argparse
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks import start
from benchmarks.attacks import ATTACKS, answered_again, attack
from benchmarks.load import held_by
from benchmarks.questions import VIEW, Question, Visitor, view_event

EVERY_S = 1.0
"""From one press of Compare to the next, where the answer has come by then."""
WARM = 10
MOST_RATIO, MOST_MB, MOST_QUEUE_S = 10.0, 1536, 10.0
"""The goals: p95 over that of the visitor alone, memory, seconds until the queue is gone."""
GIVE_UP_S = 60.0
"""A press that has no answer by then counts as so long."""
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
class Seen:
    """What a visitor met with, and what the process held meanwhile."""

    seconds: list[float] = field(default_factory=list)
    megabytes: int = 0

    def ms(self, share: int) -> float:
        """A percentile of the times."""
        return float(1e3 * np.percentile(self.seconds, share))


def run(chosen: argparse.Namespace) -> int:
    """Print a row for each attack; 1 where a goal is missed."""
    alone, rows = Seen(), {}
    for name in ATTACKS:
        with start.app() as (url, process):
            start.wait_for(url)
            visitor = warm_visitor(url)
            press(visitor, process, alone, chosen.seconds / 4)
            rows[name] = attacked(name, visitor, (url, process), chosen.seconds)
    _print(HEAD)
    _print(_row("none", alone, alone, None))
    for name, (seen, gone_s) in rows.items():
        _print(_row(name, seen, alone, gone_s))
    return 0 if all(is_held(seen, alone, gone_s) for seen, gone_s in rows.values()) else 1


def warm_visitor(url: str) -> Visitor:
    """A visitor whose first presses, which do not count, are over."""
    visitor = Visitor(url, view_event(url))
    for number in range(WARM):
        visitor.ask(Question(VIEW, (f"warm [MASK] number {number}.", "mini")))
    return visitor


def attacked(
    name: str, visitor: Visitor, server: tuple[str, int], seconds: float
) -> tuple[Seen, float]:
    """What a visitor met with during an attack, and how long the queue was full after it."""
    seen, (url, process) = Seen(), server
    with under_attack(name, url, seconds):
        press(visitor, process, seen, seconds)
    gone_s = answered_again(url, GIVE_UP_S)
    seen.megabytes = max(seen.megabytes, held_by(process)[0])
    return seen, gone_s


@contextmanager
def under_attack(name: str, url: str, seconds: float) -> Iterator[None]:
    """Attack from a process of its own, whose work is not in the visitor's times."""
    attacker = get_context("spawn").Process(target=attack, args=(name, url, seconds + 5))
    attacker.start()
    try:
        yield
    finally:
        attacker.terminate()
        attacker.join()


def press(visitor: Visitor, process: int, seen: Seen, seconds: float) -> None:
    """Press Compare every second, each time with another text, and look at the process."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.2):
            seen.megabytes = max(seen.megabytes, held_by(process)[0])

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    end = time.monotonic() + seconds
    while (begun := time.monotonic()) < end:
        seen.seconds.append(seconds_until_answered(visitor, f"the [MASK] sat at {begun:.3f}."))
        time.sleep(max(0.0, begun + EVERY_S - time.monotonic()))
    over.set()
    watcher.join()


def seconds_until_answered(visitor: Visitor, text: str) -> float:
    """From the press to the whole answer; who is turned away presses again."""
    begun = time.perf_counter()
    while (passed := time.perf_counter() - begun) < GIVE_UP_S:
        if not visitor.ask(Question(VIEW, (text, "mini"))).failure:
            return time.perf_counter() - begun
        time.sleep(0.1)
    return passed


def is_held(seen: Seen, alone: Seen, gone_s: float) -> bool:
    """Whether an attack left the visitor, the memory and the queue within the goals."""
    slower = seen.ms(95) / alone.ms(95)
    return slower <= MOST_RATIO and seen.megabytes <= MOST_MB and gone_s <= MOST_QUEUE_S


def _row(name: str, seen: Seen, alone: Seen, gone_s: float | None) -> str:
    slower, gone = seen.ms(95) / alone.ms(95), "" if gone_s is None else f"{gone_s:.1f}"
    return (
        f"| {name} | {len(seen.seconds)} | {seen.ms(50):,.0f} | {seen.ms(95):,.0f} "
        f"| {slower:.1f} | {seen.megabytes:,} | {gone} |\n"
    )


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
