"""Runs, kept for all visitors: least recently used out first, bounded in bytes."""

import threading
from collections import OrderedDict
from concurrent.futures import Future

from explorer.models.run import Run

CACHE_BYTES = 256 * 2**20
Key = tuple[str, str, str, str]
"""Model, text, device and dtype."""


class RunCache:
    """Runs by (model, text, device, dtype), least recently used out first, bounded in bytes."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self.n_bytes = 0
        """Bytes of all runs kept: counted as they come and go, or each new run would sum up all."""
        self._runs: OrderedDict[Key, Run] = OrderedDict()
        self._pending: dict[Key, Future[Run]] = {}
        self._lock = threading.Lock()

    def claim(self, key: Key) -> "tuple[Future[Run], bool]":
        """What will hold the run of a key, and whether the caller is the one to settle it."""
        with self._lock:
            if key in self._runs:
                self._runs.move_to_end(key)
                done: Future[Run] = Future()
                done.set_result(self._runs[key])
                return done, False
            mine = key not in self._pending
            return self._pending.setdefault(key, Future()), mine

    def settle(self, key: Key, made: "Future[Run]") -> None:
        """Hand a claimed run, or the reason why there is none, to all who wait for it."""
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
        """Whether somebody waits for a run."""
        return bool(self._pending)

    def clear(self) -> None:
        """Forget every run."""
        with self._lock:
            self._runs.clear()
            self.n_bytes = 0
