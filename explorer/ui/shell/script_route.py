"""The route of the browser's code, sent from memory under a URL with the hash of its contents.

Gradio's file route sends no ``Cache-Control`` and ignores ``If-None-Match``: a browser guesses how
long a file is fresh and, after an update, may run old code beside new. Here a URL names its
contents: it can be cached for ever and is never stale.
"""

import gzip
import json
from functools import cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.ui.shell.packs import PACKS, pack
from explorer.ui.shell.scripts import modules, version
from explorer.ui.shell.sent import FOR_EVER

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


def scripts_route() -> Route:
    """Return the route of the modules; pages use it by a relative path, so any proxy path works."""
    return Route("/js/{version}/{path:path}", send_module)


def send_module(request: Request) -> Response:
    """Return one file, or 404 for a page that is older than this server."""
    path = request.path_params["path"]
    if request.path_params["version"] != version():
        return Response(status_code=404)
    if path in (LIBRARY, LOOKS):
        return _sent(charting(path), "text/javascript" if path == LIBRARY else "application/json")
    if path.startswith(PACKS):
        content = pack(path)
        return Response(status_code=404) if content is None else _sent(content, "text/javascript")
    module = modules().get(path)
    if module is None:
        return Response(status_code=404)
    return Response(module, media_type="text/javascript", headers=FOR_EVER)


def _sent(packed: bytes, kind: str) -> Response:
    headers = FOR_EVER | {"Content-Encoding": "gzip"}
    return Response(packed, media_type=kind, headers=headers)
