"""One job at a time: who is running, who waits at which place, and how each is stopped.

Measurements stand in one line, the lessons of a live student in another.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from explorer import limits
from explorer.inference.scheduling.budget import BUDGET, BudgetMeter
from explorer.inference.scheduling.cancel import Cancelled, CancelToken
from explorer.inference.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.refusal import Refusal

Job = Callable[[CancelToken], Iterator[Any]]
MOST_WAITING = limits.JOBS.most
"""Jobs that may wait; the next visitor is asked to come back."""
MOST_OF_ONE = limits.JOBS_OF_ADDRESS.most
"""Jobs of one address that may stand in the line at once; only programs are counted so."""
PAUSE_S = 0.05
PAY_EVERY_S = 0.2


class QueueFull(Refusal):
    """Too many jobs wait already; says so in one sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class JobUpdate:
    """How one job stands."""

    place: int
    """Jobs before this one; 0 while it runs itself."""
    partial: Any
    """What the job yielded last; None before the first."""
    done: bool
    stopped: bool = False
    """Whether somebody asked for its end before it was through."""


class ProgramCancelToken(CancelToken):
    """A program's: at every step visitors go first, and its address pays.

    When the address has nothing left, it ends as at a deadline, with what was measured so far.
    """

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address, self._meter, self._next = address, BudgetMeter(address), 0.0

    def begin(self) -> None:
        """To be called in the thread that pays."""
        self._meter.begin()

    def check(self) -> None:
        """Go on, or raise.

        Raises:
            Stopped: as above, or the address has spent its seconds.
        """
        super().check()
        MEASUREMENT_LOCK.yield_to_visitors()
        # Also looked at in the middle of what is timed: it must cost nothing.
        if (now := self._clock()) >= self._next:
            self._next = now + PAY_EVERY_S
            self._meter.charge()
            if BUDGET.is_over(self._address):
                raise Cancelled("deadline")


class QueuedJob:
    """One job in a thread of its own: it waits for its turn, then has what the line gives out."""

    def __init__(
        self, queue: "JobQueue", job: Job, address: str = "", place: tuple[int, ...] = ()
    ) -> None:
        self.cancel_token: CancelToken = ProgramCancelToken(address) if address else CancelToken()
        self.address, self.place = address, place
        self.error: Exception | None = None
        self.partial: Any = None
        self.done = threading.Event()
        self.replaced = False
        """Whether its owner has started another job since, which is drawn in the same place."""
        self.queue, self._job = queue, job
        self.thread = threading.Thread(target=self._run, name="turn", daemon=True)

    def _run(self) -> None:
        try:
            self.queue.wait_for_turn(self)
            self.cancel_token.begin()
            with self.queue.slot():
                for shot in self._job(self.cancel_token):
                    self.partial = shot
        except Cancelled:
            pass
        except Exception as error:
            # Raised again in the thread of whoever watches.
            self.error = error
        finally:
            # Texts that waited meanwhile go before the next job.
            time.sleep(PAUSE_S)
            self.queue.leave(self)
            self.done.set()

    def stop(self) -> None:
        """Ask it to end; it does within one layer of one pass."""
        self.cancel_token.stop()
        self.queue.wake()


class JobQueue:
    """First come, first served."""

    def __init__(self, slot: Callable[[], AbstractContextManager[None]]) -> None:
        self.slot = slot
        """Held by the job whose turn it is."""
        self._changed = threading.Condition()
        self._waiting: list[QueuedJob] = []
        self._by_owner: dict[str, QueuedJob] = {}

    def start(
        self, job: Job, owner: str = "", address: str = "", place: tuple[int, ...] = ()
    ) -> QueuedJob:
        """Put a job in the line; an owner's earlier one is stopped.

        ``place`` is where on the page it is drawn.

        A program is a new owner each time it asks: where its ``address`` is given, it has places
        for ``MOST_OF_ONE``.

        Raises:
            LineIsLong: too many wait already, of everybody or of this address.
        """
        self._replace(owner, place)
        with self._changed:
            if len(self._waiting) > MOST_WAITING:
                raise QueueFull(limits.JOBS.sentence())
            mine = sum(queued.address == address for queued in self._waiting)
            if address and mine >= MOST_OF_ONE:
                raise QueueFull(limits.JOBS_OF_ADDRESS.sentence())
            queued = QueuedJob(self, job, address, place)
            self._waiting.append(queued)
            if owner:
                self._by_owner[owner] = queued
        queued.thread.start()
        return queued

    def stop(self, owner: str) -> None:
        """Stop what an owner has in the line, if anything."""
        queued = self._by_owner.get(owner)
        if queued is not None:
            queued.stop()

    def _replace(self, owner: str, place: tuple[int, ...]) -> None:
        queued = self._by_owner.get(owner)
        if queued is not None:
            queued.replaced = queued.place == place
            queued.stop()

    def place(self, queued: QueuedJob) -> int:
        """How many are before this one."""
        with self._changed:
            return self._waiting.index(queued) if queued in self._waiting else 0

    def wait_for_turn(self, queued: QueuedJob) -> None:
        """Until everybody before has left.

        Raises:
            Stopped: it was asked to end before its turn came.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: queued.cancel_token.cancelled or self._waiting[0] is queued
            )
        queued.cancel_token.check()

    def leave(self, queued: QueuedJob) -> None:
        """Make room for the next."""
        with self._changed:
            self._waiting.remove(queued)
            mine = [o for o, m in self._by_owner.items() if m is queued]
            for owner in mine:
                del self._by_owner[owner]
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._waiting)

    def wake(self) -> None:
        """Let everybody who waits look again."""
        with self._changed:
            self._changed.notify_all()


MEASUREMENTS = JobQueue(MEASUREMENT_LOCK.measure)
"""Each has the machine to itself."""


def updates(
    queued: QueuedJob, every_s: float = 0.3, left: Callable[[], bool] = lambda: False
) -> Iterator[JobUpdate]:
    """How a job stands, again and again until it is done; the last one is ``done``.

    Whoever stops reading stops the job; ``left`` says so of one who cannot do that.

    Raises:
        Exception: whatever the job raised.
    """
    queue = queued.queue
    try:
        while not queued.done.wait(every_s):
            if left():
                return
            yield JobUpdate(queue.place(queued), queued.partial, done=False)
        if queued.error is not None:
            raise queued.error
        yield JobUpdate(0, queued.partial, done=True, stopped=queued.cancel_token.cancelled)
    finally:
        queued.stop()
