"""One line per request, and the name under which it is found: never what the visitor wrote."""

import json
import logging
import secrets
import sys
from collections.abc import Mapping
from typing import Any

from uvicorn.config import LOGGING_CONFIG

LOGGER = logging.getLogger("explorer.requests")
FAILURES = logging.getLogger("explorer.failures")
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


def fail(scope: Mapping[str, Any], failure: Exception) -> None:
    """Log a failure that nobody foresaw, with its stack, under the name of its request."""
    failure.__suppress_context__ = True  # one stack; a cause that the code names is still in it
    FAILURES.error("failure %s", name_of(scope), exc_info=failure)


class OneLine(logging.Formatter):
    """Formats whatever is logged, stacks and warnings too, as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a request as it is, and of anything else who says what."""
        said = record.getMessage()
        if record.name == LOGGER.name:
            return said
        line = {"level": record.levelname, "logger": record.name, "message": said}
        if record.exc_info:
            line["stack"] = self.formatException(record.exc_info)
        return json.dumps(line)


def show() -> None:
    """Write a line for every request to the standard error stream, and all else there as JSON too.

    Without this only failures and warnings are written, as each library does it.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    logging.getLogger().addHandler(handler)
    logging.captureWarnings(True)
    LOGGER.setLevel(logging.INFO)
    for logger in LOGGING_CONFIG["loggers"].values():
        logger |= {"handlers": [], "propagate": True}
