"""StopSign: how a long computation is asked to end, by a reader or by the clock."""

import threading
import time
from collections.abc import Callable


class Cancelled(Exception):
    """Raised inside a computation that was asked to end; ``reason`` is one of ``REASONS``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


REASONS = ("stopped", "deadline", "left")


class CancelToken:
    """Looked at before every step of a long computation, from whatever thread it runs in."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asked = threading.Event()
        self._deadline = float("inf")

    def begin(self) -> None:
        """The computation begins, in the calling thread."""

    def stop(self) -> None:
        """Ask for the end: the next ``check`` raises."""
        self._asked.set()

    def set_deadline(self, seconds: float) -> None:
        """Let the computation run this much longer, whatever was allowed before."""
        self._deadline = self._clock() + seconds

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked for the end (a passed deadline does not count)."""
        return self._asked.is_set()

    def check(self) -> None:
        """Go on, or raise.

        Raises:
            Stopped: somebody asked for the end, or the time allowed is over.
        """
        if self._asked.is_set():
            raise Cancelled("stopped")
        if self._clock() > self._deadline:
            raise Cancelled("deadline")
