"""Cache of runs and of results computed from them, shared by all visitors."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from explorer.inference.ask import Ask
from explorer.models.run import Run
from explorer.models.specs import ModelSpec

CACHE_BYTES = 256 * 2**20
Key = tuple[str, str, str, str]
"""Model, text, device and dtype; a run is the same in every column."""
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

    def settle(self, key: Key, run: "Future[Run]") -> None:
        """Pass the result or the exception of a claimed run to all who wait for it."""
        error = run.exception()
        with self._lock:
            future = self._pending.pop(key)
            if error is None:
                self._put(key, run.result())
        if error is None:
            future.set_result(run.result())
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
        """Return a cached result, also None, computed on the first call.

        Two callers at once compute twice: a visitor never waits for the work of a program, which
        stands back for visitors.
        """
        with self._lock:
            if key in self._values:
                return self._get(key)
        return self.put(key, compute())

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
        """True while a run is pending."""
        return bool(self._pending)

    def forget(self, name: str) -> None:
        """Remove every result of the model with this name."""
        with self._lock:
            for key in [key for key in self._values if _names(key, name)]:
                self.n_bytes -= self._values.pop(key)[1]

    def clear(self) -> None:
        """Remove every result."""
        with self._lock:
            self._values.clear()
            self.n_bytes = 0


def _names(key: Hashable, name: str) -> bool:
    """Return whether a key, or a part of it, is the name."""
    return any(_names(part, name) for part in key) if isinstance(key, tuple) else key == name


CACHE = ResultCache()
memo = CACHE.memo


def key_of(run: Run) -> tuple[str, ...]:
    """Return the key of a run in its column, to which the key of a result from it adds a name.

    Results say which column they belong to, so one model in two columns has two of them.
    """
    return (run.spec.name, run.spec.key, run.spec.label, run.tokens.text, run.device, run.dtype)


def key_of_family(name: str, specs: Mapping[str, ModelSpec], ask: Ask) -> tuple:
    """Return the key of a result from all models of a family, whatever the page's text."""
    columns = tuple((key, spec.name, spec.label) for key, spec in specs.items())
    return (name, columns, ask.device, ask.dtype)


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
        return LEAST_BYTES + sum(size_of(getattr(value, field.name)) for field in fields(value))
    return LEAST_BYTES
