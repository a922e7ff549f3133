"""The refusal of a checkpoint, and the JSON files beside its weights."""

import json
import logging
from pathlib import Path
from typing import Any

from explorer.refusal import Refusal, Sentence, brief

logger = logging.getLogger(__name__)
MAX_LOGGED = 1_000
"""Maximum characters of a library's error message in the log."""
CONVERT = "python -m explorer convert {source} TARGET"
"""Command that writes a folder which every library reads alike."""
POINTERS = {
    b"version https://git-lfs": Sentence(
        "git-lfs-pointer", "a pointer file of Git LFS, which names the file's content"
    ),
    b"/annex/objects/": Sentence(
        "git-annex-pointer", "a pointer file of git-annex, which names the file's content"
    ),
}
PAGES = (b"<!doctype html", b"<html", b"<?xml")
NOT_JSON = Sentence(
    "not-json", "{source} has a {name} that is not JSON: line {line}, column {column}."
)
WEB_PAGE = Sentence("web-page", "a page of a web server, saved in place of the file")
EMPTY = Sentence("empty-file", "an empty file")
MISTAKEN = "{source} has, as its {name}, {what}."

OTHER_COLUMN = Sentence(
    "other-architecture",
    "{source} is of type {given!r}; this column takes {taken!r}: give it as {key}=PATH.",
)
UNKNOWN_TYPE = Sentence(
    "unknown-type", "{source} is of type {given!r}; the known types are {known}."
)
NO_ACTIVATION = Sentence(
    "unknown-activation", "{source} has {value} as {name}, which is no activation of transformers."
)
OTHER_NETWORK = Sentence(
    "other-network",
    "{source} holds the weights of another network: {found}, where {kind} has {wanted}.",
)
NOT_A_NAME = Sentence(
    "not-a-source", "{source!r} is neither a folder here nor the name of a hub repository."
)
NO_COLUMN = Sentence(
    "bad-model-flag",
    "--model takes NAME=PATH_OR_REPO, with the name of an architecture ({known}) or of a column of "
    "your own (a small letter, then at most 15 small letters, digits or underscores), not "
    "{argument!r}.",
)
NO_NETWORK = Sentence("describes-no-network", "a config.json that describes no network")
NOT_WHOLE = Sentence(
    "shape-not-whole",
    "{source} has {value} as {name} in its config.json, which is not a whole number.",
)
UNEVEN_HEADS = Sentence(
    "heads-not-dividing",
    "{source} contradicts itself: {n_heads} attention heads do not divide a width of {d_model}.",
)
TOO_DEEP = Sentence("too-many-layers", "{source} has more than {most} layers or heads in a layer.")
OTHER_SIZE = Sentence(
    "other-shape",
    "{source} contradicts itself: by its config.json {name} is {expected}, in its file {found}.",
)
NO_WEIGHT = Sentence("missing-weights", "{source} contradicts itself: its file lacks {name}.")
NO_PLACE = Sentence(
    "too-many-models", "This page has {most} models of its visitors; it takes no more."
)
NOT_LOADED = Sentence("not-downloaded", "{repo} could not be downloaded from the hub: {why}.")
NO_CHOICE = Sentence("not-a-choice", "{typed!r} is not a choice for this column.")


class NotAModel(Refusal):
    """Refusal of a checkpoint that cannot be used in a column; the message is one sentence."""


def unreadable(source: str, reason: Sentence, error: Exception) -> NotAModel:
    """Return the refusal of an unreadable checkpoint; the library's error is only logged."""
    # The error may quote text from untrusted files: repr keeps it on one line.
    logger.warning("a checkpoint is refused: %s", brief(repr(error), MAX_LOGGED))
    return NotAModel(Sentence(reason.code, f"{source} has {reason}."))


def mistaken(source: str, name: str, what: Sentence) -> Sentence:
    """Return the sentence on a file that holds something else than its name says."""
    return Sentence(what.code, MISTAKEN.format(source=source, name=name, what=what))


def mistaken_for(path: Path) -> Sentence | None:
    """Return what a file holds instead of its content: a pointer, a web page, nothing; or None."""
    with path.open("rb") as file:
        start = file.read(200)
    if not start.strip():
        return EMPTY
    for sign, what in POINTERS.items():
        if sign in start:
            return what
    return WEB_PAGE if start.lstrip().lower().startswith(PAGES) else None


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
            raise NotAModel(mistaken(source, path.name, what)) from error
        if path.is_file() and isinstance(error, json.JSONDecodeError):
            place = {"line": error.lineno, "column": error.colno}
            raise NotAModel(NOT_JSON.format(source=source, name=path.name, **place)) from error
        raise NotAModel(
            Sentence("unreadable-file", f"{source} has no {path.name} that can be read.")
        ) from error
