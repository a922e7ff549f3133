"""What the page shows of the repository's own texts: the card of the weights, and the glossary."""

from pathlib import Path

from starlette.responses import PlainTextResponse
from starlette.routing import Route

from explorer.assets import ASSETS, GLOSSARY
from explorer.ui.kit.words import GLOSSARY_LINK
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
