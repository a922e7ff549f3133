"""The slot: many inferences at once, or one measurement that nobody disturbs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class CannotMeasure(ValueError):
    """Nothing is timed here; the message is the reason, in a sentence."""


class Slot:
    """Many inferences at once, or one measurement alone: it waits, then shuts the door."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._running = 0
        self._measuring = False
        self._shut = ""

    def shut(self, reason: str) -> None:
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
            self._condition.wait_for(lambda: not self._measuring)
            self._running += 1
        try:
            yield
        finally:
            with self._condition:
                self._running -= 1
                self._condition.notify_all()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let go meanwhile of what ``infer`` holds."""
        with self._condition:
            self._running -= 1
            self._condition.notify_all()
        try:
            yield
        finally:
            with self._condition:
                self._condition.wait_for(lambda: not self._measuring)
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
            self._measuring = True
            self._condition.wait_for(lambda: self._running == 0)
        try:
            yield
        finally:
            with self._condition:
                self._measuring = False
                self._condition.notify_all()


SLOT = Slot()
"""The machine's only one."""
