"""CancelToken: cancels a long computation, at a reader's request or at a deadline."""

import threading
import time
from collections.abc import Callable


class Cancelled(Exception):
    """Error raised inside a cancelled computation; ``reason`` is one of ``REASONS``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


REASONS = ("stopped", "deadline", "left")


class CancelToken:
    """Token that a long computation checks before every step; safe to use from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stopped = threading.Event()
        self._deadline = self._end = float("inf")
        self.stage = ""
        """The current step of the computation, for the sentence on an end without a result."""

    def begin(self) -> None:
        """Note that the computation begins, in the calling thread; subclasses override it."""

    def stop(self) -> None:
        """Cancel the computation: the next ``check`` raises."""
        self._stopped.set()

    def set_deadline(self, seconds: float) -> None:
        """Set the deadline to this many seconds from now, replacing any earlier one."""
        self._deadline = self._clock() + seconds

    def end_within(self, seconds: float) -> None:
        """Set the end to this many seconds from now; no deadline set later goes beyond it."""
        self._end = self._clock() + seconds

    @property
    def left_s(self) -> float:
        """The seconds until the end that ``end_within`` has set; infinite without one."""
        return max(0.0, self._end - self._clock())

    @property
    def cancelled(self) -> bool:
        """The cancel flag: true after ``stop`` (a passed deadline does not count)."""
        return self._stopped.is_set()

    def check(self) -> None:
        """Raise if the computation was cancelled or its deadline has passed.

        Raises:
            Cancelled: ``stop`` was called, or the deadline or the end has passed.
        """
        if self._stopped.is_set():
            raise Cancelled("stopped")
        if self._clock() > min(self._deadline, self._end):
            raise Cancelled("deadline")
