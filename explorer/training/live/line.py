"""One run at a time: a line with places, which nobody can hold by walking away."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

PATIENCE = 60.0
"""Seconds after which somebody who does not move has left."""


@dataclass(slots=True, eq=False)
class Ticket:
    """A place in the line; ``leave`` gives it back."""

    line: "Line"
    seen: float

    @property
    def place(self) -> int:
        """How many are before this one; 0 may run; -1 if the place was lost."""
        return self.line.place(self)

    def leave(self) -> None:
        """Give the place back; more than once is harmless."""
        self.line.leave(self)


class Line:
    """Tickets in the order they came; whoever has not asked for its place for long is out."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, patience: float = PATIENCE
    ) -> None:
        self._clock, self._patience = clock, patience
        self._tickets: list[Ticket] = []
        self._lock = threading.Lock()

    def join(self) -> Ticket:
        """A ticket at the end of the line."""
        with self._lock:
            ticket = Ticket(self, self._clock())
            self._tickets.append(ticket)
            return ticket

    def place(self, ticket: Ticket) -> int:
        """The ticket's place; asking also says that its holder is still there."""
        with self._lock:
            now = self._clock()
            if ticket in self._tickets:
                ticket.seen = now
            self._tickets = [t for t in self._tickets if now - t.seen <= self._patience]
            return self._tickets.index(ticket) if ticket in self._tickets else -1

    def leave(self, ticket: Ticket) -> None:
        """Take a ticket out."""
        with self._lock:
            self._tickets = [t for t in self._tickets if t is not ticket]

    def __len__(self) -> int:
        return len(self._tickets)
