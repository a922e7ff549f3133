"""What a browser may do with the page, said in the headers of every answer."""

from typing import Any

from gradio import routes
from gradio.route_utils import CustomCORSMiddleware
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp

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
