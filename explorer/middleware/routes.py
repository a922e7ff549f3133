"""The table of addresses that are answered; any other route of Gradio is 404."""

import re
from collections.abc import Iterable

from starlette.routing import Route, compile_path

PAGE = {
    "GET": (
        "/",
        "/config",
        "/theme.css",
        "/favicon.ico",
        "/manifest.json",
        "/robots.txt",
        "/assets/{path:path}",
        "/static/{path:path}",
        "/gradio_api/app_id",
        "/gradio_api/heartbeat/{session}",
        "/gradio_api/info",
        "/gradio_api/queue/data",
        "/gradio_api/queue/status",
        "/gradio_api/startup-events",
    ),
    "HEAD": ("/",),
    "POST": (
        "/gradio_api/cancel",
        "/gradio_api/component_server/",
        "/gradio_api/queue/join",
        "/gradio_api/reset",
    ),
}
"""Gradio's routes that the page itself and Gradio's Python client use, by method."""
TOOLS = {
    "GET": ("/gradio_api/mcp/", "/gradio_api/mcp/schema"),
    "POST": ("/gradio_api/mcp/",),
    "DELETE": ("/gradio_api/mcp/",),
}
"""Routes of MCP clients; they exist only with ``--mcp``."""
CALL = "/gradio_api/call"


class Routes:
    """Table of the allowed routes.

    Args:
        ours: The page's own routes, besides Gradio's.
        endpoints: The names of the public endpoints.
    """

    def __init__(self, own_routes: Iterable[Route] = (), endpoints: Iterable[str] = ()) -> None:
        listed = {
            (method, path) for part in (PAGE, TOOLS) for method in part for path in part[method]
        }
        listed |= {(method, route.path) for route in own_routes for method in route.methods or ()}
        for name in endpoints:
            listed |= {("POST", f"{CALL}/{name}"), ("GET", f"{CALL}/{name}/{{event}}")}
        self.listed = frozenset(listed)
        self._plain = {(method, path) for method, path in listed if "{" not in path}
        self._patterns: list[tuple[str, str, re.Pattern[str]]] = [
            (method, path, compile_path(path)[0]) for method, path in sorted(listed - self._plain)
        ]

    def find(self, method: str, path: str) -> str | None:
        """Return the pattern of the route that a request matches, or None."""
        if (method, path) in self._plain:
            return path
        return next(
            (
                route
                for route_method, route, regex in self._patterns
                if route_method == method and regex.match(path)
            ),
            None,
        )


def below_root(path: str, root: str) -> str:
    """Return a request's path without the root path, if the proxy has not removed it already."""
    return path[len(root) :] if root and path.startswith(f"{root}/") else path
