"""Runs kept for all visitors, and texts that share the next forward pass."""

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
