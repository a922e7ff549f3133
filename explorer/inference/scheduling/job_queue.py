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
from explorer.inference.scheduling.budget import BUDGET, Meter
from explorer.inference.scheduling.cancel import Stopped, StopSign
from explorer.inference.scheduling.measurement_lock import SLOT
from explorer.refusal import Refusal

Job = Callable[[StopSign], Iterator[Any]]
LONGEST_LINE = limits.JOBS.most
"""Jobs that may wait; the next visitor is asked to come back."""
MOST_OF_ONE = limits.JOBS_OF_ADDRESS.most
"""Jobs of one address that may stand in the line at once; only programs are counted so."""
PAUSE_S = 0.05
PAY_EVERY_S = 0.2


class LineIsLong(Refusal):
    """Too many jobs wait already; says so in one sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class Update:
    """How one job stands."""

    place: int
    """Jobs before this one; 0 while it runs itself."""
    shot: Any
    """What the job yielded last; None before the first."""
    done: bool
    stopped: bool = False
    """Whether somebody asked for its end before it was through."""


class SignOfProgram(StopSign):
    """A program's: at every step visitors go first, and its address pays.

    When the address has nothing left, it ends as at a deadline, with what was measured so far.
    """

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address, self._meter, self._next = address, Meter(address), 0.0

    def begin(self) -> None:
        """To be called in the thread that pays."""
        self._meter.begin()

    def check(self) -> None:
        """Go on, or raise.

        Raises:
            Stopped: as above, or the address has spent its seconds.
        """
        super().check()
        SLOT.give_way()
        # Also looked at in the middle of what is timed: it must cost nothing.
        if (now := self._clock()) >= self._next:
            self._next = now + PAY_EVERY_S
            self._meter.pay()
            if BUDGET.is_over(self._address):
                raise Stopped("deadline")


class Turn:
    """One job in a thread of its own: it waits for its turn, then has what the line gives out."""

    def __init__(
        self, line: "Line", job: Job, address: str = "", place: tuple[int, ...] = ()
    ) -> None:
        self.sign: StopSign = SignOfProgram(address) if address else StopSign()
        self.address, self.place = address, place
        self.error: Exception | None = None
        self.shot: Any = None
        self.done = threading.Event()
        self.replaced = False
        """Whether its owner has started another job since, which is drawn in the same place."""
        self.line, self._job = line, job
        self.thread = threading.Thread(target=self._run, name="turn", daemon=True)

    def _run(self) -> None:
        try:
            self.line.wait_for_turn(self)
            self.sign.begin()
            with self.line.slot():
                for shot in self._job(self.sign):
                    self.shot = shot
        except Stopped:
            pass
        except Exception as error:
            # Raised again in the thread of whoever watches.
            self.error = error
        finally:
            # Texts that waited meanwhile go before the next job.
            time.sleep(PAUSE_S)
            self.line.leave(self)
            self.done.set()

    def stop(self) -> None:
        """Ask it to end; it does within one layer of one pass."""
        self.sign.stop()
        self.line.wake()


class Line:
    """First come, first served."""

    def __init__(self, slot: Callable[[], AbstractContextManager[None]]) -> None:
        self.slot = slot
        """Held by the job whose turn it is."""
        self._changed = threading.Condition()
        self._waiting: list[Turn] = []
        self._by_owner: dict[str, Turn] = {}

    def start(
        self, job: Job, owner: str = "", address: str = "", place: tuple[int, ...] = ()
    ) -> Turn:
        """Put a job in the line; an owner's earlier one is stopped.

        ``place`` is where on the page it is drawn.

        A program is a new owner each time it asks: where its ``address`` is given, it has places
        for ``MOST_OF_ONE``.

        Raises:
            LineIsLong: too many wait already, of everybody or of this address.
        """
        self._replace(owner, place)
        with self._changed:
            if len(self._waiting) > LONGEST_LINE:
                raise LineIsLong(limits.JOBS.sentence())
            mine = sum(turn.address == address for turn in self._waiting)
            if address and mine >= MOST_OF_ONE:
                raise LineIsLong(limits.JOBS_OF_ADDRESS.sentence())
            turn = Turn(self, job, address, place)
            self._waiting.append(turn)
            if owner:
                self._by_owner[owner] = turn
        turn.thread.start()
        return turn

    def stop(self, owner: str) -> None:
        """Stop what an owner has in the line, if anything."""
        turn = self._by_owner.get(owner)
        if turn is not None:
            turn.stop()

    def _replace(self, owner: str, place: tuple[int, ...]) -> None:
        turn = self._by_owner.get(owner)
        if turn is not None:
            turn.replaced = turn.place == place
            turn.stop()

    def place(self, turn: Turn) -> int:
        """How many are before this one."""
        with self._changed:
            return self._waiting.index(turn) if turn in self._waiting else 0

    def wait_for_turn(self, turn: Turn) -> None:
        """Until everybody before has left.

        Raises:
            Stopped: it was asked to end before its turn came.
        """
        with self._changed:
            self._changed.wait_for(lambda: turn.sign.is_up or self._waiting[0] is turn)
        turn.sign.check()

    def leave(self, turn: Turn) -> None:
        """Make room for the next."""
        with self._changed:
            self._waiting.remove(turn)
            mine = [o for o, m in self._by_owner.items() if m is turn]
            for owner in mine:
                del self._by_owner[owner]
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._waiting)

    def wake(self) -> None:
        """Let everybody who waits look again."""
        with self._changed:
            self._changed.notify_all()


MEASUREMENTS = Line(SLOT.measure)
"""Each has the machine to itself."""


def updates(
    turn: Turn, every_s: float = 0.3, left: Callable[[], bool] = lambda: False
) -> Iterator[Update]:
    """How a job stands, again and again until it is done; the last one is ``done``.

    Whoever stops reading stops the job; ``left`` says so of one who cannot do that.

    Raises:
        Exception: whatever the job raised.
    """
    line = turn.line
    try:
        while not turn.done.wait(every_s):
            if left():
                return
            yield Update(line.place(turn), turn.shot, done=False)
        if turn.error is not None:
            raise turn.error
        yield Update(0, turn.shot, done=True, stopped=turn.sign.is_up)
    finally:
        turn.stop()
