"""Outermost middleware: gives every request an id, checks it, logs it, and refuses bad ones."""

import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from explorer import limits
from explorer.middleware import access_log, tools, validation
from explorer.middleware.headers import HEADERS, NoCredentials, is_preflight
from explorer.middleware.routes import CALL, Routes, below_root
from explorer.middleware.shutdown import CLOSING, remember_loop
from explorer.middleware.validation import (
    CANCEL,
    PICTURE,
    checked_cancel,
    checked_picture,
    unknown_stream,
    without_gradios_own,
)

KB = 1024
MAX_BODY = limits.BODY.maximum * KB
"""Most bytes of a request's body; the page's own longest body has about a hundredth of it."""
MAX_HEAD = limits.HEAD.maximum * KB
"""Most bytes of URL and headers: a link may hold 2,000 characters of up to nine bytes each."""
UPLOADS = "/gradio_api/upload"
QUESTIONS = ("/gradio_api/queue/join", PICTURE, f"{CALL}/")
CHECKS = {PICTURE: checked_picture, CANCEL: checked_cancel, tools.ROUTE: tools.checked_message}
"""Checks of a request's body before it reaches the page, by route."""


class RequestFilter:
    """Outermost middleware, in front of all routes.

    Args:
        app: The application that it wraps.
        routes: The routes that are allowed.
    """

    def __init__(self, app: ASGIApp, routes: Routes) -> None:
        self.app, self.routes = app, routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, or refuse it."""
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        if scope["type"] != "http":
            remember_loop()
            await self.app(scope, receive, send)
            return
        await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request under an id, with status 500 after a failure, and log a line."""
        request_id, begun, status = access_log.name_request(scope), time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[access_log.HEADER] = request_id
                for header, value in HEADERS.items():
                    headers.setdefault(header, value)
            await send(message)

        try:
            app, body = await self._wrapped(scope, receive)
            await app(scope, body, answer)
        except ClientDisconnect:
            status = status or access_log.LEFT
        except Exception as failure:
            access_log.fail(scope, failure)
            if not status:
                sentence = {"detail": validation.FAILED.format(mark=request_id)}
                await JSONResponse(sentence, 500)(scope, receive, answer)
            # If the response has begun, the server closes the connection.
        finally:
            access_log.write(scope, status or 500, time.perf_counter() - begun)

    async def _wrapped(self, scope: Scope, receive: Receive) -> tuple[ASGIApp, Receive]:
        """Return the application that responds, with CORS headers, and the request's body."""
        app, body = await self._checked(scope, receive)
        if scope["method"] == "OPTIONS" and app is not self.app:
            return app, body
        return NoCredentials(app), body

    async def _checked(self, scope: Scope, receive: Receive) -> tuple[ASGIApp, Receive]:
        """Return the page and the checked body, or a response that refuses or redirects."""
        root = scope.get("root_path", "")
        if root and scope["path"] == root and scope["method"] in ("GET", "HEAD"):
            # The page's own addresses are relative: without the slash they would lead above it.
            query = scope["query_string"].decode("latin-1")
            return RedirectResponse(f"{root}/?{query}" if query else f"{root}/"), receive
        try:
            route, path = self._check_address(scope)
            tools.pass_on_address(scope, route)
            without_gradios_own(scope, route)
            if not_found := unknown_stream(scope, route, path):
                return not_found, receive
            body = await checked_body(Headers(scope=scope), receive)
            if check := CHECKS.get(route):
                body = await check(scope, body)
            return self.app, body
        except HTTPException as refusal:
            return JSONResponse(
                validation.refusal_json(refusal.detail), refusal.status_code
            ), receive

    def _check_address(self, scope: Scope) -> tuple[str, str]:
        """Return the pattern of the route that a request matches, and its path.

        Raises:
            HTTPException: the request is refused.
        """
        path = below_root(scope["path"], scope.get("root_path", ""))
        is_post = scope["method"] == "POST"
        head = sum(len(k) + len(v) for k, v in scope["headers"])
        if head + len(scope["path"]) + len(scope["query_string"]) > MAX_HEAD:
            raise HTTPException(431, limits.HEAD.sentence())
        if is_post and path.startswith(UPLOADS):
            raise HTTPException(403, validation.NO_UPLOADS)
        method = scope["method"]
        if method == "OPTIONS" and is_preflight(headers := Headers(scope=scope)):
            method = headers["access-control-request-method"]
        route = scope[access_log.ROUTE] = self.routes.find(method, path)
        if route is None:
            raise HTTPException(404, validation.NOT_HERE)
        if is_post and path.startswith(QUESTIONS) and CLOSING.is_set():
            # Not 503: for that Gradio's page shows its own text instead of this sentence.
            raise HTTPException(429, limits.STOPPING.sentence())
        return route, path


async def checked_body(headers: Headers, receive: Receive) -> Receive:
    """Return the body of a request; a chunked one, of unknown length, is read to its end first.

    Raises:
        HTTPException: the body is too long.
    """
    content_length = headers.get("content-length", "0")
    if not content_length.isdecimal() or int(content_length) > MAX_BODY:
        raise too_long()
    if "transfer-encoding" not in headers:
        return receive
    parts, more, length = [], True, 0
    while more:
        message = await receive()
        parts.append(message)
        length += len(message.get("body", b""))
        more = message.get("more_body", False)
        if length > MAX_BODY:
            raise too_long()
    return validation.replayed(parts, receive)


def too_long() -> HTTPException:
    """Return the exception for a body that is too long."""
    return HTTPException(413, limits.BODY.sentence())
