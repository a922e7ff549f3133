"""Shutdown of the server: running requests end in time, waiting ones get a message."""

import asyncio
import threading
import time
from typing import Any

from gradio.server_messages import ProcessCompletedMessage
from gradio.tunneling import CURRENT_TUNNELS

from explorer import limits

CLOSING = threading.Event()
"""Set once the server is shutting down."""
TOLD_S = 0.5
"""Seconds for the last messages to reach the clients."""
_loop: asyncio.AbstractEventLoop | None = None


def remember_loop() -> None:
    """Keep the running event loop as the one that serves the page."""
    global _loop
    _loop = asyncio.get_running_loop()


def serving_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that serves the page; None before the start."""
    return _loop


def close(page: Any) -> None:  # noqa: ANN401 - Gradio's Blocks
    """Shut down: refuse waiting requests, let running ones finish in time, then tell the rest."""
    CLOSING.set()
    queue, deadline = page._queue, time.monotonic() + limits.STOPPING.maximum
    _tell(queue, waiting_in(queue))
    while running_in(queue) and time.monotonic() < deadline:
        time.sleep(0.05)
    if running := running_in(queue):
        _tell(queue, running)
    time.sleep(TOLD_S)
    for tunnel in CURRENT_TUNNELS:
        tunnel.kill()


def waiting_in(queue: Any) -> list[Any]:  # noqa: ANN401 - Gradio's
    """Return the requests that wait in the queue."""
    return [event for line in queue.event_queue_per_concurrency_id.values() for event in line.queue]


def running_in(queue: Any) -> list[Any]:  # noqa: ANN401 - Gradio's
    """Return the requests that are running."""
    return [event for job in queue.active_jobs if job for event in job]


def _tell(queue: Any, events: list[Any]) -> None:  # noqa: ANN401 - Gradio's
    """End requests with the message that the server is stopping."""

    def say() -> None:
        for event in events:
            message = ProcessCompletedMessage(
                output={"error": limits.STOPPING.sentence()}, success=False
            )
            line = queue.event_queue_per_concurrency_id[event.concurrency_id].queue
            if event in line:
                line.remove(event)
            queue.send_message(event, message)
            event.alive = False

    if _loop is not None:
        _loop.call_soon_threadsafe(say)
