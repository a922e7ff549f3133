"""Base class of all errors whose message is written for readers, also between processes."""

import errno
import logging
import secrets

from explorer.remedies import remedy_for

logger = logging.getLogger(__name__)
NO_ROOM = ("memory", "can't start new thread")
"""Parts of the ``RuntimeError`` messages of torch and Python when memory is short."""
FAILED = "logged as {mark} in the process where it happened: {kind}: {text}"


class Refusal(Exception):
    """Refusal of a request: the message is one sentence, shown unchanged to the reader.

    Every other exception is a failure of the program: it is logged, and its text is not shown.
    A note, which tracebacks print, says what to do; the page links to the same row.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        if remedy := remedy_for(str(self)):
            self.add_note(remedy.note)


class Failed(Exception):
    """Stand-in for an error that was raised and logged in another process."""


def carried(error: BaseException | None) -> BaseException:
    """Return an error that can be pickled to another process and raised there again.

    A refusal stays a refusal. Anything else is logged here, since a library's own error may not
    survive pickling. Out of memory keeps its type: the page has its own sentence for it.
    """
    if isinstance(error, Refusal):
        return error
    mark = secrets.token_hex(4)
    logger.error("failure %s", mark, exc_info=error)
    message = FAILED.format(mark=mark, kind=type(error).__name__, text=error)
    types = (kind for kind in (MemoryError, RuntimeError) if isinstance(error, kind))
    return next(types, Failed)(message)


def is_of_memory(error: BaseException) -> bool:
    """Return whether memory was short; torch has no exception type for it on a processor."""
    if isinstance(error, RuntimeError):
        return any(sign in str(error).lower() for sign in NO_ROOM)
    return isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM


def brief(value: object, max_length: int = 60) -> str:
    """Shorten untrusted text for quotation in a message."""
    text = str(value)
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"
