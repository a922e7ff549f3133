"""Heaps of the C library: without a bound each thread would have one of its own."""

import subprocess
import sys

import pytest

COUNTED = """
import ctypes, sys, threading
from explorer.timing.heap import share_heaps
if sys.argv[2] == "shared":
    assert share_heaps()
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


def heaps(path, way):
    command = [sys.executable, "-c", COUNTED, str(path), way]
    subprocess.run(command, check=True, timeout=60)
    return path.read_text().count("<heap nr=")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's own way")
def test_threads_share_two_heaps(tmp_path):
    assert heaps(tmp_path / "shared", "shared") <= 2
    assert heaps(tmp_path / "own", "own") > 2, "the C library bounds them by itself"
