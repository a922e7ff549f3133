"""The one parent of every error whose text is written for readers, also between processes."""

import errno
import logging
import secrets

logger = logging.getLogger(__name__)
NO_ROOM = ("memory", "can't start new thread")
"""What torch and Python say in a ``RuntimeError`` where there is too little memory."""
FAILED = "logged as {mark} in the process where it happened: {kind}: {text}"


class Refusal(Exception):
    """Refuse a question: the message is one sentence, shown to whoever asked as it is.

    Every other exception is a failure of the program: it is logged, and its text shown to nobody.
    """


class Failed(Exception):
    """Stand for an error that was raised and logged in another process."""


def carried(error: BaseException | None) -> BaseException:
    """Turn an error into one that crosses to another process, where it is raised again.

    A refusal stays a refusal. Anything else is logged here, since a library's own error may not
    survive the way. Out of memory stays what it is: the page has a sentence of its own for it.
    """
    if isinstance(error, Refusal):
        return error
    mark = secrets.token_hex(4)
    logger.error("failure %s", mark, exc_info=error)
    said = FAILED.format(mark=mark, kind=type(error).__name__, text=error)
    plain = (kind for kind in (MemoryError, RuntimeError) if isinstance(error, kind))
    return next(plain, Failed)(said)


def is_of_memory(error: BaseException) -> bool:
    """Tell whether the machine had too little memory; torch has no type for it on a processor."""
    if isinstance(error, RuntimeError):
        return any(sign in str(error).lower() for sign in NO_ROOM)
    return isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM


def brief(written: object, most: int = 60) -> str:
    """Shorten what somebody else wrote, so that a sentence of ours can say it back."""
    text = str(written)
    return text if len(text) <= most else f"{text[: most - 1]}…"
