"""The browser's own modules, sent from memory under the hash of their contents.

Gradio's file route sends no ``Cache-Control`` and answers no ``If-None-Match``: a browser guesses
how long a file is fresh and, after an update, may run old code beside new. Here an address names
its contents: it is kept for ever and never stale, and relative imports stay under the same hash.
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
"""What the first picture needs, with all that these import: asked for at once, not one by one."""
IMPORT = re.compile(r"""\bfrom '(\.[^']+)'""")
FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


@cache
def modules() -> dict[str, bytes]:
    """Every module by its path below ``assets/js``, as it was when the page was built."""
    paths = sorted(SCRIPTS.rglob("*.js"))
    return {str(PurePosixPath(p.relative_to(SCRIPTS))): p.read_bytes() for p in paths}


LIBRARY, LOOKS = "plotly.min.js", "templates.json"
"""What the first chart that comes into sight asks for, from Plotly's own Python package."""


@cache
def charting(name: str) -> bytes:
    """Plotly for the browser, or the light and the dark look of a chart; compressed."""
    import plotly
    from plotly.offline import get_plotlyjs

    from explorer.views.theme import PAGES, chart_template

    looks = {theme: chart_template(theme).to_plotly_json() for theme in PAGES}
    text = get_plotlyjs() if name == LIBRARY else json.dumps(looks | {"of": plotly.__version__})
    return gzip.compress(text.encode(), 6)


@cache
def version() -> str:
    """A name for these very contents."""
    digest = hashlib.sha256()
    for path, content in modules().items():
        digest.update(f"{path} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


def scripts_route() -> Route:
    """Where the modules are; relative to the page, so that a proxy may put it below any path."""
    return Route("/js/{version}/{path:path}", send_module)


def send_module(request: Request) -> Response:
    """One module, or nothing for a page that is older than this server."""
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
    """The early script inline, the rules for paper, the preloads of the first picture, the entry.

    Gradio puts its own container before every selector of a media rule, which then says nothing of
    the page around it.
    """
    paper = PAPER.read_text("utf-8")
    preloads = [el("link", rel="modulepreload", href=address(path)) for path in closure(FIRST)]
    entry = el("script", type="module", src=address(ENTRY))
    early = modules()[EARLY].decode()
    return f"<script>{early}</script><style>{paper}</style>{''.join(preloads)}{entry}"


def address(path: str) -> str:
    """Where a module is, relative to the page."""
    return f"js/{version()}/{path}"


def closure(paths: tuple[str, ...]) -> list[str]:
    """These modules and all that they import, each once."""
    found = list(paths)
    for path in found:
        folder = PurePosixPath(path).parent
        imports = IMPORT.findall(modules()[path].decode())
        found += sorted({normpath(folder / name) for name in imports} - set(found))
    return found
