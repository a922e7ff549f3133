"""Security headers, and the public address of the page."""

import os
from typing import Any
from urllib.parse import urlsplit

from gradio import route_utils, routes
from gradio.route_utils import CustomCORSMiddleware
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from explorer.refusal import Refusal

PUBLIC_URL = [""]
"""The page's address in public, without a slash at its end; empty where nobody has said it."""
CONFIG = "/config"


def said_at_the_start(flag: str) -> str:
    """The public address: the flag's, else what Gradio's own variable or a Space says."""
    root, space = os.getenv("GRADIO_ROOT_PATH", ""), os.getenv("SPACE_HOST", "")
    return public_address(flag or (root if "://" in root else "") or (space and f"https://{space}"))


def public_address(said: str) -> str:
    """An address that was given at the start, as it is put before the page's own.

    Raises:
        Refusal: it is none.
    """
    try:
        parts = urlsplit(said)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        whole = False
    if said and (not whole or parts.query or parts.fragment or not said.isprintable()):
        raise Refusal(f"--public-url is {said!r}; it looks like https://example.org/explorer.")
    return said.rstrip("/")


def set_public_url(address: str) -> None:
    """From now on this, and no request, says where the page is."""
    PUBLIC_URL[:] = [address]
    route_utils.get_root_url = root_of


def root_of(request: Request, route_path: str, root_path: str | None) -> str:
    """What Gradio puts before its addresses: the public one, else where this process listens."""
    if route_path == CONFIG:
        return ""  # a program goes on asking where it has asked
    return PUBLIC_URL[-1] or listening(request) + path_of(root_path)


def listening(request: Request) -> str:
    """Where this process itself says that it is, without a slash at its end."""
    page = getattr(request.app, "get_blocks", None)  # the tools are an application of their own
    return ((page and page().local_url) or "http://127.0.0.1").rstrip("/")


def path_of(root_path: str | None) -> str:
    """The path below which a proxy has the page; empty where it is at the top."""
    return urlsplit(root_path or "").path.rstrip("/")


CONTENT = "; ".join(
    (
        "default-src 'self'",
        # Gradio writes its settings into the page, and makes functions of its events' scripts.
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        # Anybody may show a picture of this page in a page of their own: nothing here is private.
        "frame-ancestors *",
    )
)
HEADERS = {
    "content-security-policy": CONTENT,
    "x-content-type-options": "nosniff",
    # The address of a view holds its text, which is no other site's business.
    "referrer-policy": "same-origin",
}


class NoCredentials(CustomCORSMiddleware):
    """Gradio's own rules for other sites' scripts, but never in the name of a visitor.

    Nor is anything of a request said back: who may read at all may do so from everywhere.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
        super().__init__(*arguments, **named)
        self.simple_headers = {}
        self.preflight_headers.pop("Access-Control-Allow-Credentials")

    def preflight_response(self, request_headers: Headers) -> Response:
        """What a script of another site may ask."""
        reply = super().preflight_response(request_headers)
        for name in ("Access-Control-Allow-Origin", "Access-Control-Allow-Headers"):
            if name in reply.headers:
                reply.headers[name] = "*"
        return reply

    @staticmethod
    def allow_explicit_origin(headers: MutableHeaders, origin: str) -> None:  # noqa: ARG004
        """Let it read the answer, whichever site it is."""
        headers["Access-Control-Allow-Origin"] = "*"


def leave_out(app: ASGIApp, **_settings: Any) -> ASGIApp:  # noqa: ANN401
    """Stand where Gradio puts its own rules, outside the door, and add nothing."""
    return app


def refuse_credentials() -> None:
    """From now on the door alone answers other sites, and without credentials."""
    routes.CustomCORSMiddleware = leave_out  # type: ignore[assignment,misc]


def is_preflight(headers: Headers) -> bool:
    """Whether an OPTIONS request is a browser's, on behalf of another site's script."""
    return "origin" in headers and "access-control-request-method" in headers
