"""Waiting for something to come true, however busy the machine is."""

import time


def until(condition, seconds=300):
    """Come back with the value of ``condition()`` as soon as it is true."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.005)
    return value
