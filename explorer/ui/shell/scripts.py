"""JavaScript modules of the page, sent from memory under a URL with the hash of their contents.

Gradio's file route sends no ``Cache-Control`` and ignores ``If-None-Match``: a browser guesses how
long a file is fresh and, after an update, may run old code beside new. Here a URL names its
contents: it can be cached for ever and is never stale; relative imports stay under the same hash.
"""

import gzip
import hashlib
import json
import re
from functools import cache
from pathlib import PurePosixPath
from posixpath import normpath

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.assets import ASSETS
from explorer.views.markup import el

SCRIPTS = ASSETS / "js"
PAPER = ASSETS / "css" / "print.css"
EARLY, ENTRY = "early.js", "gradio.js"
FIRST = (ENTRY, "page/words.js", "page/view.js", "predictions/gaps.js")
"""Modules of the first picture; they and their imports are preloaded, not fetched one by one."""
IMPORT = re.compile(r"""\bfrom '(\.[^']+)'""")
FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


@cache
def modules() -> dict[str, bytes]:
    """Return the source of every module by its path below ``assets/js``, read once."""
    paths = sorted(SCRIPTS.rglob("*.js"))
    return {str(PurePosixPath(p.relative_to(SCRIPTS))): p.read_bytes() for p in paths}


LIBRARY, LOOKS = "plotly.min.js", "templates.json"
"""Files that the first visible chart loads: plotly.js, from Plotly's Python package, templates."""


@cache
def charting(name: str) -> bytes:
    """Return plotly.js, or the light and the dark chart templates as JSON; compressed."""
    import plotly
    from plotly.offline import get_plotlyjs

    from explorer.views.theme import PAGES, chart_template

    looks = {theme: chart_template(theme).to_plotly_json() for theme in PAGES}
    text = get_plotlyjs() if name == LIBRARY else json.dumps(looks | {"of": plotly.__version__})
    return gzip.compress(text.encode(), 6)


@cache
def version() -> str:
    """Return the hash of all modules' contents."""
    digest = hashlib.sha256()
    for path, content in modules().items():
        digest.update(f"{path} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


def scripts_route() -> Route:
    """Return the route of the modules; pages use it by a relative path, so any proxy path works."""
    return Route("/js/{version}/{path:path}", send_module)


def send_module(request: Request) -> Response:
    """Return one module, or 404 for a page that is older than this server."""
    path = request.path_params["path"]
    content = modules().get(path)
    if request.path_params["version"] == version() and path in (LIBRARY, LOOKS):
        kind = "text/javascript" if path == LIBRARY else "application/json"
        headers = FOR_EVER | {"Content-Encoding": "gzip"}
        return Response(charting(path), media_type=kind, headers=headers)
    if content is None or request.path_params["version"] != version():
        return Response(status_code=404)
    return Response(content, media_type="text/javascript", headers=FOR_EVER)


def head_html() -> str:
    """Return the head: early script, print style sheet, preloads, entry module.

    The print rules are here, because Gradio prefixes every selector of a media rule in its ``css``
    with its own container, so such a rule cannot match the page around it.
    """
    print_css = PAPER.read_text("utf-8")
    preloads = [el("link", rel="modulepreload", href=address(path)) for path in closure(FIRST)]
    entry = el("script", type="module", src=address(ENTRY))
    early = modules()[EARLY].decode()
    return f"<script>{early}</script><style>{print_css}</style>{''.join(preloads)}{entry}"


def address(path: str) -> str:
    """Return the URL of a module, relative to the page."""
    return f"js/{version()}/{path}"


def closure(paths: tuple[str, ...]) -> list[str]:
    """Return these modules and all that they import, directly or not, each once."""
    names = list(paths)
    for path in names:
        folder = PurePosixPath(path).parent
        imports = IMPORT.findall(modules()[path].decode())
        names += sorted({normpath(folder / name) for name in imports} - set(names))
    return names
