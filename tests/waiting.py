"""Waiting for something to come true, or to be answered, however busy the machine is."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor


def until(condition, seconds=300, instead=lambda: "it never came true"):
    """Return the value of ``condition()`` as soon as it is true; fail with what is there instead."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, instead()
        time.sleep(0.005)
    return value


def in_its_own_loop(coroutine):
    """Its result, worked out beside the loop that Playwright keeps running in this thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
