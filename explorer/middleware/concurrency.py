"""Middleware that counts open streams and limits concurrent requests outside the queue."""

import asyncio
import re
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer import limits
from explorer.limits import Limit
from explorer.middleware.validation import replayed
from explorer.middleware.waiting_room import (
    NO_ADDRESS,
    Sender,
    WaitingRoom,
    account_of,
    beyond_share,
)

LEFT = "explorer.left"
"""Key of the ASGI scope for the event that is set when the client of a request has left."""
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
class Place:
    """Place of a request that waits for a slot or has one, and whether its client has left."""

    address: str
    left: asyncio.Event = field(default_factory=asyncio.Event)
    _decided: asyncio.Event = field(default_factory=asyncio.Event)

    def grant(self) -> None:
        """Give the request a slot."""
        self._decided.set()

    async def watch(self, receive: Receive) -> None:
        """Wait until the client has left; its body has been read before."""
        while (await receive())["type"] != "http.disconnect":
            await asyncio.sleep(0)
        self.left.set()
        self._decided.set()

    async def receive(self) -> Message:
        """Return what follows the body, once the client has left."""
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def wait(self) -> None:
        """Wait for a slot.

        Raises:
            ClientDisconnect: the client has left before.
        """
        await self._decided.wait()
        if self.left.is_set():
            raise ClientDisconnect


@dataclass(eq=False, slots=True)
class RouteLimits:
    """Requests of one route that run and wait, and their limits."""

    at_once: Limit
    max_waiting: Limit
    of_address: Limit | None = None
    """Limit on the requests of one address that run at once."""
    waiting: list[Place] = field(default_factory=list)
    running: list[Place] = field(default_factory=list)

    def refusal(self, address: str) -> str:
        """Return why a request of an address may not wait, or an empty string."""
        refused = beyond_share(self.max_waiting, address, [place.address for place in self.waiting])
        return refused[0].sentence(n=refused[1]) if refused else ""

    def enter(self, address: str) -> Place:
        """Let a request wait; it is granted a slot at once if one is free."""
        self.waiting.append(place := Place(address))
        self._grant()
        return place

    def leave(self, place: Place) -> None:
        """Free what a request holds, its slot or its place; nothing if that is free already."""
        if place in self.running:
            self.running.remove(place)
        elif place in self.waiting:
            self.waiting.remove(place)
        self._grant()

    def _grant(self) -> None:
        """Grant free slots: the address with the fewest goes first, then the oldest request."""
        most = (self.of_address or self.at_once).maximum
        while len(self.running) < self.at_once.maximum:
            held = Counter(place.address for place in self.running)
            allowed = [place for place in self.waiting if held[place.address] < most]
            if not allowed:
                break
            place = min(allowed, key=lambda place: held[place.address])
            self.waiting.remove(place)
            self.running.append(place)
            place.grant()


class ConcurrencyLimiter:
    """Middleware that limits the concurrent requests of costly routes outside Gradio's queue.

    A page is 400 KB of freshly rendered HTML; a picture's request may run a text.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.limits = {
            ("GET", "/"): RouteLimits(limits.PAGES_AT_ONCE, limits.PAGES_WAITING),
            ("POST", "/gradio_api/component_server"): RouteLimits(
                limits.PICTURES_AT_ONCE, limits.PICTURES_WAITING, limits.PICTURES_OF_ADDRESS
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
        address = account_of(scope["client"][0] if scope.get("client") else NO_ADDRESS)
        body: list[Message] = []
        if not route_limits.refusal(address):
            # The body is read first: a slow sender must not hold a slot.
            body = await whole_body(receive)
        # Others may have come meanwhile.
        if refusal := route_limits.refusal(address):
            await JSONResponse({"detail": refusal}, 429)(scope, receive, send)
            return
        place = route_limits.enter(address)
        scope[LEFT] = place.left
        watching = asyncio.ensure_future(place.watch(receive))

        async def answer(message: Message) -> None:
            # The work is done: a slow reader must not hold a slot.
            route_limits.leave(place)
            await send(message)

        try:
            await place.wait()
            await self.app(scope, replayed(body, place.receive), answer)
        finally:
            route_limits.leave(place)
            watching.cancel()


async def whole_body(receive: Receive) -> list[Message]:
    """Return the messages of a request's body; the request filter has checked its length."""
    messages = [await receive()]
    while messages[-1].get("more_body", False):
        messages.append(await receive())
    return messages


def _route_prefix(scope: Scope) -> str:
    """Return the first two segments of a request's path, without a proxy's path before it."""
    path = str(scope.get("path", "")).removeprefix(str(scope.get("root_path", "")).rstrip("/"))
    return "/".join(path.rstrip("/").split("/")[:3]) or "/"
