"""The threads of this process as the system lists them, and how often each had its turn."""

import threading
from pathlib import Path

import pytest

TASKS = Path("/proc/self/task")
needs_list = pytest.mark.skipif(not TASKS.exists(), reason="only Linux lists threads, in /proc")


def native_threads():
    """The numbers of the threads that are not Python's."""
    own = {str(thread.native_id) for thread in threading.enumerate()}
    return {path.name for path in TASKS.iterdir()} - own


def turns(threads):
    """How often each of these threads has left a processor until now."""
    found = {}
    for thread in threads:
        said = (TASKS / thread / "status").read_text()
        lines = [line.split() for line in said.splitlines() if "ctxt_switches" in line]
        found[thread] = sum(int(count) for _, count in lines)
    return found
