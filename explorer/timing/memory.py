"""Memory that this process can still allocate, and release of free memory to the system."""

import ctypes
import sys
import threading
import time
from pathlib import Path

from explorer.context import configure
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK

MEMORY_INFO = Path("/proc/meminfo")
OWN_SIZE = Path("/proc/self/statm")
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
CGROUP_USED = Path("/sys/fs/cgroup/memory.current")
CGROUP_STAT = Path("/sys/fs/cgroup/memory.stat")
NEEDED = 0.45e9
"""Minimum bytes to load the bundled family."""
SHORT = 1e9
"""Bytes under which answers may fail for lack of memory."""
SHARE = 0.6
"""Share of the machine's memory for the networks."""


def limit_memory(gigabytes: float | None = None) -> None:
    """Set the memory limit of all networks together; by default 60% of the memory."""
    configure(memory_limit=SHARE * total_memory() if gigabytes is None else gigabytes * 1e9)


def free_memory(default: float = 4e9) -> float:
    """Return the bytes that can still be allocated; ``default`` where the system does not say."""
    known = (memory_line("MemAvailable"), container_available(), process_available())
    return min((float(value) for value in known if value is not None), default=default)


def total_memory(default: float = 4e9) -> float:
    """Return the bytes of the machine's memory, or of its container's where that is less."""
    limit = read_system_file(CGROUP_LIMIT)
    known = (memory_line("MemTotal"), int(limit) if limit and limit.isdigit() else None)
    return min((float(value) for value in known if value), default=default)


def is_short() -> bool:
    """Return whether free memory is so low that it, not the text, explains a failure."""
    return free_memory() < SHORT


def container_available() -> int | None:
    """Return the bytes that the container may still allocate.

    The kernel counts pages of files as used, and drops the inactive ones where memory is needed.
    """
    limit, used = (read_system_file(path) for path in (CGROUP_LIMIT, CGROUP_USED))
    both = limit and used and limit.isdigit() and used.isdigit()
    if not (limit and used and both):
        return None
    lines = map(str.split, (read_system_file(CGROUP_STAT) or "").splitlines())
    reclaimable = next((int(line[1]) for line in lines if line[0] == "inactive_file"), 0)
    return int(limit) - int(used) + reclaimable


def process_available() -> int | None:
    """Return the bytes that the process may still reserve (``ulimit -v``)."""
    if sys.platform == "win32":
        return None
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    size = read_system_file(OWN_SIZE)
    if limit == resource.RLIM_INFINITY or not size:
        return None
    return limit - int(size.split()[0]) * resource.getpagesize()


def memory_line(name: str) -> int | None:
    """Return one line of ``/proc/meminfo``, in bytes."""
    text = MEMORY_INFO.read_text() if MEMORY_INFO.exists() else ""
    lines = [line.split() for line in text.splitlines() if line.startswith(f"{name}:")]
    return int(lines[0][1]) * 1024 if lines else None


def read_system_file(path: Path) -> str | None:
    """Return the content of a system file; None where it cannot be read."""
    try:
        return path.read_text().strip()
    except OSError:
        return None


def resident_bytes(process: int | str = "self") -> int | None:
    """Return the resident memory of this or another process in bytes; None where unknown."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return None
    line = next((line for line in status.splitlines() if line.startswith("VmRSS")), "")
    return int(line.split()[1]) * 1024 if line else None


MAX_HEAPS = 2
EVERY_S = 60.0
_ARENA_MAX = -8
"""``M_ARENA_MAX`` of ``mallopt(3)``."""


def limit_arenas() -> None:
    """Limit the malloc arenas before the first thread starts, and trim them periodically."""
    if set_arena_limit():
        threading.Thread(target=_trim_periodically, daemon=True, name="tidy").start()


def set_arena_limit() -> bool:
    """Limit all threads to two malloc arenas; return whether the C library supports it."""
    mallopt = _glibc("mallopt")
    return bool(mallopt and mallopt(_ARENA_MAX, MAX_HEAPS))


def trim_heap() -> bool:
    """Release free heap memory, not only at the top of the heap; return whether there was any."""
    trim = _glibc("malloc_trim")
    return bool(trim and trim(0))


def _trim_periodically() -> None:
    while True:
        time.sleep(EVERY_S)
        with MEASUREMENT_LOCK.infer():  # never while something is timed
            trim_heap()


def _glibc(name: str) -> "ctypes._NamedFuncPointer | None":
    """Return a function of glibc, or None: other systems and musl lack these functions."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), name, None)
