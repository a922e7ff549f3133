"""The page as it is sent: Gradio's HTML in parts, between which each link's own is put.

What is in sight comes first, and the first paint does not wait for Gradio's style sheet. Gradio's
configuration, some 650 KB that only its scripts read, is a script of its own: it is cached under
the hash of its contents, and the browser paints before it is there.
"""

import gzip
import hashlib
import re
import zlib
from collections import OrderedDict
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.context import context
from explorer.ui.first.scripts import FIRST_PACK, address, early_html, head_html, preloads
from explorer.views.markup import Markup, el, script_json

TAGS, FIRST = "<!-- tags -->", "<!-- first -->"
"""Marks of the places that each link fills."""
_GRADIOS = re.compile(r"""<meta\s+(?:property="og:|name="twitter:)[^>]*>\s*""")
_CONFIG = "<script>window.gradio_config"
_SETTINGS = re.compile(r"<script>(window\.gradio_(?:config|api_info)\b.*?)</script>", re.S)
_FRAMED = re.compile(r"<script>(?=\s*\(\(\) => \{\s*const root\b)(.*?)</script>", re.S)
"""Script that fetches what adapts the height of a frame; it reads the configuration on Colab."""
_SHEET = re.compile(r"<link rel=\"stylesheet\"[^>]*>")
_MODULE = re.compile(r"<script type=\"module\"[^>]*\bsrc=\"([^\"]*)\"[^>]*></script>")
_BODY = re.compile(r"<body\b[^>]*>")
FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}
KEPT_SETTINGS = 8
"""Configurations that are kept: one for each address that the page is asked by."""
_settings: OrderedDict[str, bytes] = OrderedDict()
_START = (
    "addEventListener('DOMContentLoaded', () => {{"
    "const modules = () => {modules}.forEach(path => import(new URL(path, document.baseURI)));"
    "const start = () => document.head.append(Object.assign(document.createElement('script'),"
    "{{src: {settings}, onload: modules}}));"
    "if (document.hidden) start(); else requestAnimationFrame(() => requestAnimationFrame(start));"
    "}});"
)
_HERE = (
    "window.gradio_api_info &&= JSON.parse(JSON.stringify(gradio_api_info)"
    ".replaceAll({absolute}, new URL('.', location.href).href.slice(0, -1)));"
)


@lru_cache(maxsize=4)
def parts_of(page: bytes, absolute: str, path: str) -> tuple[bytes, bytes, bytes]:
    """Return the parts of Gradio's page around the tags and the picture, the same for all links."""
    html = with_paths(page.decode(), absolute, path)
    before, _, rest = arranged(html).partition(TAGS)
    between, _, after = rest.partition(FIRST)
    return before.encode(), between.encode(), after.encode()


def arranged(page: str) -> str:
    """Return the page with the marks in it, without Gradio's tags, its scripts after the body.

    All of Gradio's scripts are fetched at once and run after the first paint.
    """
    head, config, rest = page.partition(_CONFIG)
    head = _GRADIOS.sub("", head).replace("</style>", f"</style>{TAGS}", 1)
    inner, end, body = (config + rest).partition("</head>")
    opening = _BODY.search(body)
    if opening is None:
        return head + inner + end + body
    modules = [*_MODULE.findall(inner), address(FIRST_PACK)]
    sheets = "".join(map(_late, _SHEET.findall(inner)))
    later = inner
    for pattern in (_SETTINGS, _FRAMED, _SHEET, _MODULE):
        later = pattern.sub("", later)
    settings = settings_address(";".join(_SETTINGS.findall(inner) + _FRAMED.findall(inner)))
    fetched = el("link", rel="preload", as_="script", href=settings) + preloads(modules)
    start, end_of_body, tail = body[opening.end() :].rpartition("</body>")
    return (
        f"{head}{sheets}{fetched}{head_html()}{end}{body[: opening.end()]}{early_html()}"
        f"{_when_painted(modules, settings)}{FIRST}{start}{later}{end_of_body}{tail}"
    )


def _when_painted(modules: list[str], settings: str) -> Markup:
    """Return the script that runs the settings and the modules once the first picture is painted.

    Run at the end of the document, as deferred scripts are, they kept the first paint back by half
    its time. The first frame's callbacks run before it is painted, the second's after that. The
    modules read the settings. A page that opens in the background paints no frame.
    """
    code = _START.format(modules=script_json(modules), settings=script_json(settings))
    return el("script", Markup(code))


def settings_address(script: str) -> str:
    """Return the URL of Gradio's configuration, relative to the page, and keep it for the route."""
    name = hashlib.sha256(script.encode()).hexdigest()[:16]
    _settings[name] = gzip.compress(script.encode(), 9)
    _settings.move_to_end(name)
    while len(_settings) > KEPT_SETTINGS:
        _settings.popitem(last=False)
    return f"settings/{name}.js"


def settings_route() -> Route:
    """Return the route of Gradio's configuration; 404 for a page that is older than this server."""

    def send(request: Request) -> Response:
        script = _settings.get(request.path_params["name"])
        if script is None:
            return Response(status_code=404)
        headers = FOR_EVER | {"Content-Encoding": "gzip"}
        return Response(script, media_type="text/javascript", headers=headers)

    return Route("/settings/{name}.js", send)


def _late(link: str) -> str:
    """Return the link of a style sheet that is fetched at once, without delaying the first paint.

    It stays in the head: the rules of components, which Gradio adds to the head later, win.
    """
    return link.replace('rel="stylesheet"', 'rel="preload" as="style"') + link.replace(
        ">", """ media="print" onload="this.media='all'">"""
    )


def with_paths(page: str, absolute: str, path: str) -> str:
    """Return the page with its own URL replaced by a path, so that it works under every host name.

    The code examples that Gradio shows get the URL in the visitor's browser, unless the public one
    is known.
    """
    page = page.replace(f'"{absolute}"', f'"{path or "/"}"')
    code = Markup(_HERE.format(absolute=script_json(absolute)))
    return (
        page if context().public_url else page.replace("</head>", f"{el('script', code)}</head>", 1)
    )


def takes_gzip(headers: Headers) -> bool:
    """Return whether a client accepts gzip, the one packing that every browser has."""
    codings = (coding.strip() for coding in headers.get("accept-encoding", "").split(","))
    return any(coding == "gzip" or coding.startswith("gzip;q=1") for coding in codings)


def gzipped(parts: tuple[bytes, ...]) -> bytes:
    """Return the parts as one gzip stream; those that all links share are compressed once."""
    crc, size = 0, 0
    for part in parts:
        crc, size = zlib.crc32(part, crc), size + len(part)
    trailer = crc.to_bytes(4, "little") + (size % 2**32).to_bytes(4, "little")
    blocks = [_shared_block(part) if i % 2 == 0 else _block(part) for i, part in enumerate(parts)]
    return b"".join((b"\x1f\x8b\x08\0\0\0\0\0\0\xff", *blocks, b"\x03\0", trailer))


def _block(part: bytes, level: int = 6) -> bytes:
    """Return deflated blocks that end at a byte and refer to nothing before them."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH)


@lru_cache(maxsize=16)
def _shared_block(part: bytes) -> bytes:
    return _block(part, 9)
