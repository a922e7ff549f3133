"""Native threads of this process and their context switches, from the operating system."""

import threading
from pathlib import Path

import pytest

TASKS = Path("/proc/self/task")
needs_list = pytest.mark.skipif(not TASKS.exists(), reason="needs Linux, whose /proc lists threads")


def native_threads():
    """Return the ids of the threads that are not Python's."""
    own = {str(thread.native_id) for thread in threading.enumerate()}
    return {path.name for path in TASKS.iterdir()} - own


def context_switches(threads):
    """Return the number of context switches of each thread so far."""
    switches = {}
    for thread in threads:
        if not (TASKS / thread).exists():
            continue
        status = (TASKS / thread / "status").read_text()
        lines = [line.split() for line in status.splitlines() if "ctxt_switches" in line]
        switches[thread] = sum(int(count) for _, count in lines)
    return switches
