"""Cache of responses that are the same for all visitors; Gradio renders them at each request."""

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.context import context
from explorer.middleware.headers import CONFIG
from explorer.middleware.routes import below_root

SAME = ("", "/", CONFIG)
"""Cached paths: the page, which takes 40 ms of processor time to render, and its config."""


class PageCache:
    """Middleware that caches these responses whatever the query, which only the browser reads.

    Only responses with status 200 are cached. ``validation.py`` removes Gradio's own parameters
    from the query.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._responses: dict[tuple[str, ...], Response] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond from the cache, or pass the request on."""
        root_path = scope.get("root_path", "")
        path = below_root(scope["path"], root_path) if scope["type"] == "http" else None
        if path not in SAME or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        key = (path, root_path, context().public_url)
        answer = self._responses.get(key) or await self._render(scope, receive)
        if answer.status_code == 200:
            self._responses[key] = answer
        response = Response(answer.body, answer.status_code)
        response.raw_headers = [*answer.raw_headers]  # a copy: outer middleware changes the list
        await response(scope, receive, send)

    async def _render(self, scope: Scope, receive: Receive) -> Response:
        """Return Gradio's whole response."""
        answer = Response()
        body: list[bytes] = []

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer.status_code = message["status"]
                answer.raw_headers = message["headers"]
            else:
                body.append(message.get("body", b""))

        await self.app(scope, receive, collect)
        answer.body = b"".join(body)
        return answer
