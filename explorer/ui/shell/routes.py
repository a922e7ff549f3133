"""The page's own routes: scripts, documents, recipes, provenance, QR codes, a tab as one file."""

import base64
import gzip
import io
import json
import re
from functools import cache
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any
from urllib.parse import urlencode

import segno
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    Response,
)
from starlette.routing import Route

from explorer.assets import ASSETS, DATA, GLOSSARY, read_in
from explorer.library.citation import arxiv, checkpoint, citation_fields, cite
from explorer.links.codec import LINK_VERSION
from explorer.models.choice.family import family_specs, read_family
from explorer.ui.first.scripts import FIRST_SHEET, PACKS, modules, pack, version
from explorer.ui.first.sent import FOR_EVER
from explorer.ui.kit import strings
from explorer.ui.kit.canvas import has_recipe, recipe_parts
from explorer.ui.shell.status import library_versions
from explorer.views.errors import errors_page
from explorer.views.markup import REFUSALS, Attribute, Markup, el, join, meanings, script_json
from explorer.views.theme import PAGES, chart_template, colour_rules

CARD, ADDRESS = "card", "glossary"
"""Paths of the model card and the glossary, relative to the page."""
LIBRARY, LOOKS = "plotly.min.js", "templates.json"
"""Files that the first visible chart loads: plotly.js, from Plotly's Python package, templates."""


def card_route() -> Route:
    """Return the route of the bundled family's model card, which says how it was trained."""
    return _as_written(CARD, ASSETS / "models" / "README.md")


def glossary_route() -> Route:
    """Return the route of the whole glossary."""
    return _as_written(ADDRESS, GLOSSARY)


def refusals_route() -> Route:
    """Return the route of the page of all refusals, to whose rows messages link."""
    page = errors_page(strings.REFUSALS)
    return Route(f"/{REFUSALS}", lambda _request: HTMLResponse(page))


def _as_written(address: str, path: Path) -> Route:
    """Return the route of a document of the repository as plain text; it works offline.

    Raises:
        Broken: the document cannot be read.
    """
    with read_in(path):
        text = path.read_text("utf-8")
    return Route(f"/{address}", lambda _request: PlainTextResponse(text))


def meanings_html() -> Markup:
    """Return a closed popover for every explained word, with a link to the whole glossary."""
    return meanings(el("a", strings.GLOSSARY_LINK, href=ADDRESS, target="_blank"))


def tour_html() -> Markup:
    """Return the guided tour: views that each show one finding, as links of this page.

    A view keeps its number in links when the order of the tour changes.
    """
    path = DATA / "gallery.json"
    with read_in(path):
        gallery = json.loads(path.read_text("utf-8"))
        stops = [_stop(gallery["views"][n - 1], n) for n in gallery["tour"]]
    buttons = [
        el("span", class_="tour-count"),
        _step("‹", strings.TOUR["back"], data_step=-1),
        _step("›", strings.TOUR["next"], data_step=1),
        _button(strings.TOUR["projector"], data_project=True, aria_pressed="false"),
        _button(strings.TOUR["lessons"], data_lessons=True),
        _step("×", strings.TOUR["end"], id="tour-end"),
    ]
    bar = {
        "class_": "tour",
        "aria_label": strings.TOUR["name"],
        "data_count": strings.TOUR["count"],
    }
    return join(
        el("section", el("ol", *stops, aria_live="polite"), *buttons, hidden=True, **bar),
        _button(strings.TOUR["leave"], class_="chip leave", data_project=True),
    )


def _stop(view: dict[str, Any], n: int) -> Markup:
    return el(
        "li",
        el("a", view["title"], href=f"?{_query({'tour': str(n), **view['link']})}"),
        el("span", ": "),
        view["says"],
        data_number=str(n),
        data_lit=f"{place_of(view['link'])} {view.get('lit', '[data-kind]')}",
        hidden=True,
    )


def place_of(link: dict[str, str]) -> str:
    """Return the CSS selector of a view's place: its fold or part, or its tab."""
    tab, fold = link["tab"], link.get("fold")
    return f":is(#fold-{tab}-{fold}.fold, #part-{tab}-{fold})" if fold else f"#tab-{tab}"


def _step(sign: str, label: str, **attributes: Attribute) -> Markup:
    """Return a button that is a sign alone where the bar is narrow."""
    parts = [el("span", sign, aria_hidden="true"), " ", el("span", label, class_="says")]
    parts = parts[::-1] if sign == "›" else parts
    return el("button", *parts, **{"type": "button", "class_": "chip", **attributes})


