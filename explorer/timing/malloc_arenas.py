"""The heap: what threads have given back is used again, and in the end returned to the machine.

glibc gives threads heaps of their own, up to eight for each core, and keeps every page on which
anything is still in use: an eighth of the memory of a busy page was nobody's (BENCHMARKS.md).
"""

import ctypes
import sys
import threading
import time

from explorer.inference.scheduling.measurement_lock import MEASUREMENT_LOCK

MOST_HEAPS = 2
EVERY_S = 60.0
_ARENA_MAX = -8
"""``M_ARENA_MAX`` of ``mallopt(3)``."""


def limit_arenas() -> None:
    """Bound the heaps, before the first thread is started, and tidy them from time to time."""
    if share_heaps():
        threading.Thread(target=_tidy, daemon=True, name="tidy").start()


def share_heaps() -> bool:
    """Have all threads share two heaps; whether this machine's C library can."""
    mallopt = _glibc("mallopt")
    return bool(mallopt and mallopt(_ARENA_MAX, MOST_HEAPS))


def give_back() -> bool:
    """Return what nobody uses, in the middle of a heap too; whether there was anything."""
    trim = _glibc("malloc_trim")
    return bool(trim and trim(0))


def _tidy() -> None:
    while True:
        time.sleep(EVERY_S)
        with MEASUREMENT_LOCK.infer():  # never while something is timed
            give_back()


def _glibc(name: str) -> "ctypes._NamedFuncPointer | None":
    """A function of the C library; other systems have none of these, nor has musl."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), name, None)
