"""Memory budget of the networks: idle ones are evicted, the least recently used first."""

import gc
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from explorer.context import context
from explorer.models.choice.family import head_total, shape_total
from explorer.models.hub import ModelUnavailable
from explorer.models.specs import ModelSpec
from explorer.refusal import Sentence

WAIT_S = 20.0
"""Seconds that a request for a network waits for leases to be released."""
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
Key = tuple[str, str, str]
"""Key of a network: name, device and precision."""
TOO_LARGE = Sentence(
    "over-memory",
    "it needs {weights} and {running} while it runs; the networks may take {limit}",
)
IN_USE = Sentence(
    "memory-in-use",
    "it needs {running} while it runs, and the memory is in use; please try again in a minute",
)


def weight_bytes(spec: ModelSpec, dtype: str = "float32") -> int:
    """Return the bytes of a checkpoint's weights, the masked-LM head included."""
    return (shape_total(spec.architecture) + head_total(spec.architecture)) * BYTES[dtype]


def running_bytes(spec: ModelSpec, dtype: str = "float32", tokens: int = 512) -> int:
    """Return the bytes of one pass besides the weights, by default of the longest text.

    Attentions: 2 A T T float32 numbers a layer, since they are kept after they are computed; hidden
    states: T H a layer and for the embedding; the FFN: 2 T F, of one layer at a time.
    """
    shape, t = spec.architecture, min(spec.architecture.n_positions, tokens)
    attention = 2 * shape.n_layers * shape.n_heads * t * t
    states = (shape.n_layers + 1) * t * shape.d_model + 2 * t * shape.d_ffn
    return attention * 4 + states * BYTES[dtype]


def gigabytes(n_bytes: float) -> str:
    """Return bytes as text: ``1.3 GB``, ``0.06 GB``, ``3.1 MB``."""
    if n_bytes < 1e7:
        return f"{n_bytes / 1e6:.1f} MB"
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e9:.2f} GB"


def too_large(spec: ModelSpec, dtype: str = "float32") -> Sentence | None:
    """Return why a network can never be loaded, with its numbers; None if it can."""
    weights = weight_bytes(spec, dtype)
    running = weights + running_bytes(spec, dtype)
    sizes = {"weights": weights, "running": running, "limit": context().memory_limit}
    numbers = {name: gigabytes(n_bytes) for name, n_bytes in sizes.items()}
    return TOO_LARGE.format(**numbers) if running > context().memory_limit else None


