"""Queues of the workers: work in order of priority, and texts that share the next forward pass."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from explorer.inference.backend import OnProgress
from explorer.models.run import Run
from explorer.models.specs import NetworkKey

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel

Work = Callable[[], None]
VISITOR, PROGRAM, LONG, LONG_FOR_PROGRAM = range(4)
"""The priorities: single passes of visitors and of programs, and the long work of each."""
BatchKey = tuple[NetworkKey, int]
"""A network and the priority of its waiting texts; texts of two priorities share no batch."""
MAX_ROWS = 8
"""Most texts of one batch: more gain little, and all wait for the whole batch."""
LONGEST = 4_000
"""Most characters of one batch, padding included: bounds its memory."""


def priority_of(program: str, is_long: bool) -> int:
    """Return the priority of work; ``program`` is a program's address, empty for a visitor."""
    return 2 * is_long + bool(program)


class PriorityQueues:
    """First-in, first-out queues, one per priority; a visitor's single pass always goes first."""

    def __init__(self) -> None:
        self._queues: list[deque[Work]] = [deque() for _ in range(4)]
        self._lock = threading.Lock()
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


@dataclass(frozen=True, slots=True, eq=False)
class PendingText:
    """Text that waits for a forward pass, with its progress callback and the future of its run."""

    text: str
    network: "LoadedModel"
    """The network, loaded by the caller."""
    report: OnProgress | None = None
    lease: ExitStack = field(default_factory=ExitStack)
    """Stack that holds the lease on the network; closed after the forward pass."""
    run: "Future[Run]" = field(default_factory=Future)


class Batcher:
    """Batches of waiting texts of similar length, the text that waits longest first.

    No timeout delays a batch: a single text runs at once, and those that arrive during its forward
    pass share the next batch.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[BatchKey, list[PendingText]] = {}

    def add(self, key: BatchKey, pending: PendingText) -> None:
        """Add a text to those that wait for a network."""
        with self._lock:
            self._waiting.setdefault(key, []).append(pending)

    def take(self, key: BatchKey) -> list[PendingText]:
        """Remove and return the texts of the next batch; empty if none wait."""
        with self._lock:
            waiting = self._waiting.pop(key, [])
            batch = length_bucket(waiting)
            rest = [text for text in waiting if text not in batch]
            if rest:
                self._waiting[key] = rest
            return batch


def length_bucket(waiting: list[PendingText]) -> list[PendingText]:
    """Return the first text of a queue and the later ones of similar length: padding costs time."""
    batch: list[PendingText] = []
    for pending in waiting:
        longest = max([len(pending.text), *(len(other.text) for other in batch)])
        shortest = min([len(pending.text), *(len(other.text) for other in batch)])
        fits = longest <= 1.25 * shortest + 8 and longest * (len(batch) + 1) <= LONGEST
        if not batch or (fits and len(batch) < MAX_ROWS):
            batch.append(pending)
    return batch
