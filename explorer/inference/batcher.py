"""Texts that wait for the same network at the same time, and which of them share a forward pass."""

import threading
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from explorer.inference.backend import OnProgress
from explorer.models.run import Run
from explorer.models.specs import NetworkKey

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel

BatchKey = tuple[NetworkKey, int]
"""A network and the lane of those who wait for it: none is kept back by another lane's padding."""
MOST = 8
"""Texts of one pass: more gain little, and the last one's answer is late for all."""
LONGEST = 4_000
"""Characters of one pass, padding counted: bounds its memory."""


@dataclass(frozen=True, slots=True, eq=False)
class PendingText:
    """A text that waits for a network, whom to tell how it stands, and what will hold its run."""

    text: str
    network: "LoadedModel"
    """Loaded by whoever asks."""
    report: OnProgress | None = None
    held: ExitStack = field(default_factory=ExitStack)
    """Holds the lease on the network: closed when the text has been read."""
    run: "Future[Run]" = field(default_factory=Future)


class Batcher:
    """First come, first served; whoever is served takes along those of like length.

    Nobody is waited for: a text alone has its pass at once, and what comes during it shares the
    next.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[BatchKey, list[PendingText]] = {}

    def add(self, network: BatchKey, waiting: PendingText) -> None:
        """Wait."""
        with self._lock:
            self._waiting.setdefault(network, []).append(waiting)

    def take(self, network: BatchKey) -> list[PendingText]:
        """Those who share the next pass, the one who waits longest first; nobody waits no more."""
        with self._lock:
            line = self._waiting.pop(network, [])
            taken = length_bucket(line)
            rest = [one for one in line if one not in taken]
            if rest:
                self._waiting[network] = rest
            return taken


def length_bucket(line: list[PendingText]) -> list[PendingText]:
    """The first of a line, and those behind it that are about as long: padding is work too."""
    taken: list[PendingText] = []
    for one in line:
        longest = max([len(one.text), *(len(other.text) for other in taken)])
        shortest = min([len(one.text), *(len(other.text) for other in taken)])
        fits = longest <= 1.25 * shortest + 8 and longest * (len(taken) + 1) <= LONGEST
        if not taken or (fits and len(taken) < MOST):
            taken.append(one)
    return taken
