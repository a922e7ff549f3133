"""The page that a tab is taken away in: one file with the style sheets and every script inside.

Scripts cannot import each other from a disk; here each is a ``data:`` address under a plain name
of the import map, and imports ask for that name. The file asks nobody for anything, which its own
policy enforces.
"""

import base64
import re
from functools import cache
from pathlib import PurePosixPath
from posixpath import normpath

from starlette.responses import HTMLResponse
from starlette.routing import Route

from explorer.assets import ASSETS
from explorer.ui.shell.scripts import modules
from explorer.views.markup import Markup, el, join, script_json
from explorer.views.theme import colour_rules

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; "
    "img-src data: blob:"
)
NAME = "explorer/"
"""Before every script's path in the import map."""
_IMPORTS = re.compile(r"""(\bfrom |\bimport |\bimport\()(['"`])(\.[^'"`]+)\2""")
CONTENT, TAKEN = Markup("<!--content-->"), Markup("<!--taken-->")
"""Where the browser puts the tab, and the numbers of its pictures."""


def standalone_route() -> Route:
    """Where the browser gets the page around a tab."""
    return Route("/standalone", lambda _request: HTMLResponse(standalone_page()))


@cache
def standalone_page() -> str:
    """The whole file but for the tab."""
    scripts = {f"{NAME}{path}": _address(path, code) for path, code in modules().items()}
    early = "window.explorer = {waiting: [], told: [], mount() {}, tell() {}}; "
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", http_equiv="Content-Security-Policy", content=POLICY),
        el("style", Markup(_style())),
        el("script", Markup(script_json({"imports": scripts})), type="importmap"),
    )
    body = el(
        "body",
        el("main", CONTENT, class_="prose"),
        el("script", Markup(early), TAKEN),
        el("script", Markup(f"import '{NAME}take/opened.js';"), type="module"),
        class_="gradio-container taken",
    )
    return join(Markup("<!doctype html>"), el("html", head, body, lang="en"))


def _style() -> str:
    """Every style sheet of the page in the page's order, without Gradio's."""
    sheets = sorted((ASSETS / "css").glob("*.css"), key=lambda p: (p.stem != "page", p.stem))
    return "\n".join([colour_rules(), *(sheet.read_text("utf-8") for sheet in sheets)])


def _address(path: str, code: bytes) -> str:
    """One script as an address, its imports by name."""
    folder = PurePosixPath(path).parent

    def named(found: re.Match[str]) -> str:
        before, quote, relative = found.groups()
        return f"{before}{quote}{NAME}{normpath(folder / relative)}{quote}"

    plain = _IMPORTS.sub(named, code.decode()).encode()
    return f"data:text/javascript;base64,{base64.b64encode(plain).decode()}"