def _button(label: str, **attributes: Attribute) -> Markup:
    return el("button", label, **{"type": "button", "class_": "chip", **attributes})


def _query(link: dict[str, str]) -> str:
    return urlencode({"v": LINK_VERSION, **link})


LONGEST_LINK = 2_000
"""Most characters of a link in a QR code with error correction level M."""


def provenance_route() -> Route:
    """Return the route of a family's provenance, for the files that the browser saves."""
    return Route("/provenance/{family}", _send_provenance)


def recipe_route() -> Route:
    """Return the route of the Python code, in parts, that recomputes a picture's numbers."""
    return Route("/recipe/{kind:path}.json", _send_recipe)


def qr_route() -> Route:
    """Return the route that draws a link as a QR code."""
    return Route("/qr", _send_code)


def provenance(family: str) -> dict[str, Any]:
    """Return a family's checkpoints, the library versions and the citation."""
    return {
        "models": [checkpoint(spec) for spec in family_specs(family)],
        "versions": library_versions(),
        "cite": citation(family),
    }


def citation(family: str) -> str:
    """Return the citation of the explorer and of a family's papers in one line."""
    specs = family_specs(family)
    numbers = {spec.kind.label: arxiv(spec.architecture_key) for spec in specs}
    return strings.cited(citation_fields(), numbers)


def cite_route() -> Route:
    """Return the route of a family's BibTeX entries, as plain text."""
    return Route("/cite/{family}", _send_citation)


def _send_citation(request: Request) -> Response:
    family = read_family(request.path_params["family"])
    return PlainTextResponse(cite(family)) if family else Response(status_code=404)


def _send_provenance(request: Request) -> Response:
    family = read_family(request.path_params["family"])
    return JSONResponse(provenance(family)) if family else Response(status_code=404)


def _send_recipe(request: Request) -> Response:
    kind = request.path_params["kind"]
    if not re.fullmatch(r"[a-z]+/[a-z_]+", kind) or not has_recipe(kind):
        return Response(status_code=404)
    return JSONResponse(recipe_parts(kind))


def _send_code(request: Request) -> Response:
    link = request.query_params.get("link", "")
    if not link.startswith(("http://", "https://")) or len(link.encode()) > LONGEST_LINK:
        return Response(status_code=404)
    picture = io.BytesIO()
    segno.make_qr(link, error="m").save(picture, kind="svg", scale=6, light="#fff")
    return Response(picture.getvalue(), media_type="image/svg+xml")


POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; "
    "img-src data: blob:"
)
NAME = "explorer/"
"""Prefix of every script's path in the import map."""
_IMPORTS = re.compile(r"""(\bfrom |\bimport |\bimport\()(['"`])(\.[^'"`]+)\2""")
CONTENT, TAKEN = Markup("<!--content-->"), Markup("<!--taken-->")
"""Placeholders that the browser replaces by the tab and by the numbers of its pictures."""


def standalone_route() -> Route:
    """Return the route of the standalone page in which the browser saves a tab."""
    return Route("/standalone", lambda _request: HTMLResponse(standalone_page()))


@cache
def standalone_page() -> str:
    """Return the standalone page, with placeholders for the tab."""
    scripts = {f"{NAME}{path}": _address(path, code) for path, code in modules().items()}
    stub = "window.explorer = {waiting: [], told: [], mount() {}, tell() {}}; "
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
        el("script", Markup(stub), TAKEN),
        el("script", Markup(f"import '{NAME}take/opened.js';"), type="module"),
        class_="gradio-container taken",
    )
    return join(Markup("<!doctype html>"), el("html", head, body, lang="en"))


def _style() -> str:
    """Return all style sheets of the page in the page's order, without Gradio's."""
    sheets = set((ASSETS / "css").glob("*.css")) - {FIRST_SHEET}
    ordered = sorted(sheets, key=lambda path: (path.stem != "page", path.stem))
    return "\n".join([colour_rules(), *(sheet.read_text("utf-8") for sheet in ordered)])


def _address(path: str, code: bytes) -> str:
    """Return a script as a data URL, its relative imports replaced by names of the import map."""
    folder = PurePosixPath(path).parent

    def named(match: re.Match[str]) -> str:
        before, quote, relative = match.groups()
        return f"{before}{quote}{NAME}{normpath(folder / relative)}{quote}"

    plain = _IMPORTS.sub(named, code.decode()).encode()
    return f"data:text/javascript;base64,{base64.b64encode(plain).decode()}"


@cache
def charting(name: str) -> bytes:
    """Return plotly.js, or the light and the dark chart templates as JSON; compressed."""
    import plotly
    from plotly.offline import get_plotlyjs

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
