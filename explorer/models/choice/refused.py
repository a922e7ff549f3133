"""The refusal of a checkpoint, and the JSON files beside its weights."""

import json
import logging
from pathlib import Path
from typing import Any

from explorer.refusal import Refusal, brief

logger = logging.getLogger(__name__)
MAX_LOGGED = 1_000
"""Maximum characters of a library's error message in the log."""
CONVERT = "python -m explorer convert {source} TARGET"
"""Command that writes a folder which every library reads alike."""
POINTERS = {
    b"version https://git-lfs": "a pointer file of Git LFS, which names the file's content",
    b"/annex/objects/": "a pointer file of git-annex, which names the file's content",
}
PAGES = (b"<!doctype html", b"<html", b"<?xml")
NOT_JSON = "{source} has a {name} that is not JSON: line {line}, column {column}."
WEB_PAGE = "a page of a web server, saved in place of the file"
EMPTY = "an empty file"


class NotAModel(Refusal):
    """Refusal of a checkpoint that cannot be used in a column; the message is one sentence."""


def unreadable(source: str, reason: str, error: Exception) -> NotAModel:
    """Return the refusal of an unreadable checkpoint; the library's error is only logged."""
    # The error may quote text from untrusted files: repr keeps it on one line.
    logger.warning("a checkpoint is refused: %s", brief(repr(error), MAX_LOGGED))
    return NotAModel(f"{source} has {reason}.")


def mistaken_for(path: Path) -> str:
    """Return what a file holds instead of its content: a pointer, a web page, nothing; or empty."""
    with path.open("rb") as file:
        start = file.read(200)
    if not start.strip():
        return EMPTY
    for sign, what in POINTERS.items():
        if sign in start:
            return what
    return WEB_PAGE if start.lstrip().lower().startswith(PAGES) else ""


def has_mark(path: Path) -> bool:
    """Return whether a file begins with the byte-order mark that some editors write."""
    with path.open("rb") as file:
        return file.read(3) == b"\xef\xbb\xbf"


def read_json(path: Path, source: str, absent: str = "") -> dict[str, Any]:
    """Return the object of a JSON file; of an absent one, what ``absent`` holds.

    Raises:
        NotAModel: it cannot be read, or holds something else.
    """
    try:
        text = path.read_text("utf-8-sig") if path.exists() else absent
        values = json.loads(text)
        return dict(values.items())
    except (OSError, ValueError, AttributeError) as error:
        if path.is_file() and (what := mistaken_for(path)):
            raise NotAModel(f"{source} has, as its {path.name}, {what}.") from error
        if path.is_file() and isinstance(error, json.JSONDecodeError):
            place = {"line": error.lineno, "column": error.colno}
            raise NotAModel(NOT_JSON.format(source=source, name=path.name, **place)) from error
        raise NotAModel(f"{source} has no {path.name} that can be read.") from error