class WeightMemory:
    """Accounting of networks in memory, networks being loaded, and passes in progress.

    A network is used under a lease. A leased network is never evicted, any other can always be,
    whatever else refers to it.
    """

    def __init__(self, lock: "threading.RLock") -> None:
        """Count under ``lock``, which is held whenever the mapping of kept networks is used.

        The lock must be reentrant: a lease is also released when an abandoned iterator is garbage
        collected, which may happen in any thread at any time.
        """
        self._changed = threading.Condition(lock)
        self._loading: dict[Key, threading.Lock] = {}
        self._loading_bytes: Counter[Key] = Counter()
        self._leases: dict[Key, Counter[int]] = {}
        self._forgotten: set[Key] = set()
        self._claims: dict[object, set[Key]] = {}
        self._pass_bytes = 0

    @contextmanager
    def lease(
        self, key: Key, spec: ModelSpec, make: Callable[[], Any], networks: MutableMapping
    ) -> Iterator[Any]:
        """Use the network of a key, built first if it is not kept; not evicted while in use.

        Raises:
            ModelUnavailable: it does not fit beside the networks in use; with the numbers.
        """
        taker = threading.get_ident()
        network = self._take_or_make(key, spec, make, networks)
        try:
            yield network
        finally:
            del network
            self._give_back(key, taker, networks)

    @contextmanager
    def reserve_pass(self, n_bytes: int, networks: MutableMapping) -> Iterator[None]:
        """Count the bytes of a pass while it runs; evict idle networks for it, never wait."""
        with self._changed:
            self._pass_bytes += n_bytes
            evicted = self._evict(0, networks)
        if evicted:
            gc.collect()
        try:
            yield
        finally:
            with self._changed:
                self._pass_bytes -= n_bytes
                self._changed.notify_all()

    def forget(self, matches: Callable[[Key], bool], networks: MutableMapping) -> None:
        """Remove networks: at once, or when the last lease on them is released."""
        with self._changed:
            for key in [key for key in networks if matches(key)]:
                if key in self._leases:
                    self._forgotten.add(key)
                else:
                    del networks[key]
            self._changed.notify_all()

    def used_bytes(self, networks: MutableMapping) -> int:
        """Return the bytes of kept networks, networks being loaded and passes in progress."""
        resident = sum(
            weight_bytes(network.spec, network.dtype) for network in list(networks.values())
        )
        return resident + self._loading_bytes.total() + self._pass_bytes

    def _take_or_make(
        self, key: Key, spec: ModelSpec, make: Callable[[], Any], networks: MutableMapping
    ) -> Any:  # noqa: ANN401
        """Take a lease; of concurrent requests for an absent network, one loads it."""
        end = time.monotonic() + WAIT_S
        with self._changed:
            loading = self._loading.setdefault(key, threading.Lock())
        while (network := self._take(key, networks, end)) is None:
            with loading:
                if key not in networks:  # else another thread has loaded it meanwhile
                    return self._make(key, spec, make, networks, end)
        return network

    def _make(
        self,
        key: Key,
        spec: ModelSpec,
        make: Callable[[], Any],
        networks: MutableMapping,
        end: float,
    ) -> Any:  # noqa: ANN401
        """Reserve memory for a network, load it, and take the first lease."""
        weights = self._reserve(key, spec, networks, end)
        network = None
        try:
            network = make()
        finally:
            with self._changed:
                self._loading_bytes[key] -= weights
                if network is not None:
                    networks[key] = network
                    self._leases.setdefault(key, Counter())[threading.get_ident()] += 1
                self._changed.notify_all()
        return network

    def _take(self, key: Key, networks: MutableMapping, end: float) -> Any:  # noqa: ANN401
        """Lease a network that is kept; None where it is not.

        Waits first for one that is about to be evicted, so that overlapping leases cannot keep it
        for ever; except in a thread that has a lease itself, which others may be waiting for.
        """
        thread = threading.get_ident()
        with self._changed:
            while (
                self._is_being_evicted(key)
                and not any(thread in takers for takers in list(self._leases.values()))
                and (remaining := end - time.monotonic()) > 0
            ):
                self._changed.wait(remaining)
            network = networks.pop(key, None)
            if network is not None:
                networks[key] = network  # now the most recently used
                self._leases.setdefault(key, Counter())[thread] += 1
            return network

    def _is_being_evicted(self, key: Key) -> bool:
        return key in self._forgotten or any(key in claimed for claimed in self._claims.values())

    def _give_back(self, key: Key, thread: int, networks: MutableMapping) -> None:
        with self._changed:
            takers = self._leases[key]
            takers[thread] -= 1
            if not takers[thread]:
                del takers[thread]
            if not takers:
                del self._leases[key]
                was_forgotten = key in self._forgotten
                self._forgotten.discard(key)
                if was_forgotten:
                    networks.pop(key, None)
            self._changed.notify_all()

    def _reserve(self, key: Key, spec: ModelSpec, networks: MutableMapping, end: float) -> int:
        """Make room for a network that is about to be loaded, and count its bytes.

        Raises:
            ModelUnavailable: there was no room until ``end``, or it exceeds the limit.
        """
        if reason := too_large(spec, key[2]):
            raise ModelUnavailable(spec, reason)
        weights = weight_bytes(spec, key[2])
        running = weights + running_bytes(spec, key[2])
        claim, evicted = object(), False
        with self._changed:
            try:
                while True:
                    evicted |= self._evict(running, networks)
                    lacking = self.used_bytes(networks) + running - context().memory_limit
                    if lacking <= 0:
                        break
                    if (remaining := end - time.monotonic()) <= 0:
                        raise ModelUnavailable(spec, IN_USE.format(running=gigabytes(running)))
                    self._claims[claim] = self._to_evict(lacking, networks)
                    self._changed.wait(remaining)
            finally:
                self._claims.pop(claim, None)
                self._changed.notify_all()
            self._loading_bytes[key] += weights
        if evicted:
            gc.collect()
        return weights

    def _evict(self, n_bytes: int, networks: MutableMapping) -> bool:
        """Evict idle networks, the least recently used first, until ``n_bytes`` are free."""
        evicted = False
        for key in list(networks):
            if self.used_bytes(networks) + n_bytes <= context().memory_limit:
                break
            if key not in self._leases:
                del networks[key]
                evicted = True
        if evicted:
            self._changed.notify_all()
        return evicted

    def _to_evict(self, n_bytes: float, networks: MutableMapping) -> set[Key]:
        """Return the networks to evict to free ``n_bytes``, least recently used first."""
        leaving: set[Key] = set()
        for key, network in list(networks.items()):
            if n_bytes <= 0:
                break
            leaving.add(key)
            n_bytes -= weight_bytes(network.spec, network.dtype)
        return leaving
