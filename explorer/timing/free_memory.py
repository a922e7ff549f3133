"""How much memory this process can still take: the machine's, its container's, its own limit's."""

import sys
from pathlib import Path

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
