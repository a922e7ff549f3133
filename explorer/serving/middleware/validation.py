"""Questions that Gradio would answer with a stack in the log: about what there is not."""

import json
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fastapi.exceptions import RequestValidationError
from gradio import route_utils
from gradio.exceptions import Error
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Message, Receive, Scope

from explorer.serving.middleware import strings
from explorer.serving.middleware.routes import CALL

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
        raise HTTPException(422, strings.NO_JSON)
    if body.fn_index is not None and body.fn_index not in blocks.fns:
        raise HTTPException(404, strings.NO_QUESTION)
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
            return JSONResponse({"detail": strings.NO_ANSWER}, 404)
    if route == STREAM:
        session = Request(scope).query_params.get("session_hash", "")
        queue = scope["app"].get_blocks()._queue
        # A session that went over to another process is still known here, and waits for nothing.
        if Headers(scope=scope).get(OTHERS) and not queue.pending_event_ids_session.get(session):
            return JSONResponse({"detail": strings.NO_ANSWER}, 404)
        if session not in queue.pending_messages_per_session:
            # As Gradio says it, by which its page knows that it has to begin anew.
            said = {"msg": "unexpected_error", "message": strings.NO_ANSWER}
            told = json.dumps(said | {"session_not_found": True, "success": False})
            return PlainTextResponse(f"data: {told}\n\n", media_type="text/event-stream")
    return None


async def checked_picture(scope: Scope, body: Receive) -> Receive:
    """The body of a picture's question, read to its end and known to ask something that there is.

    Raises:
        HTTPException: it does not.
    """
    if not Headers(scope=scope).get("content-type", "").startswith("application/json"):
        raise HTTPException(415, strings.NO_JSON)
    content = await Request(scope, body).body()
    try:
        asked = json.loads(content)
        block = scope["app"].get_blocks().blocks.get(asked["component_id"])
        answers = getattr(block, asked["fn_name"], None)
        known = isinstance(asked["session_hash"], str) and "data" in asked
    except (ValueError, TypeError, KeyError, RecursionError):
        raise HTTPException(400, strings.NO_JSON) from None
    if not known or not getattr(answers, "_is_server_fn", False):
        raise HTTPException(404, strings.NO_QUESTION)
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
        raise HTTPException(400, strings.NO_JSON) from None
    room = scope["app"].get_blocks()._queue
    if event := room.event_ids_to_events.get(event_id):
        if event.session_hash != session:
            raise HTTPException(404, strings.NO_ANSWER)
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
    return JSONResponse({"detail": strings.NO_JSON}, 422)


REFUSALS = {Error: refused, RequestValidationError: unreadable}
"""What Gradio's server does with failures that are sentences."""
