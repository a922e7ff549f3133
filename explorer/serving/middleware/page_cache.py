"""Answers that are the same for everybody: Gradio writes them anew for each, here they are kept."""

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.serving.middleware.headers import CONFIG, PUBLIC_URL
from explorer.serving.middleware.validation import below_root

SAME = ("", "/", CONFIG)
"""The page, which takes 40 ms of processor time to write, and its parts as programs read them."""


class PageCache:
    """Asks for each of these once, whatever the link: what a link holds the browser reads.

    A refusal is not kept. ``questions.py`` takes from a link what is Gradio's own.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._answers: dict[tuple[str, ...], Response] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from what is kept, or pass the request on."""
        below = scope.get("root_path", "")
        path = below_root(scope["path"], below) if scope["type"] == "http" else None
        if path not in SAME or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        key = (path, below, PUBLIC_URL[-1])
        answer = self._answers.get(key) or await self._asked(scope, receive)
        if answer.status_code == 200:
            self._answers[key] = answer
        mine = Response(answer.body, answer.status_code)
        mine.raw_headers = [*answer.raw_headers]  # others write into theirs
        await mine(scope, receive, send)

    async def _asked(self, scope: Scope, receive: Receive) -> Response:
        """What Gradio answers, whole."""
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
