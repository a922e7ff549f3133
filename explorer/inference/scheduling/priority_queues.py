"""Who goes first where workers are few: a visitor's text, a program's text, parts of long work."""

from collections import deque
from collections.abc import Callable, Iterator
from threading import Lock

Work = Callable[[], None]
VISITOR, PROGRAM, LONG, LONG_FOR_PROGRAM = range(4)
"""The lanes: single passes of visitors and of programs, and the long work of each."""


def priority_of(program: str, is_long: bool) -> int:
    """The lane of work that a program asked for, or a visitor where no program did."""
    return 2 * is_long + bool(program)


class PriorityQueues:
    """First come, first served in each lane; nothing goes before a visitor's single pass."""

    def __init__(self) -> None:
        self._lanes: list[deque[Work]] = [deque() for _ in range(4)]
        self._choosing = Lock()
        self._long_first = False

    def add(self, lane: int, work: Work) -> None:
        """Wait in a lane."""
        self._lanes[lane].append(work)

    def next(self) -> Work | None:
        """What a free worker does: of programs' texts and visitors' long work each its turn."""
        with self._choosing:
            self._long_first = not self._long_first
            second = (LONG, PROGRAM) if self._long_first else (PROGRAM, LONG)
            order = (VISITOR, *second, LONG_FOR_PROGRAM)
            return next((self._lanes[n].popleft() for n in order if self._lanes[n]), None)

    def before(self, lane: int) -> Iterator[Work]:
        """What goes between two parts of long work: all visitors' texts, and one of each lane."""
        for earlier in range(PROGRAM, lane):
            yield from self._visitors()
            if work := self._pop(earlier):
                yield work
        yield from self._visitors()

    def _visitors(self) -> Iterator[Work]:
        while work := self._pop(VISITOR):
            yield work

    def _pop(self, lane: int) -> Work | None:
        with self._choosing:
            return self._lanes[lane].popleft() if self._lanes[lane] else None

    def waiting(self, lane: int) -> int:
        """How much waits in a lane."""
        return len(self._lanes[lane])
