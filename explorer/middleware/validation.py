"""Checks that refuse, in a sentence, requests which Gradio cannot answer."""

import json
import re
from typing import Any
from urllib.parse import parse_qsl, urlencode

import httpx
from fastapi.exceptions import RequestValidationError
from gradio import route_utils
from gradio.exceptions import Error
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Message, Receive, Scope

from explorer.middleware.routes import CALL
from explorer.refusal import Refusal, Sentence, code_of

NO_UPLOADS = "This page accepts no files."
NOT_HERE = "Not found."
NO_QUESTION = "Nothing here answers this request. Please reload the page."
NO_ANSWER = "No answer is pending here. Please ask again."
NO_JSON = "This request cannot be read: it must be JSON, as /gradio_api/info describes."
NO_MESSAGE = (
    "This request cannot be read: it must be one JSON-RPC message of the Model Context Protocol."
)
CANCELLED = "This request was cancelled before it was answered."
FAILED = "Something went wrong on our side (error {mark})."


STREAM, PICTURE = "/gradio_api/queue/data", "/gradio_api/component_server/"
CANCEL = "/gradio_api/cancel"
OTHERS = "x-others"
"""Header by which a proxy says that it tries another process if this one returns 404."""
WITH_LINK = ("/", "/config")
GRADIOS_OWN = ("deep_link", "page")
"""Query parameters that Gradio reads; this page's links have none of them."""
_known_function = route_utils.get_fn
SESSION = re.compile(r"[ -~]{1,128}")
"""Names of sessions that are accepted, which every URL can hold."""


def is_session(session: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a stream can be opened for a session: Gradio fails on requests of others."""
    return isinstance(session, str) and SESSION.fullmatch(session) is not None


def function_of(blocks: Any, api_name: str | None, body: Any) -> Any:  # noqa: ANN401 - Gradio's
    """Return the function that a request names.

    Raises:
        HTTPException: there is no such function.
    """
    if body.fn_index is not None and body.fn_index not in blocks.fns:
        raise HTTPException(404, NO_QUESTION)
    return _known_function(blocks, api_name, body)


def without_gradios_own(scope: Scope, route: str) -> None:
    """Remove Gradio's own parameters from a query, because Gradio would look up any value."""
    if route in WITH_LINK and scope["query_string"]:
        params = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(name in GRADIOS_OWN for name, _ in params):
            rest = [(name, value) for name, value in params if name not in GRADIOS_OWN]
            scope["query_string"] = urlencode(rest).encode()


def unknown_stream(scope: Scope, route: str, path: str) -> Response | None:
    """Return the response to a request for a stream that does not exist; else None."""
    if route.startswith(f"{CALL}/") and route.endswith("{event}"):
        event = path.rpartition("/")[2]
        queue = scope["app"].get_blocks()._queue
        sessions = queue.pending_event_ids_session.items()
        owner = next((session for session, events in sessions if event in events), None)
        if owner not in queue.pending_messages_per_session:
            return JSONResponse({"detail": NO_ANSWER}, 404)
    if route == STREAM:
        session = Request(scope).query_params.get("session_hash", "")
        queue = scope["app"].get_blocks()._queue
        # A session that has moved to another process is still known here, without pending events.
        if Headers(scope=scope).get(OTHERS) and not queue.pending_event_ids_session.get(session):
            return JSONResponse({"detail": NO_ANSWER}, 404)
        if session not in queue.pending_messages_per_session:
            # Gradio's own message, at which its page starts a new session.
            message = {"msg": "unexpected_error", "message": NO_ANSWER}
            data = json.dumps(message | {"session_not_found": True, "success": False})
            return PlainTextResponse(f"data: {data}\n\n", media_type="text/event-stream")
    return None


async def checked_picture(scope: Scope, body: Receive) -> Receive:
    """Read and check the body of a picture's request, and return a ``receive`` that replays it.

    Raises:
        HTTPException: it is no JSON of the right form, or names a function that does not exist.
    """
    if not Headers(scope=scope).get("content-type", "").startswith("application/json"):
        raise HTTPException(415, NO_JSON)
    content = await Request(scope, body).body()
    try:
        request = json.loads(content)
        block = scope["app"].get_blocks().blocks.get(request["component_id"])
        function = getattr(block, request["fn_name"], None)
        is_complete = is_session(request["session_hash"]) and "data" in request
    except (ValueError, TypeError, KeyError, RecursionError):
        raise HTTPException(400, NO_JSON) from None
    if not is_complete or not getattr(function, "_is_server_fn", False):
        raise HTTPException(404, NO_QUESTION)
    return replayed(whole(content), body)


async def checked_cancel(scope: Scope, body: Receive) -> Receive:
    """Check a request to cancel another request, and return a ``receive`` that replays its body.

    A program's waiting request is cancelled here.

    Raises:
        HTTPException: the body cannot be read, or comes from another session than the request's.
    """
    content = await Request(scope, body).body()
    try:
        request = json.loads(content)
        event_id, session = str(request["event_id"]), request["session_hash"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise HTTPException(400, NO_JSON) from None
    room = scope["app"].get_blocks()._queue
    if event := room.event_ids_to_events.get(event_id):
        if event.session_hash != session:
            raise HTTPException(404, NO_ANSWER)
        room.cancel(event)
    return replayed(whole(content), body)


def whole(content: bytes) -> list[Message]:
    """Return the messages of a whole body."""
    return [{"type": "http.request", "body": content, "more_body": False}]


def replayed(messages: list[Message], receive: Receive) -> Receive:
    """Return a ``receive`` that yields messages that have been read already, then what follows."""

    async def again() -> Message:
        return messages.pop(0) if messages else await receive()

    return again


def refusal_in(reply: httpx.Response) -> Refusal:
    """Return the refusal that the page has sent."""
    try:
        sent = reply.json()
        return Refusal(Sentence(str(sent.get("code", "")), str(sent["detail"])))
    except (ValueError, TypeError, KeyError, AttributeError):
        return Refusal(Sentence("", NO_QUESTION))


def refusal_json(sentence: object) -> dict[str, str]:
    """Return the JSON of a refusal: its sentence, and its code where it has one."""
    code = code_of(str(sentence))
    return {"detail": str(sentence), **({"code": code} if code else {})}


def refused(_request: Request, refusal: Exception) -> Response:
    """Return the response to a picture's request that was refused: its sentence as JSON."""
    return JSONResponse(refusal_json(getattr(refusal, "message", refusal)), 422)


def unreadable(_request: Request, _refusal: Exception) -> Response:
    """Return the response to a malformed request, without echoing any part of it."""
    return JSONResponse({"detail": NO_JSON}, 422)


REFUSALS = {Error: refused, RequestValidationError: unreadable}
"""Exception handlers of Gradio's server for refusals and malformed requests."""
