"""Who asks and who listens, before a request is read: streams are counted while they are open."""

import re
from urllib.parse import parse_qs

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.serving.middleware.fairness import Asker, account_of
from explorer.serving.middleware.waiting_room import NOWHERE, WaitingRoom

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
