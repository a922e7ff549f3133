"""How many processor seconds the programs at one address may take in a minute."""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from explorer import limits

SECONDS: float = limits.PROCESSOR.most
"""Processor seconds of one address in a minute, where others pay too: half of one core."""
ALONE: float = limits.PROCESSOR_ALONE.most
"""The same where nobody else pays: what others do not want."""
WINDOW_S = 60.0
MOST_ADDRESSES = 10_000
"""Of more, those that paid first are forgotten."""


class Budget:
    """Who has taken how much of late."""

    def __init__(
        self,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
        alone: float = 0.0,
    ) -> None:
        self.seconds, self.alone, self._clock = seconds, max(seconds, alone), clock
        self._paid: OrderedDict[str, deque[tuple[int, float]]] = OrderedDict()
        self._lock = threading.Lock()

    def charge(self, address: str, seconds: float) -> None:
        """Write down what the programs of an address took; visitors, without one, pay nothing."""
        if not address or seconds <= 0:
            return
        now = int(self._clock())
        with self._lock:
            paid = self._paid.setdefault(address, deque())
            # One entry for each second, however often somebody pays.
            before = paid.pop()[1] if paid and paid[-1][0] == now else 0.0
            paid.append((now, before + seconds))
            while len(self._paid) > MOST_ADDRESSES:
                self._paid.popitem(last=False)

    def spent(self, address: str) -> float:
        """What an address took in the last minute."""
        with self._lock:
            paid = self._paid.get(address, deque())
            while paid and paid[0][0] <= self._clock() - WINDOW_S:
                paid.popleft()
            if not paid:
                self._paid.pop(address, None)
            return sum(seconds for _, seconds in paid)

    def others_charged(self, address: str) -> bool:
        """Whether any other address has paid in the last minute."""
        since = self._clock() - WINDOW_S
        with self._lock:
            return any(
                other != address and paid[-1][0] > since
                for other, paid in self._paid.items()
                if paid
            )

    def exhausted(self, address: str) -> bool:
        """Whether an address has to wait with its next question."""
        return self.spent(address) >= (self.seconds if self.others_charged(address) else self.alone)

    def is_over(self, address: str) -> bool:
        """Whether also a question that has been taken must end; who comes meanwhile ends none."""
        return self.spent(address) >= self.alone


BUDGET = Budget(alone=ALONE)
"""Everybody's."""


class BudgetMeter:
    """Has an address pay for the processor time of the calling thread."""

    def __init__(self, address: str, threads: int = 1, budget: Budget = BUDGET) -> None:
        self._address, self._threads, self._budget = address, threads, budget
        self._begun = time.thread_time()

    def begin(self) -> None:
        """From now on."""
        self._begun = time.thread_time()

    def charge(self) -> None:
        """Until now; it goes on."""
        now = time.thread_time()
        self._budget.charge(self._address, self._threads * (now - self._begun))
        self._begun = now

    @contextmanager
    def running(self) -> Iterator[None]:
        """Meanwhile, in this thread."""
        self.begin()
        try:
            yield
        finally:
            self.charge()
