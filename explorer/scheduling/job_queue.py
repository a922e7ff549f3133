"""Queue that runs one job at a time, or a few, reports places in the queue and cancels jobs.

Measurements have one queue, the lessons of a live student another.
"""

import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextvars import copy_context
from dataclasses import dataclass
from math import inf
from typing import Any

from explorer import limits
from explorer.refusal import Refusal
from explorer.scheduling.budget import BUDGET, BudgetMeter
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK

Work = Callable[[CancelToken], Iterable[Any]]
"""Steps of a job: it yields partial values, and a generator returns its result."""
MAX_WAITING = limits.JOBS.maximum
"""Jobs that may wait in one queue; further ones are refused."""
MAX_OF_ONE = limits.JOBS_OF_ADDRESS.maximum
"""Jobs of one address that may be in the queue at once; only programs are counted by address."""
PAUSE_S = 0.05
"""Seconds between two jobs, in which waiting texts run."""
STOP_WITHIN_S = 1.0
"""Seconds after which most cancelled jobs are shown as stopped, even if the last step goes on.

A measurement is waited for: it ends within a layer, with a result that says how it ended.
"""
LOOK_EVERY_S = 0.2
"""Seconds between two looks of a waiting job at whether its time is over."""
PAY_EVERY_S = 0.2
"""Seconds between two charges to the budget."""


class QueueFull(Refusal):
    """Refusal of a job because too many are waiting already."""


@dataclass(frozen=True, slots=True, eq=False)
class JobUpdate:
    """Progress of one job."""

    position: int
    """Jobs before this one; 0 while it runs itself."""
    partial: Any
    """Value that the job yielded last; None before the first."""
    done: bool
    stopped: bool = False
    """True if the job was cancelled before it finished."""
    result: Any = None
    """Value that the job returned; None before it is done, and if it was cut off."""
    stage: str = ""
    """The job's last step by its token, for the sentence on an end without a result."""


class ProgramCancelToken(CancelToken):
    """Token of a program's job: each check lets visitors go first and charges the address.

    When the budget of the address is spent, the job ends as at a deadline, with the results so far.
    """

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address, self._meter, self._next = address, BudgetMeter(address), 0.0

    def begin(self) -> None:
        """Start the meter; call it in the thread whose processor time is charged."""
        self._meter.begin()

    def check(self) -> None:
        """Let visitors go first, charge the address, and raise if the job must end.

        Raises:
            Cancelled: the job was cancelled, or its deadline or the budget of its address is over.
        """
        super().check()
        MEASUREMENT_LOCK.yield_to_visitors()
        # Charged only now and then: the check also runs inside timed code and must cost nothing.
        if (now := self._clock()) >= self._next:
            self._next = now + PAY_EVERY_S
            self._meter.charge()
            if BUDGET.is_over(self._address):
                raise Cancelled("deadline")


class QueuedJob:
    """Job in its own thread, which waits for its turn, then runs in the context of its owner."""

    def __init__(
        self, queue: "JobQueue", work: Work, address: str = "", component_ids: tuple[int, ...] = ()
    ) -> None:
        self.cancel_token: CancelToken = ProgramCancelToken(address) if address else CancelToken()
        self.address, self.component_ids = address, component_ids
        self.question: Any = None
        """Question that the job answers, if its starter has given it."""
        self.error: Exception | None = None
        self.partial: Any = None
        self.result: Any = None
        self.ended, self.done = threading.Event(), threading.Event()
        """Set when the job has ended, and when it has left the queue."""
        self.replaced = False
        """True once its owner has started another job that is drawn in the same place."""
        self.queue, self._work = queue, work
        run = copy_context().run
        self.thread = threading.Thread(target=run, args=(self._run,), name="turn", daemon=True)

    def _run(self) -> None:
        try:
            self.queue.wait_for_turn(self)
            self.cancel_token.begin()
            steps = iter(self._work(self.cancel_token))
            while True:
                self.partial = next(steps)
        except StopIteration as end:
            self.result = end.value
        except Cancelled:
            pass
        except Exception as error:
            # Raised again in the thread that reads the updates.
            self.error = error
        finally:
            self.ended.set()
            # Texts that waited meanwhile run before the next job.
            time.sleep(PAUSE_S)
            self.queue.leave(self)
            self.done.set()

    def stop(self) -> None:
        """Cancel the job; it ends within one layer of one forward pass."""
        self.cancel_token.stop()
        self.queue.wake()


