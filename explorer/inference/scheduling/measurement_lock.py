"""The slot: many inferences at once, or one measurement that nobody disturbs."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from explorer.refusal import Refusal

MOST_OPEN_S = 1.0
"""How long a measurement gives way at once, however many come: then it goes on."""


class CannotMeasure(Refusal):
    """Nothing is timed here; the message is the reason, in a sentence."""


class MeasurementLock:
    """Many inferences at once, or one measurement alone: it waits, then shuts the door."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._running = 0
        self._measuring = False
        self._open = False
        """Whether the measurement gives way just now."""
        self._measurer = 0
        self._visitors = 0
        self._shut = ""
        self.yielded_s = 0.0
        """Seconds, ever growing, for which measurements gave way."""

    def refuse_all(self, reason: str) -> None:
        """From now on nothing is measured, for this reason: the work is done elsewhere."""
        self._shut = reason

    @property
    def is_measuring(self) -> bool:
        """Whether a measurement has the machine to itself, or is about to."""
        return self._measuring

    @contextmanager
    def infer(self) -> Iterator[None]:
        """Hold while a model runs for a visitor."""
        with self._condition:
            self._condition.wait_for(self._may_infer)
            self._running += 1
        try:
            yield
        finally:
            with self._condition:
                self._running -= 1
                self._condition.notify_all()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Let go meanwhile of what ``infer`` holds."""
        with self._condition:
            self._running -= 1
            self._condition.notify_all()
        try:
            yield
        finally:
            with self._condition:
                self._condition.wait_for(self._may_infer)
                self._running += 1

    @contextmanager
    def measure(self) -> Iterator[None]:
        """Hold while timing: no inference runs meanwhile.

        Raises:
            CannotMeasure: nothing is measured here.
        """
        if self._shut:
            raise CannotMeasure(self._shut)
        with self._condition:
            self._condition.wait_for(lambda: not self._measuring)
            self._measuring, self._measurer = True, threading.get_ident()
            self._condition.wait_for(lambda: self._running == 0)
        try:
            yield
        finally:
            with self._condition:
                self._measuring, self._measurer = False, 0
                self._condition.notify_all()

    def visitor_waits(self) -> None:
        """A visitor of the page waits for a single pass."""
        with self._condition:
            self._visitors += 1

    def visitor_done(self) -> None:
        """The visitor has had it."""
        with self._condition:
            self._visitors -= 1
            self._condition.notify_all()

    @contextmanager
    def visitor_pass(self, by_visitor: bool) -> Iterator[None]:
        """Hold while a visitor waits and is served; nothing where it is none."""
        if by_visitor:
            self.visitor_waits()
        try:
            yield
        finally:
            if by_visitor:
                self.visitor_done()

    def yield_to_visitors(self) -> bool:
        """Let visitors who wait go first, in the middle of the caller's measurement; if any do."""
        if not self._visitors or self._measurer != threading.get_ident():
            return False
        begun = time.perf_counter()
        with self._condition:
            self._open = True
            self._condition.notify_all()
            self._condition.wait_for(lambda: not self._visitors, MOST_OPEN_S)
            self._open = False
            self._condition.wait_for(lambda: self._running == 0)
        self.yielded_s += time.perf_counter() - begun
        return True

    def _may_infer(self) -> bool:
        return self._open or not self._measuring


MEASUREMENT_LOCK = MeasurementLock()
"""The machine's only one."""
