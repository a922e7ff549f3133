"""The end: no new question is taken, what is being answered has a moment, who waits is told."""

import asyncio
import threading
import time
from typing import Any

from gradio.server_messages import ProcessCompletedMessage
from gradio.tunneling import CURRENT_TUNNELS

from explorer import limits

CLOSING = threading.Event()
TOLD_S = 0.5
"""The last words need so long to reach those who wait."""
LOOP: list[asyncio.AbstractEventLoop] = []
"""Where the page is served."""


def close(page: Any) -> None:  # noqa: ANN401 - Gradio's Blocks
    """Come to an end that nobody has to guess at; the program may be left afterwards."""
    CLOSING.set()
    queue, ends = page._queue, time.monotonic() + limits.STOPPING.most
    _tell(queue, waiting_in(queue))
    while running_in(queue) and time.monotonic() < ends:
        time.sleep(0.05)
    if LOOP and (running := running_in(queue)):
        _tell(queue, running)
    time.sleep(TOLD_S)
    for tunnel in CURRENT_TUNNELS:
        tunnel.kill()


def waiting_in(queue: Any) -> list[Any]:  # noqa: ANN401 - Gradio's
    """The questions whose turn has not come."""
    return [event for line in queue.event_queue_per_concurrency_id.values() for event in line.queue]


def running_in(queue: Any) -> list[Any]:  # noqa: ANN401 - Gradio's
    """The questions that are being answered."""
    return [event for job in queue.active_jobs if job for event in job]


def _tell(queue: Any, events: list[Any]) -> None:  # noqa: ANN401 - Gradio's
    """Say to those who wait that there will be no answer."""

    def say() -> None:
        for event in events:
            said = ProcessCompletedMessage(
                output={"error": limits.STOPPING.sentence()}, success=False
            )
            line = queue.event_queue_per_concurrency_id[event.concurrency_id].queue
            if event in line:
                line.remove(event)
            if event.session_hash in queue.pending_messages_per_session:
                queue.send_message(event, said)
            event.alive = False

    if LOOP:
        LOOP[-1].call_soon_threadsafe(say)
