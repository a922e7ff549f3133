"""What this machine can do at best: arithmetic on large products, reading from memory and cache."""

import time
from collections.abc import Callable

import torch

from explorer.models.devices import kind_of
from explorer.models.loading import DTYPES
from explorer.timing.protocol import stopwatch, thread_width
from explorer.timing.workload import Workload

GEMM_SIZE = {"cpu": 1024, "cuda": 8192}
OTHER_SIZE = 2048
GEMM_TRIES = 5
READ_TRIES = 5
BURSTS = 3
PAUSE_S = 0.2
"""Between bursts: a neighbour that is busy for a moment slows one of them, seldom all."""
_best: dict[tuple[object, ...], float] = {}
"""The best that was ever seen here, by what was measured."""


def peak_flops(device: str, dtype: str, clock: str) -> float:
    """Operations per second of a large square matrix product: the best that was ever seen here."""
    size = GEMM_SIZE.get(kind_of(device), OTHER_SIZE)
    a = torch.ones(size, size, device=device, dtype=DTYPES[dtype])
    out = torch.empty_like(a)
    seconds = best_seconds(lambda: torch.mm(a, a, out=out), (device, clock), GEMM_TRIES)
    return best_ever(("product", device, dtype, clock), 2 * size**3 / seconds)


def read_bandwidth(n_bytes: int, device: str, clock: str) -> float:
    """Bytes per second when numbers that fill so many bytes are read again and again.

    The best that was ever seen for just so many bytes: a reading that a neighbour disturbed is
    not kept, it is beaten by the next.
    """
    numbers = torch.ones(max(n_bytes // 4, 1), device=device)
    repeats = max(1, 2**25 // max(n_bytes, 1))

    def read() -> None:
        for _ in range(repeats):
            numbers.sum()

    seconds = best_seconds(read, (device, clock), READ_TRIES)
    return best_ever(("read", n_bytes, device, clock), repeats * numbers.numel() * 4 / seconds)


def best_ever(what: tuple[object, ...], rate: float) -> float:
    """The larger of a rate and all that were measured of the same before."""
    _best[what] = max(rate, _best.get(what, 0.0))
    return _best[what]


def best_seconds(call: Callable[[], object], where: tuple[str, str], tries: int) -> float:
    """The shortest of several bursts: a limit is what the machine can do undisturbed."""
    device, clock = where
    timed = stopwatch(Workload(device=device, clock=clock))
    with thread_width(clock), torch.inference_mode():
        shortest = float("inf")
        for burst in range(BURSTS):
            time.sleep(PAUSE_S if burst else 0)
            call()
            shortest = min(shortest, *(timed(call) for _ in range(tries)))
        return shortest
