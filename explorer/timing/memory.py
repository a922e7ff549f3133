"""Memory: what this process can still take, and giving back what is free."""

import ctypes
import sys
import threading
import time
from pathlib import Path

from explorer.inference.scheduling.measurement_lock import MEASUREMENT_LOCK

MEMORY_INFO = Path("/proc/meminfo")
OWN_SIZE = Path("/proc/self/statm")
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
CGROUP_USED = Path("/sys/fs/cgroup/memory.current")
NEEDED = 0.45e9
"""Bytes without which the bundled family cannot be loaded."""
SHORT = 1e9
"""Bytes under which answers may fail for want of them."""
SHARE = 0.6
"""Of the machine's memory, for the networks."""


def limit_memory(gigabytes: float | None = None) -> None:
    """What the networks of this process may take together; by default 60% of the memory."""
    from explorer.models.choice import memory

    memory.LIMIT[-1] = SHARE * whole() if gigabytes is None else gigabytes * 1e9


def free_memory(least: float = 4e9) -> float:
    """Bytes that can still be taken; ``least`` where the machine does not say."""
    known = (machines_room(), containers_room(), own_room())
    return min((float(one) for one in known if one is not None), default=least)


def whole(least: float = 4e9) -> float:
    """Bytes of the machine's memory, or of its container's where that is less."""
    limit = line_of(CGROUP_LIMIT)
    known = (memory_line("MemTotal"), int(limit) if limit and limit.isdigit() else None)
    return min((float(one) for one in known if one), default=least)


def is_short() -> bool:
    """Whether there is so little memory that it, and no text, is what answers fail for."""
    return free_memory() < SHORT


def machines_room() -> int | None:
    """What the machine can give without pushing anybody out."""
    return memory_line("MemAvailable")


def containers_room() -> int | None:
    """What the container may still take."""
    limit, used = (line_of(path) for path in (CGROUP_LIMIT, CGROUP_USED))
    both = limit and used and limit.isdigit() and used.isdigit()
    return int(limit) - int(used) if limit and used and both else None


def own_room() -> int | None:
    """What the process may still reserve (``ulimit -v``)."""
    if sys.platform == "win32":
        return None
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    size = line_of(OWN_SIZE)
    if most == resource.RLIM_INFINITY or not size:
        return None
    return most - int(size.split()[0]) * resource.getpagesize()


def memory_line(name: str) -> int | None:
    """One line of the machine's account, in bytes."""
    text = MEMORY_INFO.read_text() if MEMORY_INFO.exists() else ""
    lines = [line.split() for line in text.splitlines() if line.startswith(f"{name}:")]
    return int(lines[0][1]) * 1024 if lines else None


def line_of(path: Path) -> str | None:
    """What a file of the system says; None where there is none."""
    try:
        return path.read_text().strip()
    except OSError:
        return None


def resident_bytes() -> int | None:
    """Memory of this process that is in the machine now."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    line = next((line for line in status.splitlines() if line.startswith("VmRSS")), "")
    return int(line.split()[1]) * 1024 if line else None


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


# Else the profiler's library writes lines of its own to the log whenever it starts and stops.
