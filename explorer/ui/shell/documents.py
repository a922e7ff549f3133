"""What the page shows of the repository's own texts: the card of the weights, and the glossary."""

import json
from pathlib import Path
from urllib.parse import urlencode

from starlette.responses import PlainTextResponse
from starlette.routing import Route

from explorer.assets import ASSETS, DATA, GLOSSARY
from explorer.page_state import LINK_VERSION
from explorer.ui.kit.words import GALLERY, GLOSSARY_LINK
from explorer.views.markup import Markup, el, meanings

CARD, ADDRESS = "card", "glossary"
"""Where they are, relative to the page."""


def card_route() -> Route:
    """The card of the bundled family, as it lies beside the weights: how they were made."""
    return _as_written(CARD, ASSETS / "models" / "README.md")


def glossary_route() -> Route:
    """The whole glossary."""
    return _as_written(ADDRESS, GLOSSARY)


def _as_written(address: str, path: Path) -> Route:
    """A text of the repository as it was written; no reader needs a network for it."""
    return Route(f"/{address}", lambda _request: PlainTextResponse(path.read_text("utf-8")))


def meanings_html() -> Markup:
    """A box for every word that the page explains, closed, with the way to the whole glossary."""
    return meanings(el("a", GLOSSARY_LINK, href=ADDRESS, target="_blank"))


def gallery_html() -> Markup:
    """Views that each show one thing worth knowing, as links of this page."""
    views = json.loads((DATA / "gallery.json").read_text("utf-8"))["views"]
    items = [
        el("li", el("a", view["title"], href=f"?{_query(view['link'])}"), f": {view['says']}")
        for view in views
    ]
    return el("details", el("summary", GALLERY), el("ul", *items), class_="gallery")


def _query(link: dict[str, str]) -> str:
    return urlencode({"v": LINK_VERSION, **link})
