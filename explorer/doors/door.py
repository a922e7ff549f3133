"""The door: every request is named, measured and logged; some are turned away in a sentence."""

import time
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.doors import log, words
from explorer.doors.policy import HEADERS

KB = 1024
MOST_BODY = 256 * KB
"""Bytes that a request may carry; the longest question of the page has about a hundredth."""
MOST_HEAD = 32 * KB
"""Bytes of address and headers: a link may hold 2,000 characters, nine bytes each at the most."""
MOST_WAITING = 64
"""Questions that may wait for an answer; who comes then is asked to come again."""
UPLOADS, MONITORING = "/gradio_api/upload", "/monitoring"
QUESTIONS = ("/gradio_api/queue/join", "/gradio_api/call/")


def waiting_questions(scope: Scope) -> int:
    """How many questions wait in the line of Gradio's page."""
    return len(scope["app"].get_blocks()._queue)


class Door:
    """In front of everything that is served.

    Args:
        app: What is behind it.
        monitoring: Whether Gradio's own page about the traffic is to be had.
        waiting: How many questions wait for an answer.
    """

    def __init__(
        self,
        app: ASGIApp,
        monitoring: bool = False,
        waiting: Callable[[Scope], int] = waiting_questions,
    ) -> None:
        self.app, self.monitoring, self.waiting = app, monitoring, waiting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or turn it away."""
        if scope["type"] != "http":
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
            self._check_address(scope)
            return self.app, await checked_body(Headers(scope=scope), receive)
        except HTTPException as refusal:
            return JSONResponse({"detail": refusal.detail}, refusal.status_code), receive

    def _check_address(self, scope: Scope) -> None:
        """Look at where a request goes.

        Raises:
            HTTPException: it is turned away.
        """
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        asks = scope["method"] == "POST"
        head = sum(len(k) + len(v) for k, v in scope["headers"])
        if head + len(scope["path"]) + len(scope["query_string"]) > MOST_HEAD:
            raise HTTPException(431, words.HEAD_TOO_LONG.format(limit=MOST_HEAD // KB))
        if asks and path.startswith(UPLOADS):
            raise HTTPException(403, words.NO_UPLOADS)
        if path.startswith(MONITORING) and not self.monitoring:
            raise HTTPException(404, words.NOT_HERE)
        if asks and path.startswith(QUESTIONS) and (n := self.waiting(scope)) >= MOST_WAITING:
            # Of a 503 Gradio's page says its own words, of every other status the answer's.
            raise HTTPException(429, words.BUSY.format(n=n))


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
