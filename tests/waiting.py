"""Helpers that wait for a condition or a result, however busy the machine is."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor


def until(condition, seconds=300, instead=lambda: "it never came true"):
    """Return the value of ``condition()`` once it is true; after the timeout fail with a note."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, instead()
        time.sleep(0.005)
    return value


def in_its_own_loop(coroutine):
    """Return a coroutine's result from another thread, since Playwright's loop runs in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
