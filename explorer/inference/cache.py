"""Cache of runs, shared by all visitors, and batching of texts for one forward pass."""

import threading
from collections import OrderedDict
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from explorer.inference.backend import OnProgress
from explorer.models.run import Run
from explorer.models.specs import NetworkKey

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel


CACHE_BYTES = 256 * 2**20
Key = tuple[str, str, str, str]
"""Model, text, device and dtype."""


class RunCache:
    """LRU cache of runs by (model, text, device, dtype), bounded in bytes."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self.n_bytes = 0
        """Bytes of all cached runs, kept as a running total because a full sum would cost time."""
        self._runs: OrderedDict[Key, Run] = OrderedDict()
        self._pending: dict[Key, Future[Run]] = {}
        self._lock = threading.Lock()

    def claim(self, key: Key) -> "tuple[Future[Run], bool]":
        """Return the future of a run, and whether the caller has to compute and settle it."""
        with self._lock:
            if key in self._runs:
                self._runs.move_to_end(key)
                done: Future[Run] = Future()
                done.set_result(self._runs[key])
                return done, False
            is_first = key not in self._pending
            return self._pending.setdefault(key, Future()), is_first

    def settle(self, key: Key, made: "Future[Run]") -> None:
        """Pass the result or the exception of a claimed run to all who wait for it."""
        error = made.exception()
        with self._lock:
            future = self._pending.pop(key)
            if error is None:
                self._keep(key, made.result())
        if error is None:
            future.set_result(made.result())
        else:
            future.set_exception(error)

    def _keep(self, key: Key, run: Run) -> None:
        self._runs[key] = run
        self.n_bytes += run.n_bytes
        while len(self._runs) > 1 and self.n_bytes > self.limit:
            _, least_recent = self._runs.popitem(last=False)
            self.n_bytes -= least_recent.n_bytes

    def __contains__(self, key: Key) -> bool:
        with self._lock:
            return key in self._runs

    @property
    def is_waited_for(self) -> bool:
        """The flag that some run is pending."""
        return bool(self._pending)

    def clear(self) -> None:
        """Remove every run."""
        with self._lock:
            self._runs.clear()
            self.n_bytes = 0


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
    held: ExitStack = field(default_factory=ExitStack)
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

    def add(self, network: BatchKey, waiting: PendingText) -> None:
        """Add a text to those that wait for a network."""
        with self._lock:
            self._waiting.setdefault(network, []).append(waiting)

    def take(self, network: BatchKey) -> list[PendingText]:
        """Remove and return the texts of the next batch; empty if none wait."""
        with self._lock:
            waiting = self._waiting.pop(network, [])
            batch = length_bucket(waiting)
            rest = [text for text in waiting if text not in batch]
            if rest:
                self._waiting[network] = rest
            return batch


def length_bucket(line: list[PendingText]) -> list[PendingText]:
    """Return the first text of a queue and the later ones of similar length: padding costs time."""
    batch: list[PendingText] = []
    for pending in line:
        longest = max([len(pending.text), *(len(other.text) for other in batch)])
        shortest = min([len(pending.text), *(len(other.text) for other in batch)])
        fits = longest <= 1.25 * shortest + 8 and longest * (len(batch) + 1) <= LONGEST
        if not batch or (fits and len(batch) < MOST):
            batch.append(pending)
    return batch