class JobQueue:
    """First-in, first-out queue of jobs, of which the first few run at a time.

    Args:
        name: Name of the queue.
        at_once: Jobs that run at a time.
        patience_s: Seconds after which a cancelled job is shown as stopped, if it still goes on.
    """

    def __init__(self, name: str, at_once: int = 1, patience_s: float = STOP_WITHIN_S) -> None:
        self.name, self._at_once, self.patience_s = name, at_once, patience_s
        self._changed = threading.Condition()
        self._waiting: list[QueuedJob] = []
        self._by_owner: dict[Hashable, QueuedJob] = {}

    def start(
        self,
        work: Work,
        owner: Hashable = "",
        address: str = "",
        component_ids: tuple[int, ...] = (),
        question: Any = None,  # noqa: ANN401
    ) -> QueuedJob:
        """Add a job to the queue, cancel the owner's earlier one and return the new one.

        ``component_ids`` are those of the page's components that the job draws in, ``question`` is
        what it answers.

        A program is a new owner at each request, so with its ``address`` it may have
        ``MAX_OF_ONE`` jobs in the queue.

        Raises:
            QueueFull: too many jobs wait already, in all or of this address.
        """
        with self._changed:
            mine = self._by_owner.get(owner)
            if len(self._waiting) - (mine in self._waiting) > MAX_WAITING:
                raise QueueFull(limits.JOBS.sentence())
            n_of_address = sum(queued.address == address for queued in self._waiting)
            if address and n_of_address >= MAX_OF_ONE:
                raise QueueFull(limits.JOBS_OF_ADDRESS.sentence())
            self._replace(owner, component_ids)
            queued = QueuedJob(self, work, address, component_ids)
            queued.question = question
            self._waiting.append(queued)
            if owner:
                self._by_owner[owner] = queued
        queued.thread.start()
        return queued

    def stop(self, owner: Hashable) -> None:
        """Cancel the job that an owner has in the queue, if any."""
        queued = self._by_owner.get(owner)
        if queued is not None:
            queued.stop()

    def drawn_in(self, owner: Hashable, component_ids: tuple[int, ...]) -> QueuedJob | None:
        """Return an owner's job that draws in one of these components, if any."""
        queued = self._by_owner.get(owner)
        if queued is None or queued.replaced:
            return None
        is_same = queued.component_ids == component_ids
        return queued if is_same or {*component_ids} & {*queued.component_ids} else None

    def _replace(self, owner: Hashable, component_ids: tuple[int, ...]) -> None:
        queued = self._by_owner.get(owner)
        if queued is not None:
            queued.replaced |= queued.component_ids == component_ids
            queued.stop()

    def position(self, queued: QueuedJob) -> int:
        """Return how many jobs are before this one."""
        with self._changed:
            index = self._waiting.index(queued) if queued in self._waiting else 0
            return max(0, index + 1 - self._at_once)

    def wait_for_turn(self, queued: QueuedJob) -> None:
        """Wait until the jobs before this one have left the queue.

        Raises:
            Cancelled: the job was cancelled, or its time was over, before its turn came.
        """
        token = queued.cancel_token
        with self._changed:
            token.stage = "queue"
            while not self._changed.wait_for(
                lambda: token.cancelled or queued in self._waiting[: self._at_once], LOOK_EVERY_S
            ):
                token.check()
        token.check()

    def leave(self, queued: QueuedJob) -> None:
        """Remove a job that has ended, so that the next one can run."""
        with self._changed:
            self._waiting.remove(queued)
            owners = [owner for owner, job in self._by_owner.items() if job is queued]
            for owner in owners:
                del self._by_owner[owner]
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._waiting)

    def wake(self) -> None:
        """Wake all waiting jobs, so that each checks whether it was cancelled."""
        with self._changed:
            self._changed.notify_all()


MEASUREMENTS = JobQueue("measure", patience_s=inf)
"""The queue of measurements; the running one holds ``MEASUREMENT_LOCK`` while it times."""


MEASUREMENT_UPDATE_S = 2.0
"""Least seconds between two updates of a measurement. Sending and drawing one takes processor time,
which disturbs what is timed."""


def updates(
    queued: QueuedJob, every_s: float = 0.3, has_left: Callable[[], bool] = lambda: False
) -> Iterator[JobUpdate]:
    """Yield the progress of a job at once and at every change; the last update is ``done``.

    Changes of a measurement are at least ``MEASUREMENT_UPDATE_S`` apart, except of its place.

    Closing the iterator cancels the job; so does ``has_left()`` once it returns True, for a reader
    that cannot close it.

    Raises:
        Exception: whatever the job raised.
    """
    queue, token, stopped_s = queued.queue, queued.cancel_token, 0.0
    least_s = MEASUREMENT_UPDATE_S if queue is MEASUREMENTS else 0.0
    last, due = JobUpdate(-1, None, done=False), 0.0
    try:
        while not queued.ended.is_set() and stopped_s < queue.patience_s:
            if has_left():
                return
            now = JobUpdate(queue.position(queued), queued.partial, done=False)
            is_new = now.partial is not last.partial and time.monotonic() >= due
            if now.position != last.position or is_new:
                yield now
                last, due = now, time.monotonic() + least_s
            queued.ended.wait(every_s)
            stopped_s += every_s * token.cancelled
        if queued.error is not None:
            raise queued.error
        yield JobUpdate(0, queued.partial, True, token.cancelled, queued.result, token.stage)
    finally:
        queued.stop()
