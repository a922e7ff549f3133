"""Measurements one at a time: who is running, who waits at which place, and how each is stopped."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from explorer.runs import SLOT
from explorer.timing.stop import Stopped, StopSign

Job = Callable[[StopSign], Iterator[Any]]
LONGEST_LINE = 8
"""Measurements that may wait; the next visitor is asked to come back."""


PAUSE_S = 0.05


class LineIsLong(ValueError):
    """Too many measurements wait already; says so in one sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class Update:
    """How one measurement stands."""

    place: int
    """Measurements before this one; 0 while it runs itself."""
    shot: Any
    """What the job yielded last; None before the first."""
    done: bool


class Measurement:
    """One job in a thread of its own: it waits for its turn, then has the machine alone."""

    def __init__(self, line: "Line", job: Job) -> None:
        self.sign = StopSign()
        self.error: Exception | None = None
        self.shot: Any = None
        self.done = threading.Event()
        self.line, self._job = line, job
        self.thread = threading.Thread(target=self._run, name="measurement", daemon=True)

    def _run(self) -> None:
        try:
            self.line.wait_for_turn(self)
            with self.line.slot():
                for shot in self._job(self.sign):
                    self.shot = shot
        except Stopped:
            pass
        except Exception as error:
            # Raised again in the thread of whoever watches.
            self.error = error
        finally:
            # Texts that waited meanwhile go before the next measurement.
            time.sleep(PAUSE_S)
            self.line.leave(self)
            self.done.set()

    def stop(self) -> None:
        """Ask it to end; it does within one layer of one pass."""
        self.sign.stop()
        self.line.wake()


class Line:
    """First come, first measured."""

    def __init__(self, slot: Callable[[], AbstractContextManager[None]] = SLOT.measure) -> None:
        self.slot = slot
        self._turn = threading.Condition()
        self._waiting: list[Measurement] = []
        self._by_owner: dict[str, Measurement] = {}

    def start(self, job: Job, owner: str = "") -> Measurement:
        """Put a job in the line; an owner's earlier one is stopped.

        Raises:
            LineIsLong: too many wait already.
        """
        self.stop(owner)
        with self._turn:
            if len(self._waiting) > LONGEST_LINE:
                raise LineIsLong("Many measurements are waiting already. Please try again later.")
            measurement = Measurement(self, job)
            self._waiting.append(measurement)
            if owner:
                self._by_owner[owner] = measurement
        measurement.thread.start()
        return measurement

    def stop(self, owner: str) -> None:
        """Stop what an owner has in the line, if anything."""
        measurement = self._by_owner.get(owner)
        if measurement is not None:
            measurement.stop()

    def place(self, measurement: Measurement) -> int:
        """How many are before this one."""
        with self._turn:
            return self._waiting.index(measurement) if measurement in self._waiting else 0

    def wait_for_turn(self, measurement: Measurement) -> None:
        """Until everybody before has left.

        Raises:
            Stopped: it was asked to end before its turn came.
        """
        with self._turn:
            self._turn.wait_for(lambda: measurement.sign.is_up or self._waiting[0] is measurement)
        measurement.sign.check()

    def leave(self, measurement: Measurement) -> None:
        """Make room for the next."""
        with self._turn:
            self._waiting.remove(measurement)
            mine = [o for o, m in self._by_owner.items() if m is measurement]
            for owner in mine:
                del self._by_owner[owner]
            self._turn.notify_all()

    def wake(self) -> None:
        """Let everybody who waits look again."""
        with self._turn:
            self._turn.notify_all()


LINE = Line()


def updates(measurement: Measurement, every_s: float = 0.3) -> Iterator[Update]:
    """How a measurement stands, again and again until it is done; the last one is ``done``.

    Whoever stops reading stops the measurement.

    Raises:
        Exception: whatever the job raised.
    """
    line = measurement.line
    try:
        while not measurement.done.wait(every_s):
            yield Update(line.place(measurement), measurement.shot, done=False)
        if measurement.error is not None:
            raise measurement.error
        yield Update(0, measurement.shot, done=True)
    finally:
        measurement.stop()
