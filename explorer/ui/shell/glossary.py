"""The glossary: a box for every word that the page explains, and the whole text."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from explorer.assets import GLOSSARY
from explorer.ui.kit.words import GLOSSARY_LINK
from explorer.views.markup import Markup, el, meanings

ADDRESS = "glossary"
"""Where it is, relative to the page."""


def meanings_html() -> Markup:
    """Every box, closed, with the way to the whole glossary."""
    return meanings(el("a", GLOSSARY_LINK, href=ADDRESS, target="_blank"))


def glossary_route() -> Route:
    """The glossary as it was written; no reader needs a network for it."""
    return Route(f"/{ADDRESS}", send_glossary)


def send_glossary(_request: Request) -> PlainTextResponse:
    """The text itself."""
    return PlainTextResponse(GLOSSARY.read_text("utf-8"))
