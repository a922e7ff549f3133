"""One line per request, and the name under which it is found: never what the visitor wrote."""

import json
import logging
import secrets
import sys
from collections.abc import Mapping
from typing import Any

LOGGER = logging.getLogger("explorer.requests")
KEY, ROUTE = "explorer.request_id", "explorer.route"
"""Where a request keeps its name, and the address on the list that it found."""
HEADER = "x-request-id"


def name_request(scope: Any) -> str:  # noqa: ANN401 - an ASGI scope
    """Give a request its name."""
    scope[KEY] = secrets.token_hex(4)
    return str(scope[KEY])


def name_of(scope: Mapping[str, Any]) -> str:
    """The name that a request was given; one of its own where it came through no door."""
    return str(scope.get(KEY) or secrets.token_hex(4))


def write(scope: Mapping[str, Any], status: int, seconds: float) -> None:
    """The line: an address stands there as it is on the list, whatever was written in its place."""
    line = {
        "id": name_of(scope),
        "method": scope["method"],
        "path": scope.get(ROUTE) or "unknown",
        "status": status,
        "ms": round(1e3 * seconds, 1),
    }
    LOGGER.log(logging.WARNING if status >= 500 else logging.INFO, json.dumps(line))


def show() -> None:
    """Write every line to the standard error stream; without this, only those of failures."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
