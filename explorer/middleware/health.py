"""``/health``: whether the queues answer, tested by a request that goes through them."""

from typing import Any

import gradio as gr
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from explorer import limits
from explorer.middleware.shutdown import CLOSING

JOIN = "/gradio_api/queue/join"
ADDRESS = "/health"
PROBE = "health"
"""Name of the event that is sent through the queue, and of its line."""


async def nothing() -> bool:
    """Return true: the answer to the probe."""
    return True


def add_probe() -> None:
    """Add the event that ``/health`` sends; call it inside the page's Blocks."""
    gr.api(
        nothing,
        api_name=PROBE,
        api_visibility="private",
        concurrency_id=PROBE,
        concurrency_limit=None,
    )


def probe_of(page: Any) -> int:  # noqa: ANN401 - Gradio's Blocks
    """Return the number of the page's event that ``/health`` sends."""
    return next(number for number, fn in page.fns.items() if fn.api_name == PROBE)


async def answer(request: Request) -> JSONResponse:
    """Respond with 200 if a request gets its answer through the queue in time, else with 503."""
    if CLOSING.is_set():
        return JSONResponse({"detail": limits.STOPPING.sentence()}, 503)
    page = request.app.get_blocks()
    room = page._queue
    if room.server_app is None:  # Gradio sets it at the first request of a page or a program
        room.set_server_app(request.app)
    # Gradio processes only requests that came to one of its own addresses.
    asked = Request({**request.scope, "path": JOIN})
    if await room.answers(probe_of(page), asked):
        return JSONResponse({"queues": "running"})
    return JSONResponse({"detail": limits.HEALTH.sentence()}, 503)


def health_route() -> Route:
    """Return the route of ``/health``."""
    return Route(ADDRESS, answer)
