"""The list of addresses that are answered; whatever else Gradio has, or will have, is not there."""

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
"""What the page itself asks of Gradio, and the Python client besides."""
TOOLS = {
    "GET": ("/gradio_api/mcp/", "/gradio_api/mcp/schema"),
    "POST": ("/gradio_api/mcp/",),
    "DELETE": ("/gradio_api/mcp/",),
}
"""What clients ask that speak MCP; nothing answers there without ``--mcp``."""
CALL = "/gradio_api/call"


class Routes:
    """What may be asked for.

    Args:
        ours: The page's own routes, which Gradio does not have.
        endpoints: The names that programs call.
    """

    def __init__(self, ours: Iterable[Route] = (), endpoints: Iterable[str] = ()) -> None:
        listed = {
            (method, path) for part in (PAGE, TOOLS) for method in part for path in part[method]
        }
        listed |= {(method, route.path) for route in ours for method in route.methods or ()}
        for name in endpoints:
            listed |= {("POST", f"{CALL}/{name}"), ("GET", f"{CALL}/{name}/{{event}}")}
        self.listed = frozenset(listed)
        self._plain = {one for one in listed if "{" not in one[1]}
        self._patterns: list[tuple[str, str, re.Pattern[str]]] = [
            (method, path, compile_path(path)[0]) for method, path in sorted(listed - self._plain)
        ]

    def find(self, method: str, path: str) -> str | None:
        """The listed address that a request means, without what the visitor put in; else None."""
        if (method, path) in self._plain:
            return path
        return next(
            (to for of, to, rule in self._patterns if of == method and rule.match(path)), None
        )


def below_root(path: str, root: str) -> str:
    """An address as the routes have it, whether or not a proxy has passed on the path before it."""
    return path[len(root) :] if root and path.startswith(f"{root}/") else path
