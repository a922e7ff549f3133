"""Cache of runs and results, shared by all visitors, and batching of texts for one pass."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from explorer.inference.backend import OnProgress
from explorer.models.run import Run
from explorer.models.specs import NetworkKey

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel


CACHE_BYTES = 256 * 2**20
Key = tuple[str, str, str, str]
"""Model, text, device and dtype."""
Value = TypeVar("Value")
LEAST_BYTES = 64
"""Counted for each object besides the bytes of arrays and texts."""


class ResultCache:
    """LRU cache of runs and of results computed from them, bounded in bytes together.

    Keys of runs are ``Key``; any other result has a tuple whose first item is its name, and which
    holds whatever the result depends on: models, text, device, dtype.
    """

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self.n_bytes = 0
        """Bytes of all values, kept as a running total because a full sum would cost time."""
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._pending: dict[Key, Future[Run]] = {}
        self._lock = threading.Lock()

    def claim(self, key: Key) -> "tuple[Future[Run], bool]":
        """Return the future of a run, and whether the caller has to compute and settle it."""
        with self._lock:
            if key in self._values:
                done: Future[Run] = Future()
                done.set_result(self._get(key))
                return done, False
            is_first = key not in self._pending
            return self._pending.setdefault(key, Future()), is_first

    def settle(self, key: Key, made: "Future[Run]") -> None:
        """Pass the result or the exception of a claimed run to all who wait for it."""
        error = made.exception()
        with self._lock:
            future = self._pending.pop(key)
            if error is None:
                self._put(key, made.result())
        if error is None:
            future.set_result(made.result())
        else:
            future.set_exception(error)

    def get(self, key: Hashable) -> Any | None:  # noqa: ANN401 - whatever was put there
        """Return a cached result; None if there is none."""
        with self._lock:
            return self._get(key) if key in self._values else None

    def put(self, key: Hashable, value: Value) -> Value:
        """Cache a result and return it."""
        with self._lock:
            self._put(key, value)
        return value

    def memo(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return a cached result, computed on the first call; two callers at once compute twice."""
        found = self.get(key)
        return self.put(key, compute()) if found is None else found

    def _get(self, key: Hashable) -> Any:  # noqa: ANN401
        self._values.move_to_end(key)
        return self._values[key][0]

    def _put(self, key: Hashable, value: object) -> None:
        """Cache a value and drop the least recently used ones; the newest always stays."""
        _, replaced = self._values.pop(key, (None, 0))
        n_bytes = size_of(value)
        self._values[key] = value, n_bytes
        self.n_bytes += n_bytes - replaced
        while len(self._values) > 1 and self.n_bytes > self.limit:
            _, (_, freed) = self._values.popitem(last=False)
            self.n_bytes -= freed

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._values

    @property
    def is_waited_for(self) -> bool:
        """The flag that some run is pending."""
        return bool(self._pending)

    def clear(self) -> None:
        """Remove every result."""
        with self._lock:
            self._values.clear()
            self.n_bytes = 0


CACHE = ResultCache()
memo = CACHE.memo


def key_of(run: Run) -> Key:
    """Return the key of a run, to which the key of a result from it adds a name."""
    return (run.spec.name, run.tokens.text, run.device, run.dtype)


def size_of(value: object) -> int:
    """Return about how many bytes a result holds: its arrays and texts, and its own ``n_bytes``."""
    own = getattr(value, "n_bytes", None)
    if isinstance(own, int):
        return max(own, 1)
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, str | bytes):
        return len(value) + LEAST_BYTES
    if isinstance(value, Mapping):
        return LEAST_BYTES + sum(size_of(inner) for inner in value.values())
    if isinstance(value, tuple | list):
        return LEAST_BYTES + sum(map(size_of, value))
    if is_dataclass(value):
        return LEAST_BYTES + sum(size_of(getattr(value, one.name)) for one in fields(value))
    return LEAST_BYTES


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
