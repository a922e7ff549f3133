"""The heap: what threads have given back is used again, instead of kept by each of them."""

import ctypes
import sys

_ARENA_MAX = -8
"""``M_ARENA_MAX`` of glibc's ``mallopt(3)``."""
MOST_HEAPS = 2


def share_heaps() -> bool:
    """Have all threads share two heaps; whether this machine's C library can.

    glibc gives threads heaps of their own, up to eight for each core, and each keeps what its
    largest answer once needed: a tenth of the memory of a busy page (BENCHMARKS.md). Before the
    first thread is started.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    return bool(mallopt and mallopt(_ARENA_MAX, MOST_HEAPS))
