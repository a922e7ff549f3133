"""Requests of MCP clients: their address, and checks of their messages.

Gradio answers a tool call by a request of its own, from this machine, with the headers of the
client's request. The client's address goes along in a header that only this process can write.
"""

import hmac
import json
import secrets
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Receive, Scope

from explorer.middleware import validation

ROUTE = "/gradio_api/mcp/"
HEADER = "x-explorer-client"
_SECRET = secrets.token_hex(16)
"""Known to this process alone, so that nobody else can write the header."""
MAX_DEPTH = 16
"""Most levels of lists and objects in a message; those of the tools have about five."""


def pass_on_address(scope: Scope, route: str) -> None:
    """Write the client's address into a tool call, and read it from the request that follows."""
    headers = MutableHeaders(scope=scope)
    secret, _, address = headers.get(HEADER, "").partition(" ")
    if HEADER in headers:
        del headers[HEADER]
    if address and hmac.compare_digest(secret.encode(), _SECRET.encode()):
        scope["client"] = (address, 0)
    if route == ROUTE and scope.get("client"):
        headers[HEADER] = f"{_SECRET} {scope['client'][0]}"


async def checked_message(scope: Scope, body: Receive) -> Receive:
    """Read and check the message of an MCP client, and return a ``receive`` that replays it.

    Raises:
        HTTPException: it is no JSON-RPC message, or is nested too deeply.
    """
    if scope["method"] != "POST":
        return body
    content = await Request(scope, body).body()
    try:
        message = json.loads(content)
    except (ValueError, RecursionError):
        raise HTTPException(400, validation.NO_MESSAGE) from None
    if not is_message(message) or is_deeper(message, MAX_DEPTH):
        raise HTTPException(400, validation.NO_MESSAGE)
    return validation.replayed(validation.whole(content), body)


def is_message(message: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a message has the form of a JSON-RPC request or notification."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return False
    number = message.get("id", 0)
    return (
        isinstance(message.get("method"), str)
        and isinstance(message.get("params") or {}, dict)
        and isinstance(number, str | int)
        and not isinstance(number, bool)
    )


def is_deeper(value: Any, most: int) -> bool:  # noqa: ANN401 - any JSON
    """Return whether lists and objects are nested in more than ``most`` levels."""
    level = [value]
    for _ in range(most):
        inner = [part for part in level if isinstance(part, list | dict)]
        level = [
            child for part in inner for child in (part.values() if isinstance(part, dict) else part)
        ]
    return any(isinstance(part, list | dict) for part in level)
