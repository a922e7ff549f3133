"""Networks in memory, within a budget: the least recently used leave, one too large is refused."""

import gc
import sys
import threading
import time
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from weakref import WeakSet

from explorer.models.choice.counts import head_total, shape_total
from explorer.models.hub import ModelUnavailable
from explorer.models.specs import ModelSpec

LIMIT: list[float] = [float("inf")]
"""Bytes that the networks may take together; whoever starts the program sets it."""
WAIT_S = 20.0
"""How long a network that must leave may still finish what it is doing."""
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
Key = tuple[str, str, str]
"""A network: its name, device and precision."""
TOO_LARGE = "it needs {weights} and {running} while it runs; the networks may take {limit}"
IN_USE = "it needs {running} while it runs, and the memory is in use; please try again in a minute"


def weight_bytes(spec: ModelSpec, dtype: str = "float32") -> int:
    """Bytes of a checkpoint's weights, the masked-LM head included."""
    return (shape_total(spec.architecture) + head_total(spec.architecture)) * BYTES[dtype]


def running_bytes(spec: ModelSpec, dtype: str = "float32", tokens: int = 512) -> int:
    """Bytes that a pass takes besides, by default of the longest text: all it looks at and says.

    A T T float32 numbers a layer twice, since they are kept after they are made; T H a layer, T F
    once.
    """
    shape, t = spec.architecture, min(spec.architecture.n_positions, tokens)
    attention = 2 * shape.n_layers * shape.n_heads * t * t
    states = (shape.n_layers + 1) * t * shape.d_model + 2 * t * shape.d_ffn
    return attention * 4 + states * BYTES[dtype]


def gigabytes(n_bytes: float) -> str:
    """``1.3 GB``, ``0.06 GB``, ``3.1 MB``."""
    if n_bytes < 1e7:
        return f"{n_bytes / 1e6:.1f} MB"
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e9:.2f} GB"


def too_large(spec: ModelSpec, dtype: str = "float32") -> str:
    """Why a network can never be here, with its numbers; empty if it can."""
    weights = weight_bytes(spec, dtype)
    running = weights + running_bytes(spec, dtype)
    said = {"weights": weights, "running": running, "limit": LIMIT[-1]}
    numbers = {name: gigabytes(n_bytes) for name, n_bytes in said.items()}
    return TOO_LARGE.format(**numbers) if running > LIMIT[-1] else ""


class Room:
    """What the networks take: those kept, those on their way in or out, and passes under way.

    ``lock`` is held whenever the mapping of those kept is read or changed.
    """

    def __init__(self, lock: threading.Lock) -> None:
        self._coming: dict[Key, int] = {}
        self._passes = 0
        self._leaving: WeakSet = WeakSet()
        self._lock = lock

    @contextmanager
    def for_one_more(self, spec: ModelSpec, key: Key, kept: MutableMapping) -> Iterator[None]:
        """Room for a network while it is loaded, and afterwards as one of those kept.

        Raises:
            ModelUnavailable: it does not fit beside what is in use; says the numbers.
        """
        if said := too_large(spec, key[2]):
            raise ModelUnavailable(spec, said)
        weights, running = weight_bytes(spec, key[2]), running_bytes(spec, key[2])
        self._wait(spec, key, weights, running, kept)
        try:
            yield
        finally:
            with self._lock:
                del self._coming[key]

    @contextmanager
    def for_a_pass(self, n_bytes: int, kept: MutableMapping) -> Iterator[None]:
        """Room for what a pass takes while it runs: idle networks leave, and nobody waits."""
        with self._lock:
            self._passes += n_bytes
            self._let_go(0, kept, (True,))
        try:
            yield
        finally:
            with self._lock:
                self._passes -= n_bytes

    def _wait(
        self, spec: ModelSpec, key: Key, weights: int, running: int, kept: MutableMapping
    ) -> None:
        end = time.monotonic() + WAIT_S
        while True:
            with self._lock:
                self._let_go(weights + running, kept)
                if self.taken(kept) + weights + running <= LIMIT[-1]:
                    self._coming[key] = weights
                    return
            if time.monotonic() > end:
                said = IN_USE.format(running=gigabytes(weights + running))
                raise ModelUnavailable(spec, said)
            time.sleep(0.05)

    def taken(self, kept: MutableMapping) -> int:
        """Bytes of all there are; a network that left counts until nobody uses it any more."""
        networks = {*kept.values(), *self._leaving}
        there = sum(weight_bytes(one.spec, one.dtype) for one in networks)
        return there + self._expected(kept)

    def _expected(self, kept: MutableMapping) -> int:
        """Bytes of passes under way and of networks on their way in: one that is kept is in."""
        coming = sum(n_bytes for key, n_bytes in self._coming.items() if key not in kept)
        return coming + self._passes

    def _let_go(
        self, n_bytes: int, kept: MutableMapping, only_idle: tuple[bool, ...] = (True, False)
    ) -> None:
        """Forget the least recently used, idle ones first, until so many bytes are free."""
        expected = n_bytes + self._expected(kept)
        for idle_only in only_idle:
            for key in list(kept):
                staying = sum(weight_bytes(one.spec, one.dtype) for one in kept.values())
                if staying + expected <= LIMIT[-1]:
                    break
                # The mapping, this function's argument and getrefcount's own: nobody else has it.
                if idle_only and sys.getrefcount(kept[key]) > 2:
                    continue
                self._leaving.add(kept.pop(key))
        if self._leaving:
            gc.collect()
