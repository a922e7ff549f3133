"""Timeouts of a connection, and the end of the server."""

import asyncio
import threading
import time
from typing import Any

import h11
from gradio import http_server
from gradio.server_messages import ProcessCompletedMessage
from gradio.tunneling import CURRENT_TUNNELS
from uvicorn.protocols.http.h11_impl import H11Protocol

from explorer import limits

HEAD_S: float = limits.SEND_HEAD.most
"""From the first byte of a request, or from the connection, until its headers are whole."""
BODY_S: float = limits.SEND_BODY.most
"""From there until its body is."""
READ_S: float = limits.READ.most
"""In which a reader must take in what is ready for it; the rest is some 64 KB."""


class TimeoutProtocol(H11Protocol):
    """uvicorn's own, which waits for ever, but for an idle connection."""

    _due: asyncio.TimerHandle | None = None
    _expected: Any = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has come: a request is due."""
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is due any more."""
        self._stop(self._due, self._unread)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A piece of a request."""
        super().data_received(data)
        self._expect()

    def on_response_complete(self) -> None:
        """The next request may have come already, or a part of it."""
        super().on_response_complete()
        if self.conn.their_state is not h11.IDLE:  # uvicorn itself closes what is idle
            self._expect()

    def _expect(self) -> None:
        """Wait so long for what comes next, and not longer where it comes in drops."""
        now = self.conn.their_state
        if now is self._expected and self._due is not None:
            return
        self._stop(self._due)
        self._expected, self._due = now, None
        if limit := {h11.IDLE: HEAD_S, h11.SEND_BODY: BODY_S}.get(now):
            self._due = self.loop.call_later(limit, self.transport.abort)

    def pause_writing(self) -> None:
        """More is ready than the other side has read."""
        super().pause_writing()
        self._unread = self._unread or self.loop.call_later(READ_S, self.transport.abort)

    def resume_writing(self) -> None:
        """It has read."""
        self._stop(self._unread)
        self._unread = None
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, read or unread."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(READ_S, self.transport.abort)

    @staticmethod
    def _stop(*timers: asyncio.TimerHandle | None) -> None:
        for timer in timers:
            if timer is not None:
                timer.cancel()


class TimeoutServer(http_server.Server):
    """Gradio's server with these limits."""

    def __init__(self, config: Any, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
        config.http = TimeoutProtocol
        super().__init__(config, *arguments, **named)


def set_timeouts() -> None:
    """From now on a page that is served waits for nobody longer than this."""
    http_server.Server = TimeoutServer  # type: ignore[misc]


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
