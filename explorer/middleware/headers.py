"""Security headers, and the public address of the page."""

import os
from typing import Any
from urllib.parse import urlsplit

from gradio.route_utils import CustomCORSMiddleware
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from explorer.context import context
from explorer.refusal import Refusal, Sentence

CONFIG = "/config"


def configured_url(flag: str) -> str:
    """Return the public address: from the flag, else from Gradio's variable or a Space's."""
    root, space = os.getenv("GRADIO_ROOT_PATH", ""), os.getenv("SPACE_HOST", "")
    return public_address(flag or (root if "://" in root else "") or (space and f"https://{space}"))


def public_address(address: str) -> str:
    """Return a configured public address without its trailing slash.

    Raises:
        Refusal: it is not a valid http or https address.
    """
    try:
        parts = urlsplit(address)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if address and (not valid or parts.query or parts.fragment or not address.isprintable()):
        raise Refusal(
            Sentence(
                "bad-public-url",
                f"--public-url is {address!r}; it looks like https://example.org/explorer.",
            )
        )
    return address.rstrip("/")


def root_of(request: Request, route_path: str, root_path: str | None) -> str:
    """Return the root of Gradio's URLs: the public address, else where this process listens."""
    if route_path == CONFIG:
        return ""  # a program keeps sending requests to the address that it has used
    return context().public_url or listening(request) + path_of(root_path)


def listening(request: Request) -> str:
    """Return the local address of this process, without a trailing slash."""
    page = getattr(request.app, "get_blocks", None)  # absent in the separate MCP application
    return ((page and page().local_url) or "http://127.0.0.1").rstrip("/")


def path_of(root_path: str | None) -> str:
    """Return the path below which a proxy serves the page; empty at the top level."""
    return urlsplit(root_path or "").path.rstrip("/")


CONTENT = "; ".join(
    (
        "default-src 'self'",
        # Gradio needs both: its settings are an inline script, its events' scripts are evaluated.
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        # Any site may embed this page: nothing here is private.
        "frame-ancestors *",
    )
)
HEADERS = {
    "content-security-policy": CONTENT,
    "x-content-type-options": "nosniff",
    # The URL of a view holds the visitor's text, which must not leak to other sites.
    "referrer-policy": "same-origin",
}


class NoCredentials(CustomCORSMiddleware):
    """Gradio's CORS middleware without credentials.

    It never echoes a request's origin or headers: where reading is allowed, it is for any origin.
    """

    def __init__(self, *arguments: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*arguments, **kwargs)
        self.simple_headers = {}
        self.preflight_headers.pop("Access-Control-Allow-Credentials")

    def preflight_response(self, request_headers: Headers) -> Response:
        """Return the response to a preflight request, with wildcards for origin and headers."""
        response = super().preflight_response(request_headers)
        for name in ("Access-Control-Allow-Origin", "Access-Control-Allow-Headers"):
            if name in response.headers:
                response.headers[name] = "*"
        return response

    @staticmethod
    def allow_explicit_origin(headers: MutableHeaders, origin: str) -> None:  # noqa: ARG004
        """Allow any origin to read the response."""
        headers["Access-Control-Allow-Origin"] = "*"


def leave_out(app: ASGIApp, **_settings: Any) -> ASGIApp:  # noqa: ANN401
    """Return the app unchanged, in place of the CORS middleware that Gradio adds outermost."""
    return app


def is_preflight(headers: Headers) -> bool:
    """Return whether an OPTIONS request is a browser's CORS preflight."""
    return "origin" in headers and "access-control-request-method" in headers
