"""What this machine can do at best: arithmetic on large products, reading from memory and cache."""

from collections.abc import Callable
from functools import lru_cache

import torch

from explorer.models.loading import DTYPES
from explorer.timing.protocol import stopwatch, thread_width
from explorer.timing.workload import Workload

GEMM_SIZE = {"cpu": 1024, "cuda": 8192, "mps": 2048}
GEMM_TRIES = 15
READ_TRIES = 9
Check = Callable[[], None]


@lru_cache(maxsize=32)
def peak_flops(device: str, dtype: str, clock: str) -> float:
    """Operations per second of a large square matrix product: the best of many tries."""
    size = GEMM_SIZE[device]
    a = torch.ones(size, size, device=device, dtype=DTYPES[dtype])
    out = torch.empty_like(a)
    seconds = best_seconds(lambda: torch.mm(a, a, out=out), (device, clock), GEMM_TRIES)
    return 2 * size**3 / seconds


@lru_cache(maxsize=64)
def read_bandwidth(n_bytes: int, device: str, clock: str) -> float:
    """Bytes per second when numbers that fill so many bytes are read again and again."""
    numbers = torch.ones(max(n_bytes // 4, 1), device=device)
    repeats = max(1, 2**25 // max(n_bytes, 1))

    def read() -> None:
        for _ in range(repeats):
            numbers.sum()

    seconds = best_seconds(read, (device, clock), READ_TRIES)
    return repeats * numbers.numel() * 4 / seconds


def best_seconds(call: Callable[[], object], where: tuple[str, str], tries: int) -> float:
    """The shortest of several timings: a limit is what the machine can do undisturbed."""
    device, clock = where
    timed = stopwatch(Workload(device=device, clock=clock))
    with thread_width(clock), torch.inference_mode():
        call()
        return min(timed(call) for _ in range(tries))
