"""The card of the bundled family, as it lies beside the weights: how they were made."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from explorer.assets import ASSETS

CARD = "card"
"""Where it is, relative to the page."""


def card_route() -> Route:
    """The card as it was written; no reader needs a network for it."""
    return Route(f"/{CARD}", send_card)


def send_card(_request: Request) -> PlainTextResponse:
    """The text itself."""
    return PlainTextResponse((ASSETS / "models" / "README.md").read_text("utf-8"))
