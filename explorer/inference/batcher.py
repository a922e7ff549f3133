"""Texts that wait for the same network, and which of them share the next forward pass."""

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
"""A network and the priority of its waiting texts; texts of two priorities share no batch."""
MOST = 8
"""Most texts of one batch: more gain little, and all wait for the whole batch."""
LONGEST = 4_000
"""Most characters of one batch, padding included: bounds its memory."""


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
        if not batch or (fits and len(batch) < MOST):
            batch.append(pending)
    return batch
