"""Open streams are counted, and requests beside the queue take turns."""

import asyncio
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer import limits
from explorer.limits import Limit
from explorer.serving.middleware.waiting_room import NOWHERE, Asker, WaitingRoom, account_of

_OF_CALL = re.compile(r"/gradio_api/call/[^/]+/([^/]+)$")
CALLS = "/gradio_api/call/"
_OF_PAGE = "/gradio_api/queue/data"
_LAST = b'"close_stream"'
"""In the last message to a page, whose browser ends the connection then and may ask again."""


class Listener:
    """Whoever reads one stream: whether it left before the last word was sent."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self.has_left = self._is_answered = False

    async def receive(self) -> Message:
        """Pass on what comes, and note the end of the connection."""
        message = await self._receive()
        self.has_left |= message["type"] == "http.disconnect" and not self._is_answered
        return message

    async def send(self, message: Message) -> None:
        """Pass on what is sent, and note the last of it."""
        if message["type"] == "http.response.body":
            self._is_answered |= not message.get("more_body") or _LAST in message.get("body", b"")
        await self._send(message)


class StreamTracker:
    """Tells the waiting room who listens."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a stream as long as it is open; turn programs away for whom there is no room."""
        if refusal := refusal_of(scope):
            await JSONResponse({"detail": refusal}, 429)(scope, receive, send)
            return
        session = heard_session(scope)
        if not session:
            await self.app(scope, receive, send)
            return
        room = room_of(scope)
        room.listens(session)
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
    """The waiting room of the page that a request is for."""
    return scope["app"].get_blocks()._queue


def refusal_of(scope: Scope) -> str:
    """Why a program need not be read: reading costs more than this, and says the same later."""
    if scope["type"] != "http" or scope["method"] != "POST" or not _path(scope).startswith(CALLS):
        return ""
    host = scope["client"][0] if scope.get("client") else NOWHERE
    return room_of(scope).refusal(Asker(account_of(host), session="", is_program=True))


def _path(scope: Scope) -> str:
    return str(scope["path"]).removeprefix(scope.get("root_path", ""))


def heard_session(scope: Scope) -> str:
    """The session whose answers a request listens for; empty where it listens for none."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return ""
    path = _path(scope)
    if path == _OF_PAGE:
        return parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [""])[0]
    if found := _OF_CALL.match(path):
        event = room_of(scope).event_ids_to_events.get(found[1])
        return event.session_hash if event else ""
    return ""


@dataclass(eq=False, slots=True)
class Turns:
    """So many at once, and so many who wait."""

    at_once: Limit
    most_waiting: Limit
    waiting: int = 0
    free: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.free = asyncio.Semaphore(self.at_once.most)


class ConcurrencyLimiter:
    """Each page is 400 KB that are written anew, each picture's question may be a text to run."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.turns = {
            ("GET", "/"): Turns(limits.PAGES_AT_ONCE, limits.PAGES_WAITING),
            ("POST", "/gradio_api/component_server"): Turns(
                limits.PICTURES_AT_ONCE, limits.PICTURES_WAITING
            ),
            # Only until they stand in the queue: a burst must not keep a visitor from it.
            ("POST", "/gradio_api/call"): Turns(limits.POSTS_AT_ONCE, limits.POSTS_WAITING),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass at its turn, or turn it away where too many wait."""
        turns = self.turns.get((scope.get("method", ""), _turns_at(scope)))
        if turns is None:
            await self.app(scope, receive, send)
        elif turns.waiting >= turns.most_waiting.most:
            refusal = JSONResponse({"detail": turns.most_waiting.sentence(n=turns.waiting)}, 429)
            await refusal(scope, receive, send)
        else:
            # Whoever sends slowly waits outside.
            body = await whole_body(receive) if scope["method"] == "POST" else receive
            await self._at_its_turn(turns, (scope, body, send))

    async def _at_its_turn(self, turns: Turns, asked: tuple[Scope, Receive, Send]) -> None:
        scope, receive, send = asked
        turns.waiting += 1
        try:
            await turns.free.acquire()
        finally:
            turns.waiting -= 1
        held = True

        def leave() -> None:
            nonlocal held
            if held:
                turns.free.release()
            held = False

        async def answer(message: Message) -> None:
            # The work is done: whoever reads slowly keeps nobody waiting.
            leave()
            await send(message)

        try:
            await self.app(scope, receive, answer)
        finally:
            leave()


async def whole_body(receive: Receive) -> Receive:
    """The body of a request, read to its end; the door has seen to it that it is not long."""
    parts = [await receive()]
    while parts[-1].get("more_body", False):
        parts.append(await receive())

    async def again() -> Message:
        return parts.pop(0) if parts else await receive()

    return again


def _turns_at(scope: Scope) -> str:
    """Where a request goes, as the table has it; below a proxy's path too."""
    path = str(scope.get("path", "")).removeprefix(str(scope.get("root_path", "")).rstrip("/"))
    return "/".join(path.rstrip("/").split("/")[:3]) or "/"
