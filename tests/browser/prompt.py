"""Expectations that are noticed when they come true.

Playwright looks again after 20, 50, 100, 100 and then every 500 ms, as long as the limit is over
2.5 s: with a long limit, each expectation costs a quarter of a second more than what it waits for.
It leaves out every interval that is longer than a fifth of the limit. So each limit is asked for
in parts.
"""

import time

PART_MS = 400
"""The longest interval is then 50 ms."""


def expectations() -> None:
    """Have every ``expect`` of this process look every 50 ms."""
    from playwright._impl.frame import Frame

    if getattr(Frame._expect, "is_prompt", False):
        return
    ask = Frame._expect

    async def in_parts(self, selector, expression, options, title):
        end = time.monotonic() + options["timeout"] / 1000
        while True:
            left = max(1, (end - time.monotonic()) * 1000)
            part = {**options, "timeout": min(PART_MS, left)}
            found = await ask(self, selector, expression, part, title)
            if not found.get("timedOut") or time.monotonic() >= end:
                return found

    in_parts.is_prompt = True
    Frame._expect = in_parts
