"""The door: every request is named, measured and logged; some are turned away in a sentence."""

import asyncio
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from explorer.doors import log, words
from explorer.doors.closing import CLOSING, LOOP
from explorer.doors.policy import HEADERS
from explorer.doors.questions import (
    PICTURE,
    checked_picture,
    unknown_stream,
    without_gradios_own,
)
from explorer.doors.routes import CALL, Routes, below_root

KB = 1024
MOST_BODY = 256 * KB
"""Bytes that a request may carry; the longest question of the page has about a hundredth."""
MOST_HEAD = 32 * KB
"""Bytes of address and headers: a link may hold 2,000 characters, nine bytes each at the most."""
UPLOADS = "/gradio_api/upload"
QUESTIONS = ("/gradio_api/queue/join", PICTURE, f"{CALL}/")


class Door:
    """In front of everything that is served.

    Args:
        app: What is behind it.
        routes: What may be asked for.
    """

    def __init__(self, app: ASGIApp, routes: Routes) -> None:
        self.app, self.routes = app, routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or turn it away."""
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        if scope["type"] != "http":
            LOOP[:] = [asyncio.get_running_loop()]
            await self.app(scope, receive, send)
            return
        name, begun, status = log.name_request(scope), time.perf_counter(), 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[log.HEADER] = name
                for header, value in HEADERS.items():
                    headers.setdefault(header, value)
            await send(message)

        try:
            app, body = await self._behind(scope, receive)
            await app(scope, body, answer)
        finally:
            log.write(scope, status, time.perf_counter() - begun)

    async def _behind(self, scope: Scope, receive: Receive) -> tuple[ASGIApp, Receive]:
        """Who answers a request, with its body: the page, or a sentence."""
        try:
            route, path = self._check_address(scope)
            without_gradios_own(scope, route)
            if nothing := unknown_stream(scope, route, path):
                return nothing, receive
            body = await checked_body(Headers(scope=scope), receive)
            return self.app, await checked_picture(scope, body) if route == PICTURE else body
        except HTTPException as refusal:
            return JSONResponse({"detail": refusal.detail}, refusal.status_code), receive

    def _check_address(self, scope: Scope) -> tuple[str, str]:
        """Where a request goes: the address on the list that it has found, and its own.

        Raises:
            HTTPException: it is turned away.
        """
        path = below_root(scope["path"], scope.get("root_path", ""))
        asks = scope["method"] == "POST"
        head = sum(len(k) + len(v) for k, v in scope["headers"])
        if head + len(scope["path"]) + len(scope["query_string"]) > MOST_HEAD:
            raise HTTPException(431, words.HEAD_TOO_LONG.format(limit=MOST_HEAD // KB))
        if asks and path.startswith(UPLOADS):
            raise HTTPException(403, words.NO_UPLOADS)
        route = scope[log.ROUTE] = self.routes.find(scope["method"], path)
        if route is None:
            raise HTTPException(404, words.NOT_HERE)
        if asks and path.startswith(QUESTIONS) and CLOSING.is_set():
            # Of a 503 Gradio's page says its own words, of every other status the answer's.
            raise HTTPException(429, words.CLOSING)
        return route, path


async def checked_body(headers: Headers, receive: Receive) -> Receive:
    """The body of a request; one that does not say how long it is, is read to its end first.

    Raises:
        HTTPException: it is too long.
    """
    said = headers.get("content-length", "0")
    if not said.isdecimal() or int(said) > MOST_BODY:
        raise too_long()
    if "transfer-encoding" not in headers:
        return receive
    parts, more, length = [], True, 0
    while more:
        message = await receive()
        parts.append(message)
        length += len(message.get("body", b""))
        more = message.get("more_body", False)
        if length > MOST_BODY:
            raise too_long()

    async def again() -> Message:
        return parts.pop(0) if parts else await receive()

    return again


def too_long() -> HTTPException:
    """What is said of a body that is too long."""
    return HTTPException(413, words.BODY_TOO_LONG.format(limit=MOST_BODY // KB))
