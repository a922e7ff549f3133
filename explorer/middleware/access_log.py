"""Access log: a line per request under the request's id, never with what the visitor wrote."""

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
"""Keys of the ASGI scope for the request's id and for the route that it matched."""
HEADER = "x-request-id"
LEFT = 499
"""Status in the log, as nginx has it, of a client that left before its request was whole."""


def name_request(scope: Any) -> str:  # noqa: ANN401 - an ASGI scope
    """Set a random id on a request's scope and return it."""
    scope[KEY] = secrets.token_hex(4)
    return str(scope[KEY])


def name_of(scope: Mapping[str, Any]) -> str:
    """Return the id of a request; a new one for a request that passed no filter."""
    return str(scope.get(KEY) or secrets.token_hex(4))


def write(scope: Mapping[str, Any], status: int, seconds: float) -> None:
    """Log the line of a request; its path is the pattern of the route, without visitors' values."""
    line = {
        "id": name_of(scope),
        "method": scope["method"],
        "path": scope.get(ROUTE) or "unknown",
        "status": status,
        "ms": round(1e3 * seconds, 1),
    }
    LOGGER.log(logging.WARNING if status >= 500 else logging.INFO, json.dumps(line))


def fail(scope: Mapping[str, Any], failure: Exception) -> None:
    """Log an unexpected failure with its traceback under the id of its request."""
    failure.__suppress_context__ = True  # one traceback; an explicit cause is still part of it
    FAILURES.error("failure %s", name_of(scope), exc_info=failure)


class OneLine(logging.Formatter):
    """Formatter that writes each record, tracebacks and warnings too, as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a request's line as it is, any other record as JSON: level, logger, message."""
        message = record.getMessage()
        if record.name == LOGGER.name:
            return message
        line = {"level": record.levelname, "logger": record.name, "message": message}
        if record.exc_info:
            line["stack"] = self.formatException(record.exc_info)
        return json.dumps(line)


def show() -> None:
    """Log a line for every request, and all other records, to stderr as JSON.

    Without it only failures and warnings are written, in each library's own format.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine())
    logging.getLogger().addHandler(handler)
    logging.captureWarnings(True)
    LOGGER.setLevel(logging.INFO)
    for logger in LOGGING_CONFIG["loggers"].values():
        logger |= {"handlers": [], "propagate": True}
