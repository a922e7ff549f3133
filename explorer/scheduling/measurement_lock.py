"""Lock that admits many inferences at once, or one measurement alone."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from explorer.refusal import Refusal, Sentence

MAX_OPEN_S = 1.0
"""Longest time, in seconds, for which a measurement pauses at once for waiting visitors."""

MAX_REST_S = 0.3
"""Longest time, in seconds, for which a pass of long work stands back for visitors.

So long work advances by a pass in this time however many visitors there are.
"""
CHECK_EVERY_S = 0.2
"""Seconds between two looks of a measurement that waits, at whether its time is over."""
RECENT_S = 30.0
"""Seconds after a visitor's question in which another one is likely."""
_is_answer: ContextVar[bool] = ContextVar("is_answer", default=False)
"""True for all that a visitor's question calls: it never stands back for itself."""


class CannotMeasure(Refusal):
    """Refusal of a measurement in this process; the message gives the reason."""


class MeasurementLock:
    """Lock shared by inferences and exclusive to a measurement, which blocks new inferences."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._running = 0
        self._measuring = False
        self._is_paused = False
        """True while the measurement is paused for visitors, or prepares what it times."""
        self._measurer = 0
        self._visitors = 0
        self._turn_ended = threading.Condition()
        self._turns, self._waiting = 0, {False: 0, True: 0}
        """Long passes of lists that run, and that wait for pages and for programs."""
        self._visited_at = float("-inf")
        self._refusal: Sentence | None = None
        self.yielded_s = 0.0
        """Total seconds for which measurements have been paused for visitors."""

    def refuse_all(self, reason: Sentence) -> None:
        """Refuse all measurements from now on, for this reason."""
        self._refusal = reason

    @property
    def is_measuring(self) -> bool:
        """The flag of a measurement that runs, or waits for the last inferences to end."""
        return self._measuring

    def is_timing(self) -> bool:
        """Return whether a measurement has the machine to itself now."""
        return self._measuring and not self._is_paused

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
        """Release the share held by ``infer`` during the ``with`` block, then take it again."""
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
    def measure(self, check: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Hold while timing: no inference runs meanwhile.

        Args:
            check: Called now and then while the lock is waited for; what it raises ends the wait.

        Raises:
            CannotMeasure: nothing is measured here.
        """
        if self._refusal:
            raise CannotMeasure(self._refusal)
        with self._condition:
            self._wait(lambda: not self._measuring, check)
            self._measuring, self._measurer = True, threading.get_ident()
        try:
            with self._condition:
                self._wait(lambda: self._running == 0, check)
            yield
        finally:
            with self._condition:
                self._measuring, self._measurer = False, 0
                self._condition.notify_all()

    def _wait(self, is_free: Callable[[], bool], check: Callable[[], None]) -> None:
        while not self._condition.wait_for(is_free, CHECK_EVERY_S):
            check()

    def visitor_waits(self) -> None:
        """Count a visitor of the page who waits for a single forward pass."""
        with self._condition:
            self._visitors += 1

    def visitor_done(self) -> None:
        """Count down after a visitor's single pass is done."""
        with self._condition:
            self._visitors -= 1
            self._condition.notify_all()

    @property
    def is_visited(self) -> bool:
        """The flag of a visitor's question that came, or was answered, a moment ago."""
        return time.monotonic() - self._visited_at < RECENT_S

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Hold from a visitor's question to its answer: what is prepared and drawn counts too."""
        token, self._visited_at = _is_answer.set(True), time.monotonic()
        try:
            with self.visitor_pass(by_visitor=True):
                yield
        finally:
            self._visited_at = time.monotonic()
            _is_answer.reset(token)

    def stand_back(self) -> None:
        """Let long work wait before a pass until no visitor waits, or for ``MAX_REST_S``."""
        if self._visitors and not _is_answer.get():
            with self._condition:
                self._condition.wait_for(lambda: not self._visitors, MAX_REST_S)

    @contextmanager
    def turn(self, by_program: bool, check: Callable[[], None]) -> Iterator[None]:
        """Hold during a long pass of a list: while visitors ask, one of them runs at a time.

        So a visitor finds free workers, and waits for the rest of one pass at most. Pages' lists go
        before those of programs.

        Args:
            by_program: Whether a program asked about the list.
            check: Called now and then while the pass waits; what it raises ends the wait.
        """

        def is_mine() -> bool:
            goes_first = not (by_program and self._waiting[False])
            return not self.is_visited or (not self._turns and goes_first)

        with self._turn_ended:
            self._waiting[by_program] += 1
            try:
                while not self._turn_ended.wait_for(is_mine, MAX_REST_S):
                    check()
            finally:
                self._waiting[by_program] -= 1
            self._turns += 1
        try:
            yield
        finally:
            with self._turn_ended:
                self._turns -= 1
                self._turn_ended.notify_all()

    @contextmanager
    def visitor_pass(self, by_visitor: bool) -> Iterator[None]:
        """Hold while a visitor waits and is served; does nothing for a program."""
        if by_visitor:
            self.visitor_waits()
        try:
            yield
        finally:
            if by_visitor:
                self.visitor_done()

    def yield_to_visitors(self) -> bool:
        """Pause the caller's measurement for waiting visitors; return whether any waited."""
        if not self._visitors or self._measurer != threading.get_ident():
            return False
        begun = time.perf_counter()
        with self._condition:
            self._is_paused = True
            self._condition.notify_all()
            self._condition.wait_for(lambda: not self._visitors, MAX_OPEN_S)
            self._is_paused = False
            self._condition.wait_for(lambda: self._running == 0)
        self.yielded_s += time.perf_counter() - begun
        return True

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let inferences run while the caller's measurement prepares what it times.

        Does nothing for a caller that measures nothing.
        """
        if self._measurer != threading.get_ident():
            yield
            return
        with self._condition:
            self._is_paused = True
            self._condition.notify_all()
        try:
            yield
        finally:
            with self._condition:
                self._is_paused = False
                self._condition.wait_for(lambda: self._running == 0)

    def _may_infer(self) -> bool:
        return self._is_paused or not self._measuring


MEASUREMENT_LOCK = MeasurementLock()
"""The measurement lock of this machine."""
