"""Priority queues for the workers: visitors' texts, programs' texts, passes of long work."""

from collections import deque
from collections.abc import Callable, Iterator
from threading import Lock

Work = Callable[[], None]
VISITOR, PROGRAM, LONG, LONG_FOR_PROGRAM = range(4)
"""The priorities: single passes of visitors and of programs, and the long work of each."""


def priority_of(program: str, is_long: bool) -> int:
    """Return the priority of work; ``program`` is a program's address, empty for a visitor."""
    return 2 * is_long + bool(program)


class PriorityQueues:
    """First-in, first-out queues, one per priority; a visitor's single pass always goes first."""

    def __init__(self) -> None:
        self._queues: list[deque[Work]] = [deque() for _ in range(4)]
        self._lock = Lock()
        self._long_first = False

    def add(self, priority: int, work: Work) -> None:
        """Add work to the queue of its priority."""
        self._queues[priority].append(work)

    def next(self) -> Work | None:
        """Return the next work for a free worker, or None.

        After visitors' texts, programs' texts and visitors' long work take turns.
        """
        with self._lock:
            self._long_first = not self._long_first
            second = (LONG, PROGRAM) if self._long_first else (PROGRAM, LONG)
            order = (VISITOR, *second, LONG_FOR_PROGRAM)
            return next((self._queues[i].popleft() for i in order if self._queues[i]), None)

    def before(self, priority: int) -> Iterator[Work]:
        """Yield the work to do between two passes of long work of a priority.

        It is all visitors' texts, and one item of each queue with a higher priority.
        """
        for earlier in range(PROGRAM, priority):
            yield from self._visitors()
            if work := self._pop(earlier):
                yield work
        yield from self._visitors()

    def _visitors(self) -> Iterator[Work]:
        while work := self._pop(VISITOR):
            yield work

    def _pop(self, priority: int) -> Work | None:
        with self._lock:
            return self._queues[priority].popleft() if self._queues[priority] else None

    def waiting(self, priority: int) -> int:
        """Return how many items wait with a priority."""
        return len(self._queues[priority])
