"""What a shared link looks like before it is opened: its title, its sentence, its picture.

Gradio's page carries two sets of preview tags, neither of which names this page or the text that a
link holds; a chat or a slide tool reads the tags and runs no script. They are replaced here, once.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from threading import Lock
from urllib.parse import urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.assets import ASSETS, read_in
from explorer.inference.cache import CACHE
from explorer.inference.lazy_imports import start_imports
from explorer.inference.runs import costs_nobody
from explorer.inference.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.links.codec import LINKED, from_params, to_link
from explorer.links.compression import PACKED
from explorer.links.page_state import PageState
from explorer.models.specs import MODEL_KEYS
from explorer.models.tokens import MASK, SEPARATOR, BadText, clean_text
from explorer.serving.middleware.headers import PUBLIC_URL, path_of, root_of
from explorer.ui.kit import strings
from explorer.ui.kit.validation import START_STATE
from explorer.ui.predictions.endpoint import first_answers
from explorer.views.markup import Markup, el, join, script_json
from explorer.views.preview import HEIGHT, WIDTH, preview_picture

PNG = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
"""How every PNG begins and ends."""
PICTURE = "preview.png"
"""Relative to the page; WIDTH x HEIGHT, as every reader of such tags expects it."""
_drawing = Lock()
"""One at a time: a picture that nobody may look at must not keep a reader waiting."""
_GRADIOS = re.compile(r"""<meta\s+(?:property="og:|name="twitter:)[^>]*>\s*""")
_CONFIG = "<script>window.gradio_config"
_TAGS = "<!-- preview -->"
_HERE = (
    "window.gradio_api_info &&= JSON.parse(JSON.stringify(gradio_api_info)"
    ".replaceAll({absolute}, new URL('.', location.href).href.slice(0, -1)));"
)
LONGEST = 160
"""Characters of a text that a preview shows before it cuts it off itself."""


def picture_route() -> Route:
    """Where the picture is: a link's own, or the one that stands for all.

    Raises:
        Broken: the latter is missing or damaged.
    """
    path = ASSETS / PICTURE
    with read_in(path):
        content = path.read_bytes()
        if not (content.startswith(PNG[0]) and content.endswith(PNG[1])):
            raise ValueError("it is no whole PNG")
    return Route(f"/{PICTURE}", _send_picture)


def _send_picture(request: Request) -> Response:
    state, _ = from_params(request.query_params, START_STATE[-1])
    shows_text = {"text", PACKED} & set(request.query_params)
    drawn = picture_of(state) if shows_text else None
    if drawn is None:
        return FileResponse(ASSETS / PICTURE, headers={"Cache-Control": "no-cache"})
    return Response(drawn, media_type="image/png", headers={"Cache-Control": "max-age=86400"})


def picture_of(state: PageState) -> bytes | None:
    """The picture of a text with its first answers; None where it has none, or not just now."""
    key = ("preview", state.text, state.family)
    if key in CACHE or not _drawing.acquire(blocking=False):
        return CACHE.get(key)
    try:
        drawn = _draw(state) if is_free() and costs_nobody(state) else None
        return None if drawn is None else CACHE.put(key, drawn)
    finally:
        _drawing.release()


def is_free() -> bool:
    """Whether the imports are done and nobody measures."""
    return not (start_imports().is_alive() or MEASUREMENT_LOCK.is_measuring)


def _draw(state: PageState) -> bytes | None:
    try:
        answers = first_answers(state)
    except BadText:  # what is wrong with a text is said on the page
        return None
    words = clean_text(state.text).replace(MASK, f" {MASK} ").replace(SEPARATOR, " ").split()
    gapped = ["" if one == MASK else one for one in words]
    return preview_picture(strings.TITLE, gapped, answers) if answers else None


def preview_tags(root: str, params: Mapping[str, str]) -> Markup:
    """The tags of one link, everything in them escaped; ``root`` is where the page is, or a dot."""
    state, _ = from_params(params)
    link = to_link(state) if set(params) & {*LINKED, *MODEL_KEYS, PACKED} else None
    own = f"{root}/?{urlencode(link)}" if link else f"{root}/"
    picture, said = f"{root}/{PICTURE}", strings.TAGLINE
    if link and {"text", PACKED} & set(link):
        said = strings.PREVIEW.format(text=_shortened(state.text))
        of = {
            name: link[name]
            for name in ("v", "family", *MODEL_KEYS, "text", PACKED)
            if name in link
        }
        picture = f"{picture}?{urlencode(of)}"
    shown = {"title": strings.TITLE, "description": said, "image": picture}
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


def with_paths(page: str, absolute: str, path: str) -> str:
    """The page with its own address as a path, so that it is the same under every name.

    The lines of code that Gradio shows get the address that stands in the visitor's browser, unless
    the public one is known.
    """
    page = page.replace(f'"{absolute}"', f'"{path or "/"}"')
    here = Markup(_HERE.format(absolute=script_json(absolute)))
    return page if PUBLIC_URL[-1] else page.replace("</head>", f"{el('script', here)}</head>", 1)


@lru_cache(maxsize=4)
def around_tags(page: bytes, absolute: str, path: str) -> tuple[bytes, bytes]:
    """Gradio's page, which is the same each time, before a link's tags and behind them."""
    whole = with_paths(with_preview(page.decode(), Markup(_TAGS)), absolute, path)
    before, _, behind = whole.partition(_TAGS)
    return before.encode(), behind.encode()


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
        below = request.scope.get("root_path")
        tags = preview_tags(PUBLIC_URL[-1] or ".", request.query_params)
        body = (
            str(tags).encode().join(around_tags(body, root_of(request, "/", below), path_of(below)))
        )
        headers["content-length"] = str(len(body))
    await send(start)
    await send({"type": "http.response.body", "body": body})


def _is_page(scope: Scope) -> bool:
    return scope["path"].removeprefix(scope.get("root_path", "")) in ("", "/")


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
