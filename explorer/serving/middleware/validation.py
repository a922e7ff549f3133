"""The table of addresses that are answered; questions that Gradio cannot answer are refused."""

import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fastapi.exceptions import RequestValidationError
from gradio import route_utils
from gradio.exceptions import Error
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, compile_path
from starlette.types import Message, Receive, Scope

NO_UPLOADS = "This page accepts no files."
NOT_HERE = "Not found."
NO_QUESTION = "Nothing here answers this request. Please reload the page."
NO_ANSWER = "No answer is pending here. Please ask again."
NO_JSON = "This request cannot be read: it must be JSON, as /gradio_api/info describes."
CANCELLED = "This request was cancelled before it was answered."
FAILED = "Something went wrong on our side (error {mark})."
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


STREAM, PICTURE = "/gradio_api/queue/data", "/gradio_api/component_server/"
CANCEL = "/gradio_api/cancel"
OTHERS = "x-others"
"""In a request behind a proxy that asks another process where this one knows no such stream."""
WITH_LINK = ("/", "/config")
GRADIOS_OWN = ("deep_link", "page")
"""What Gradio reads from a link; this page's links have none of it."""
_known_function = route_utils.get_fn


def function_of(blocks: Any, api_name: str | None, body: Any) -> Any:  # noqa: ANN401 - Gradio's
    """The function that a question names.

    Raises:
        HTTPException: there is none, or the question is of a session that no address can name, so
            that nobody could listen for its answer.
    """
    if not str(body.session_hash or "").isprintable():
        raise HTTPException(422, NO_JSON)
    if body.fn_index is not None and body.fn_index not in blocks.fns:
        raise HTTPException(404, NO_QUESTION)
    return _known_function(blocks, api_name, body)


def refuse_unknown() -> None:
    """From now on a question about no function is refused in a sentence."""
    route_utils.get_fn = function_of


def without_gradios_own(scope: Scope, route: str) -> None:
    """Take what is Gradio's own from a link: it looks that up, whether or not it is there."""
    if route in WITH_LINK and scope["query_string"]:
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(name in GRADIOS_OWN for name, _ in asked):
            kept = [(name, value) for name, value in asked if name not in GRADIOS_OWN]
            scope["query_string"] = urlencode(kept).encode()


def unknown_stream(scope: Scope, route: str, path: str) -> Response | None:
    """What is said to who listens for an answer that nobody will give; else None."""
    if route.startswith(f"{CALL}/") and route.endswith("{event}"):
        event = path.rpartition("/")[2]
        queue = scope["app"].get_blocks()._queue
        sessions = queue.pending_event_ids_session.items()
        asked_by = next((session for session, asked in sessions if event in asked), None)
        if asked_by not in queue.pending_messages_per_session:
            return JSONResponse({"detail": NO_ANSWER}, 404)
    if route == STREAM:
        session = Request(scope).query_params.get("session_hash", "")
        queue = scope["app"].get_blocks()._queue
        # A session that went over to another process is still known here, and waits for nothing.
        if Headers(scope=scope).get(OTHERS) and not queue.pending_event_ids_session.get(session):
            return JSONResponse({"detail": NO_ANSWER}, 404)
        if session not in queue.pending_messages_per_session:
            # As Gradio says it, by which its page knows that it has to begin anew.
            said = {"msg": "unexpected_error", "message": NO_ANSWER}
            told = json.dumps(said | {"session_not_found": True, "success": False})
            return PlainTextResponse(f"data: {told}\n\n", media_type="text/event-stream")
    return None


async def checked_picture(scope: Scope, body: Receive) -> Receive:
    """The body of a picture's question, read to its end and known to ask something that there is.

    Raises:
        HTTPException: it does not.
    """
    if not Headers(scope=scope).get("content-type", "").startswith("application/json"):
        raise HTTPException(415, NO_JSON)
    content = await Request(scope, body).body()
    try:
        asked = json.loads(content)
        block = scope["app"].get_blocks().blocks.get(asked["component_id"])
        answers = getattr(block, asked["fn_name"], None)
        known = isinstance(asked["session_hash"], str) and "data" in asked
    except (ValueError, TypeError, KeyError, RecursionError):
        raise HTTPException(400, NO_JSON) from None
    if not known or not getattr(answers, "_is_server_fn", False):
        raise HTTPException(404, NO_QUESTION)
    return replayed(content)


async def checked_cancel(scope: Scope, body: Receive) -> Receive:
    """The body of a request to cancel a question, where it comes from whoever asked that question.

    Raises:
        HTTPException: it comes from somebody else.
    """
    content = await Request(scope, body).body()
    try:
        asked = json.loads(content)
        event_id, session = str(asked["event_id"]), asked["session_hash"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise HTTPException(400, NO_JSON) from None
    room = scope["app"].get_blocks()._queue
    if event := room.event_ids_to_events.get(event_id):
        if event.session_hash != session:
            raise HTTPException(404, NO_ANSWER)
        room.cancel(event)
    return replayed(content)


def replayed(content: bytes) -> Receive:
    """A body that has been read, once more."""

    async def again() -> Message:
        return {"type": "http.request", "body": content, "more_body": False}

    return again


def refused(_request: Request, refusal: Exception) -> Response:
    """What a picture's question is answered that is refused in a sentence."""
    return JSONResponse({"detail": str(getattr(refusal, "message", refusal))}, 422)


def unreadable(_request: Request, _refusal: Exception) -> Response:
    """What a question is answered that is none; nothing of it is said back."""
    return JSONResponse({"detail": NO_JSON}, 422)


REFUSALS = {Error: refused, RequestValidationError: unreadable}
"""What Gradio's server does with failures that are sentences."""
