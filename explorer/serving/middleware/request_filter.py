"""The door: every request is named, measured and logged; some are turned away in a sentence."""

import asyncio
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from explorer import limits
from explorer.serving.middleware import access_log, validation
from explorer.serving.middleware.headers import HEADERS, NoCredentials, is_preflight
from explorer.serving.middleware.shutdown import CLOSING, LOOP
from explorer.serving.middleware.validation import (
    CALL,
    CANCEL,
    PICTURE,
    Routes,
    below_root,
    checked_cancel,
    checked_picture,
    unknown_stream,
    without_gradios_own,
)

KB = 1024
MOST_BODY = limits.BODY.most * KB
"""Bytes that a request may carry; the longest question of the page has about a hundredth."""
MOST_HEAD = limits.HEAD.most * KB
"""Bytes of address and headers: a link may hold 2,000 characters, nine bytes each at the most."""
UPLOADS = "/gradio_api/upload"
QUESTIONS = ("/gradio_api/queue/join", PICTURE, f"{CALL}/")
CHECKS = {PICTURE: checked_picture, CANCEL: checked_cancel}
"""Who reads the body of a request before the page does, by its route."""


class RequestFilter:
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
        await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request under a name, also where what is behind the door fails; log a line."""
        name, begun, status = access_log.name_request(scope), time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[access_log.HEADER] = name
                for header, value in HEADERS.items():
                    headers.setdefault(header, value)
            await send(message)

        try:
            app, body = await self._behind(scope, receive)
            await app(scope, body, answer)
        except Exception as failure:
            access_log.fail(scope, failure)
            if not status:
                sentence = {"detail": validation.FAILED.format(mark=name)}
                await JSONResponse(sentence, 500)(scope, receive, answer)
            # Of an answer that has begun the server closes the connection.
        finally:
            access_log.write(scope, status or 500, time.perf_counter() - begun)

    async def _behind(self, scope: Scope, receive: Receive) -> tuple[ASGIApp, Receive]:
        """Who answers a request, and its body; the answer says whether other sites may read it."""
        app, body = await self._checked(scope, receive)
        if scope["method"] == "OPTIONS" and app is not self.app:
            return app, body
        return NoCredentials(app), body

    async def _checked(self, scope: Scope, receive: Receive) -> tuple[ASGIApp, Receive]:
        """The page, where a request may reach it, else a sentence."""
        try:
            route, path = self._check_address(scope)
            without_gradios_own(scope, route)
            if nothing := unknown_stream(scope, route, path):
                return nothing, receive
            body = await checked_body(Headers(scope=scope), receive)
            if check := CHECKS.get(route):
                body = await check(scope, body)
            return self.app, body
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
            raise HTTPException(431, limits.HEAD.sentence())
        if asks and path.startswith(UPLOADS):
            raise HTTPException(403, validation.NO_UPLOADS)
        method = scope["method"]
        if method == "OPTIONS" and is_preflight(headers := Headers(scope=scope)):
            method = headers["access-control-request-method"]
        route = scope[access_log.ROUTE] = self.routes.find(method, path)
        if route is None:
            raise HTTPException(404, validation.NOT_HERE)
        if asks and path.startswith(QUESTIONS) and CLOSING.is_set():
            # Of a 503 Gradio's page says its own words, of every other status the answer's.
            raise HTTPException(429, limits.STOPPING.sentence())
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
    return HTTPException(413, limits.BODY.sentence())
