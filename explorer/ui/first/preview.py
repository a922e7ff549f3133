"""Parts of a link's page besides Gradio's: the tags that chats show, and the first picture.

Gradio's page has two sets of preview tags, neither of which names this page or the text of a link;
readers of the tags run no script. This middleware replaces them.
"""

from collections.abc import Mapping
from threading import Lock
from urllib.parse import urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.analysis.predictions import mask_predictions
from explorer.assets import ASSETS, read_in
from explorer.context import context
from explorer.inference.cache import CACHE
from explorer.inference.lazy_imports import start_imports
from explorer.inference.runs import Runs, is_cheap_now
from explorer.links.codec import LINKED, PACKED, from_params, to_link
from explorer.links.page_state import PageState
from explorer.middleware.headers import path_of, root_of
from explorer.models.choice.family import family_specs
from explorer.models.specs import MODEL_KEYS
from explorer.models.tokens import MASK, SEPARATOR, BadText, clean_text
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.ui.first.panels import panel_of, state_of
from explorer.ui.first.picture import first_html
from explorer.ui.first.sent import gzipped, parts_of, takes_gzip
from explorer.ui.kit import strings
from explorer.ui.kit.asked import with_runs
from explorer.ui.kit.running import opens_on
from explorer.views.markup import Markup, el, join, listed, plain
from explorer.views.preview import HEIGHT, WIDTH, FirstAnswer, preview_picture

PNG = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
"""First and last bytes of every PNG."""
PICTURE = "preview.png"
"""Path of the picture relative to the page; WIDTH x HEIGHT, the usual size of previews."""
_drawing = Lock()
"""Lock that lets one picture be drawn at a time, so that previews do not delay readers."""
LONGEST = 160
"""Most characters of a text in a preview's description; longer texts are cut."""


def picture_route() -> Route:
    """Return the route of the preview picture: one of the link's text, or the default picture.

    Raises:
        Broken: the default picture is missing or damaged.
    """
    path = ASSETS / PICTURE
    with read_in(path):
        content = path.read_bytes()
        if not (content.startswith(PNG[0]) and content.endswith(PNG[1])):
            raise ValueError("it is no whole PNG")
    return Route(f"/{PICTURE}", _send_picture)


def _send_picture(request: Request) -> Response:
    state, _ = from_params(request.query_params, opens_on(request.app.get_blocks()))
    shows_text = {"text", PACKED} & set(request.query_params)
    picture = picture_of(state) if shows_text else None
    if picture is None:
        return FileResponse(ASSETS / PICTURE, headers={"Cache-Control": "no-cache"})
    return Response(picture, media_type="image/png", headers={"Cache-Control": "max-age=86400"})


def picture_of(state: PageState) -> bytes | None:
    """Return the picture of a text with its top predictions; None without any, or while busy."""
    key = ("preview", state.text, state.family)
    if key in CACHE or not _drawing.acquire(blocking=False):
        return CACHE.get(key)
    try:
        picture = _draw(state) if is_free() and is_cheap_now(state.ask) else None
        return None if picture is None else CACHE.put(key, picture)
    finally:
        _drawing.release()


def is_free() -> bool:
    """Return whether the imports are done and no measurement runs."""
    return not (start_imports().is_alive() or MEASUREMENT_LOCK.is_measuring)


@with_runs
def first_answers(_state: PageState, text_runs: Runs) -> list[FirstAnswer]:
    """Return each model's first answer at the first mask, as readers spell it; none without masks.

    Raises:
        BadText: the text cannot be run.
    """
    runs, _ = text_runs.with_mlm_head
    results = {key: mask_predictions(run, 1) for key, run in runs.items()}
    return [
        FirstAnswer(
            key, runs[key].spec.label, result.words[0][0], float(result.probabilities[0][0])
        )
        for key, result in results.items()
        if result.positions
    ]


def _draw(state: PageState) -> bytes | None:
    try:
        answers = first_answers(state)
    except BadText:  # the page reports what is wrong with the text
        return None
    words = clean_text(state.text).replace(MASK, f" {MASK} ").replace(SEPARATOR, " ").split()
    blanked = ["" if word == MASK else word for word in words]
    return preview_picture(strings.TITLE, blanked, answers) if answers else None


def preview_tags(root: str, params: Mapping[str, str], start: PageState) -> Markup:
    """Return the preview tags of a link, escaped.

    Args:
        root: The page's URL or a dot.
        params: The link's parameters.
        start: The state that the page opens on.
    """
    state, _ = from_params(params, start)
    link = to_link(state) if set(params) & {*LINKED, *MODEL_KEYS, PACKED} else None
    url = f"{root}/?{urlencode(link)}" if link else f"{root}/"
    columns = context().columns
    picture = f"{root}/{PICTURE}"
    description = strings.TAGLINE_OWN if columns else strings.TAGLINE
    if link and {"text", PACKED} & set(link):
        said = strings.PREVIEW_OWN if columns else strings.PREVIEW
        models = listed([spec.label for spec in family_specs(state.family)])
        description = said.format(text=_shortened(state.text), models=plain(models))
        query = {
            name: link[name]
            for name in ("v", "family", *MODEL_KEYS, "text", PACKED)
            if name in link
        }
        picture = f"{picture}?{urlencode(query)}"
    tags = {"title": strings.TITLE, "description": description, "image": picture}
    return join(
        el("link", rel="canonical", href=url),
        el("meta", property="og:type", content="website"),
        el("meta", property="og:url", content=url),
        *(el("meta", property=f"og:{name}", content=value) for name, value in tags.items()),
        el("meta", property="og:image:width", content=WIDTH),
        el("meta", property="og:image:height", content=HEIGHT),
        el("meta", name="twitter:card", content="summary_large_image"),
        *(el("meta", name=f"twitter:{name}", content=value) for name, value in tags.items()),
    )


class Preview:
    """Middleware that writes a link's tags and first picture into the page.

    Other responses pass unchanged.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and change the response if it is the page."""
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
    """Send the page with what belongs to this request's link; send any other response unchanged."""
    headers = MutableHeaders(scope=start)
    if headers.get("content-type", "").startswith("text/html") and start["status"] == 200:
        root = request.scope.get("root_path")
        parts = parts_of(body, root_of(request, "/", root), path_of(root))
        start_state = opens_on(request.app.get_blocks())
        tags = preview_tags(context().public_url or ".", request.query_params, start_state)
        filled = (parts[0], str(tags).encode(), parts[1], await first_picture(request), parts[2])
        is_packed = takes_gzip(Headers(scope=request.scope))
        body = gzipped(filled) if is_packed else b"".join(filled)
        if is_packed:
            headers["content-encoding"] = "gzip"
        headers.add_vary_header("accept-encoding")
        headers["content-length"] = str(len(body))
    await send(start)
    await send({"type": "http.response.body", "body": body})


async def first_picture(request: Request) -> bytes:
    """Return the first picture of a link; empty where the browser alone knows the text."""
    params = dict(request.query_params)
    state = state_of(params, opens_on(request.app.get_blocks()))
    if state is None or params.get("projector") == "1":
        return b""
    panel = await panel_of(state)
    return b"" if panel is None else first_html(state, params, panel).encode()


def _is_page(scope: Scope) -> bool:
    return scope["path"].removeprefix(scope.get("root_path", "")) in ("", "/")


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
