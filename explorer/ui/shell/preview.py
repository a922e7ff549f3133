"""What a shared link looks like before it is opened: its title, its sentence, its picture.

Gradio's page carries two sets of preview tags, neither of which names this page or the text that a
link holds; a chat or a slide tool reads the tags and runs no script. They are replaced here, once.
"""

import re
from collections.abc import Mapping
from urllib.parse import urlencode

from gradio.route_utils import get_root_url
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.assets import ASSETS
from explorer.page_state import LINKED, from_params
from explorer.ui.kit import words as texts
from explorer.views.markup import Markup, el, join

PICTURE = "preview.png"
"""Relative to the page; WIDTH x HEIGHT, as every reader of such tags expects it."""
WIDTH, HEIGHT = 1200, 630
_GRADIOS = re.compile(r"""<meta\s+(?:property="og:|name="twitter:)[^>]*>\s*""")
_CONFIG = "<script>window.gradio_config"
LONGEST = 160
"""Characters of a text that a preview shows before it cuts it off itself."""


def picture_route() -> Route:
    """Where the picture is."""
    return Route(f"/{PICTURE}", lambda _request: FileResponse(ASSETS / PICTURE))


def preview_tags(root: str, params: Mapping[str, str]) -> Markup:
    """The tags of one link, everything in them escaped; ``root`` is the page's own address."""
    state, _ = from_params(params)
    own = f"{root}/?{urlencode(state.to_params())}" if set(params) & set(LINKED) else f"{root}/"
    said = texts.PREVIEW.format(text=_shortened(state.text)) if "text" in params else texts.TAGLINE
    shown = {"title": texts.TITLE, "description": said, "image": f"{root}/{PICTURE}"}
    return join(
        el("link", rel="canonical", href=own),
        el("meta", property="og:type", content="website"),
        el("meta", property="og:url", content=own),
        *(el("meta", property=f"og:{name}", content=value) for name, value in shown.items()),
        el("meta", property="og:image:width", content=WIDTH),
        el("meta", property="og:image:height", content=HEIGHT),
        el("meta", name="twitter:card", content="summary_large_image"),
        *(el("meta", name=f"twitter:{name}", content=value) for name, value in shown.items()),
    )


def with_preview(page: str, tags: Markup) -> str:
    """The page with these tags in its head, and none of Gradio's."""
    head, start, rest = page.partition(_CONFIG)
    return _GRADIOS.sub("", head).replace("</style>", f"</style>{tags}", 1) + start + rest


class Preview:
    """Rewrites the head of the page itself; everything else passes as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and change what comes back if it is the page."""
        if scope["type"] != "http" or scope["method"] != "GET" or not _is_page(scope):
            await self.app(scope, receive, send)
            return
        start: list[Message] = []
        body: list[bytes] = []

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.append(message)
                return
            body.append(message.get("body", b""))
            if not message.get("more_body", False):
                await send_changed(Request(scope), start[0], b"".join(body), send)

        await self.app(scope, receive, collect)


async def send_changed(request: Request, start: Message, body: bytes, send: Send) -> None:
    """Send the page with the tags of this request's link; what is no page stays as it is."""
    headers = MutableHeaders(scope=start)
    if headers.get("content-type", "").startswith("text/html") and start["status"] == 200:
        root = get_root_url(request, "/", request.scope.get("root_path"))
        body = with_preview(body.decode(), preview_tags(root, request.query_params)).encode()
        headers["content-length"] = str(len(body))
    await send(start)
    await send({"type": "http.response.body", "body": body})


def _is_page(scope: Scope) -> bool:
    return scope["path"].removeprefix(scope.get("root_path", "")) in ("", "/")


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
