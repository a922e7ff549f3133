"""Heaps of the C library: without a bound each thread would have one of its own."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from explorer.timing import memory

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="needs Linux, whose glibc has arenas"
)

COUNTED = """
import ctypes, sys, threading
from explorer.timing.memory import set_arena_limit
if sys.argv[2] == "shared":
    assert set_arena_limit()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.fopen.restype = ctypes.c_void_p, ctypes.c_void_p
everybody = threading.Barrier(8)
def use():
    everybody.wait()
    libc.malloc(1000)
    everybody.wait()
threads = [threading.Thread(target=use) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
file = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""

HOLES = """
import ctypes
from benchmarks.load import held_by
from explorer.timing.memory import trim_heap
import os
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
places = [libc.malloc(20_000) for _ in range(10_000)]
for place in places: ctypes.memset(place, 1, 20_000)
for number, place in enumerate(places):
    if number % 10: libc.free(place)
before, _, _ = held_by(os.getpid())
assert trim_heap()
print(before - held_by(os.getpid())[0])
"""


def heaps(path, way):
    command = [sys.executable, "-c", COUNTED, str(path), way]
    subprocess.run(command, check=True)
    return path.read_text().count("<heap nr=")


@pytest.mark.processes
def test_threads_share_two_heaps(tmp_path):
    assert heaps(tmp_path / "shared", "shared") <= 2
    assert heaps(tmp_path / "own", "own") > 2, "the C library bounds them by itself"


@pytest.mark.processes
def test_what_lies_between_things_in_use_is_returned():
    """200 MB in blocks, of which every tenth stays: the heap cannot shrink from its end."""
    command = [sys.executable, "-c", HOLES]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(done.stdout) > 100


def test_heaps_are_tidied_from_time_to_time_and_never_while_something_is_timed(monkeypatch):
    tidied, slept = [], iter([None, None])

    def sleep(seconds):
        assert seconds == memory.EVERY_S
        next(slept)

    monkeypatch.setattr(memory, "time", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(
        memory, "trim_heap", lambda: tidied.append(memory.MEASUREMENT_LOCK._running)
    )
    with pytest.raises(StopIteration):
        memory._trim_periodically()
    assert tidied == [1, 1], "holding a share of the machine, for which a measurement waits"
