"""Timeouts of a connection: its request has to arrive, and its response to be read."""

import asyncio
from typing import Any

import h11
from gradio import http_server
from uvicorn.protocols.http.h11_impl import H11Protocol

from explorer import limits

HEAD_S: float = limits.SEND_HEAD.most
"""Seconds from the connection, or a request's first byte, until its headers are complete."""
BODY_S: float = limits.SEND_BODY.most
"""Seconds from then until its body is complete."""
READ_S: float = limits.READ.most
"""Seconds in which a client must read the data sent to it, down to some 64 KB."""


class TimeoutProtocol(H11Protocol):
    """uvicorn's HTTP protocol with read and write timeouts; uvicorn has one for idle ones only."""

    _due: asyncio.TimerHandle | None = None
    _expected: Any = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout of the first request."""
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel all timeouts."""
        self._stop(self._due, self._unread)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle received bytes, then update the timeout."""
        super().data_received(data)
        self._expect()

    def on_response_complete(self) -> None:
        """Start the timeout of the next request if a part of it has arrived already."""
        super().on_response_complete()
        if self.conn.their_state is not h11.IDLE:  # uvicorn itself closes idle connections
            self._expect()

    def _expect(self) -> None:
        """Start the timeout of the client's next state; bytes that trickle in do not extend it."""
        state = self.conn.their_state
        if state is self._expected and self._due is not None:
            return
        self._stop(self._due)
        self._expected, self._due = state, None
        if limit := {h11.IDLE: HEAD_S, h11.SEND_BODY: BODY_S}.get(state):
            self._due = self.loop.call_later(limit, self.transport.abort)

    def pause_writing(self) -> None:
        """Start the read timeout: the write buffer is full because the client does not read."""
        super().pause_writing()
        self._unread = self._unread or self.loop.call_later(READ_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the read timeout: the client has caught up."""
        self._stop(self._unread)
        self._unread = None
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; abort it after READ_S even if the client has not read all."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(READ_S, self.transport.abort)

    @staticmethod
    def _stop(*timers: asyncio.TimerHandle | None) -> None:
        for timer in timers:
            if timer is not None:
                timer.cancel()


class TimeoutServer(http_server.Server):
    """Gradio's server with these timeouts."""

    def __init__(self, config: Any, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
        config.http = TimeoutProtocol
        super().__init__(config, *arguments, **named)
