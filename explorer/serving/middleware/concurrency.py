"""Middleware that counts open streams and limits concurrent requests outside the queue."""

import asyncio
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer import limits
from explorer.limits import Limit
from explorer.serving.middleware.waiting_room import NO_ADDRESS, Sender, WaitingRoom, account_of

_OF_CALL = re.compile(r"/gradio_api/call/[^/]+/([^/]+)$")
CALLS = "/gradio_api/call/"
_OF_PAGE = "/gradio_api/queue/data"
_LAST = b'"close_stream"'
"""Marker in the last message of a page's stream; the browser closes the connection after it."""


class Listener:
    """Client of one stream; ``has_left`` is true if it disconnected before the last message."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self.has_left = self._is_answered = False

    async def receive(self) -> Message:
        """Return the next message of the client, and record a disconnect."""
        message = await self._receive()
        self.has_left |= message["type"] == "http.disconnect" and not self._is_answered
        return message

    async def send(self, message: Message) -> None:
        """Send a message to the client, and record the last one."""
        if message["type"] == "http.response.body":
            self._is_answered |= not message.get("more_body") or _LAST in message.get("body", b"")
        await self._send(message)


class StreamTracker:
    """Middleware that tells the waiting room which sessions have an open stream."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a stream while it is open; refuse programs' requests when the queue is full."""
        if refusal := refusal_of(scope):
            await JSONResponse({"detail": refusal}, 429)(scope, receive, send)
            return
        session = heard_session(scope)
        if not session:
            await self.app(scope, receive, send)
            return
        room = room_of(scope)
        room.stream_opened(session)
        listener = Listener(receive, send)
        try:
            await self.app(scope, listener.receive, listener.send)
        finally:
            room.listening[session] -= 1
            if not room.listening[session]:
                del room.listening[session]
                if listener.has_left:
                    room.end(session)


def room_of(scope: Scope) -> WaitingRoom:
    """Return the waiting room of the page that a request is for."""
    return scope["app"].get_blocks()._queue


def refusal_of(scope: Scope) -> str:
    """Return why a program's request is refused before its body is read, or an empty string.

    The queue would refuse it too, but only after the more expensive parsing.
    """
    if scope["type"] != "http" or scope["method"] != "POST" or not _path(scope).startswith(CALLS):
        return ""
    host = scope["client"][0] if scope.get("client") else NO_ADDRESS
    return room_of(scope).refusal(Sender(account_of(host), session="", is_program=True))


def _path(scope: Scope) -> str:
    return str(scope["path"]).removeprefix(scope.get("root_path", ""))


def heard_session(scope: Scope) -> str:
    """Return the session whose stream a request opens; empty if it opens none."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return ""
    path = _path(scope)
    if path == _OF_PAGE:
        return parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [""])[0]
    if match := _OF_CALL.match(path):
        event = room_of(scope).event_ids_to_events.get(match[1])
        return event.session_hash if event else ""
    return ""


@dataclass(eq=False, slots=True)
class RouteLimits:
    """Limits of one route: requests at once, and requests that wait."""

    at_once: Limit
    max_waiting: Limit
    waiting: int = 0
    free: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.free = asyncio.Semaphore(self.at_once.maximum)

    @property
    def is_full(self) -> bool:
        """The flag that no further request may wait."""
        return self.waiting >= self.max_waiting.maximum


class ConcurrencyLimiter:
    """Middleware that limits the concurrent requests of costly routes outside Gradio's queue.

    A page is 400 KB of freshly rendered HTML; a picture's request may run a text.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.limits = {
            ("GET", "/"): RouteLimits(limits.PAGES_AT_ONCE, limits.PAGES_WAITING),
            ("POST", "/gradio_api/component_server"): RouteLimits(
                limits.PICTURES_AT_ONCE, limits.PICTURES_WAITING
            ),
            # Only until they are in the queue: a burst must not keep visitors out of it.
            ("POST", "/gradio_api/call"): RouteLimits(limits.POSTS_AT_ONCE, limits.POSTS_WAITING),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on when a slot is free, or refuse it if too many wait."""
        route_limits = self.limits.get((scope.get("method", ""), _route_prefix(scope)))
        if route_limits is None:
            await self.app(scope, receive, send)
            return
        if not route_limits.is_full and scope["method"] == "POST":
            # The body is read first: a slow sender must not hold a slot.
            receive = await whole_body(receive)
        # Others may have come meanwhile.
        if route_limits.is_full:
            sentence = route_limits.max_waiting.sentence(n=route_limits.waiting)
            await JSONResponse({"detail": sentence}, 429)(scope, receive, send)
            return
        await self._run_when_free(route_limits, scope, receive, send)

    async def _run_when_free(
        self, route_limits: RouteLimits, scope: Scope, receive: Receive, send: Send
    ) -> None:
        route_limits.waiting += 1
        try:
            await route_limits.free.acquire()
        finally:
            route_limits.waiting -= 1
        has_slot = True

        def release() -> None:
            nonlocal has_slot
            if has_slot:
                route_limits.free.release()
            has_slot = False

        async def answer(message: Message) -> None:
            # The work is done: a slow reader must not hold a slot.
            release()
            await send(message)

        try:
            await self.app(scope, receive, answer)
        finally:
            release()


async def whole_body(receive: Receive) -> Receive:
    """Read the body of a request to its end and return a ``receive`` that replays it.

    The request filter has checked its length before.
    """
    parts = [await receive()]
    while parts[-1].get("more_body", False):
        parts.append(await receive())

    async def again() -> Message:
        return parts.pop(0) if parts else await receive()

    return again


def _route_prefix(scope: Scope) -> str:
    """Return the first two segments of a request's path, without a proxy's path before it."""
    path = str(scope.get("path", "")).removeprefix(str(scope.get("root_path", "")).rstrip("/"))
    return "/".join(path.rstrip("/").split("/")[:3]) or "/"
