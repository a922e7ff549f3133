"""Budget of processor seconds per minute for the programs at one address."""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from explorer import limits

SECONDS: float = limits.PROCESSOR.maximum
"""Processor seconds per minute of one address while others are charged too: half of one core."""
ALONE: float = limits.PROCESSOR_ALONE.maximum
"""Processor seconds per minute of an address while no other address is charged."""
WINDOW_S = 60.0
MAX_ADDRESSES = 10_000
"""Most addresses remembered; beyond that the oldest entries are dropped."""


class Budget:
    """Processor seconds charged to each address in the last minute."""

    def __init__(
        self,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
        seconds_alone: float = 0.0,
    ) -> None:
        self.seconds, self.seconds_alone, self._clock = seconds, max(seconds, seconds_alone), clock
        self._charges: OrderedDict[str, deque[tuple[int, float]]] = OrderedDict()
        self._lock = threading.Lock()

    def charge(self, address: str, seconds: float) -> None:
        """Charge processor seconds to an address; visitors, who have none, are not charged."""
        if not address or seconds <= 0:
            return
        now = int(self._clock())
        with self._lock:
            paid = self._charges.setdefault(address, deque())
            # One entry per second, however often an address is charged: the deque stays short.
            before = paid.pop()[1] if paid and paid[-1][0] == now else 0.0
            paid.append((now, before + seconds))
            while len(self._charges) > MAX_ADDRESSES:
                self._charges.popitem(last=False)

    def spent(self, address: str) -> float:
        """Return the processor seconds charged to an address in the last minute."""
        with self._lock:
            paid = self._charges.get(address, deque())
            while paid and paid[0][0] <= self._clock() - WINDOW_S:
                paid.popleft()
            if not paid:
                self._charges.pop(address, None)
            return sum(seconds for _, seconds in paid)

    def others_charged(self, address: str) -> bool:
        """Return whether any other address was charged in the last minute."""
        since = self._clock() - WINDOW_S
        with self._lock:
            return any(
                other != address and paid[-1][0] > since
                for other, paid in self._charges.items()
                if paid
            )

    def exhausted(self, address: str) -> bool:
        """Return whether a new request of an address has to be refused for now."""
        return self.spent(address) >= (
            self.seconds if self.others_charged(address) else self.seconds_alone
        )

    def is_over(self, address: str) -> bool:
        """Return whether a running request of an address must end too.

        Only the limit for an address that is alone counts: others that arrive end no running one.
        """
        return self.spent(address) >= self.seconds_alone


BUDGET = Budget(seconds_alone=ALONE)
"""The budget of this process, shared by all requests."""


class BudgetMeter:
    """Meter that charges an address for the processor time of the calling thread."""

    def __init__(self, address: str, threads: int = 1, budget: Budget = BUDGET) -> None:
        self._address, self._threads, self._budget = address, threads, budget
        self._begun = time.thread_time()

    def begin(self) -> None:
        """Start the meter in the calling thread."""
        self._begun = time.thread_time()

    def charge(self) -> None:
        """Charge the time since the last start or charge; the meter keeps running."""
        now = time.thread_time()
        self._budget.charge(self._address, self._threads * (now - self._begun))
        self._begun = now

    @contextmanager
    def running(self) -> Iterator[None]:
        """Charge the time that the ``with`` block takes in this thread."""
        self.begin()
        try:
            yield
        finally:
            self.charge()
