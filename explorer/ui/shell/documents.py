"""What the page shows of the repository's own texts: the card of the weights, and the glossary."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.responses import PlainTextResponse
from starlette.routing import Route

from explorer.assets import ASSETS, DATA, GLOSSARY, read_in
from explorer.links.codec import LINK_VERSION
from explorer.ui.kit import words as texts
from explorer.views.markup import Attribute, Markup, el, join, meanings

CARD, ADDRESS = "card", "glossary"
"""Where they are, relative to the page."""


def card_route() -> Route:
    """The card of the bundled family, as it lies beside the weights: how they were made."""
    return _as_written(CARD, ASSETS / "models" / "README.md")


def glossary_route() -> Route:
    """The whole glossary."""
    return _as_written(ADDRESS, GLOSSARY)


def _as_written(address: str, path: Path) -> Route:
    """A text of the repository as it was written; no reader needs a network for it.

    Raises:
        Broken: it cannot be read.
    """
    with read_in(path):
        text = path.read_text("utf-8")
    return Route(f"/{address}", lambda _request: PlainTextResponse(text))


def meanings_html() -> Markup:
    """A box for every word that the page explains, closed, with the way to the whole glossary."""
    return meanings(el("a", texts.GLOSSARY_LINK, href=ADDRESS, target="_blank"))


def tour_html() -> Markup:
    """Views that each show one thing worth knowing, one at a time, as links of this page."""
    path = DATA / "gallery.json"
    with read_in(path):
        views = json.loads(path.read_text("utf-8"))["views"]
        stops = [_stop(view, n) for n, view in enumerate(views, 1)]
    buttons = [
        el("span", class_="tour-count"),
        _button(texts.TOUR["back"], data_step=-1),
        _button(texts.TOUR["next"], data_step=1),
        _button(texts.TOUR["projector"], data_project=True, aria_pressed="false"),
        _button(texts.TOUR["end"], id="tour-end"),
    ]
    bar = {"class_": "tour", "aria_label": texts.TOUR["name"], "data_count": texts.TOUR["count"]}
    return join(
        el("section", el("ol", *stops, aria_live="polite"), *buttons, hidden=True, **bar),
        _button(texts.TOUR["leave"], class_="chip leave", data_project=True),
    )


def _stop(view: dict[str, Any], n: int) -> Markup:
    return el(
        "li",
        el("a", view["title"], href=f"?{_query({'tour': str(n), **view['link']})}"),
        f": {view['says']}",
        data_lit=place_of(view["link"]),
        hidden=True,
    )


def place_of(link: dict[str, str]) -> str:
    """Where on the page a view's picture is: in its fold or part, or in its tab."""
    tab, fold = link["tab"], link.get("fold")
    return f":is(#fold-{tab}-{fold}.fold, #part-{tab}-{fold})" if fold else f"#tab-{tab}"


def _button(said: str, **attributes: Attribute) -> Markup:
    return el("button", said, **{"type": "button", "class_": "chip", **attributes})


def _query(link: dict[str, str]) -> str:
    return urlencode({"v": LINK_VERSION, **link})
