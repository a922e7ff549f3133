"""Locations and contents of files that are no code: style sheets, scripts, data, weights."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

CODE = Path(__file__).parent
INSTALLED = CODE / "files"
"""Folder to which ``setup.py`` copies the files of an installed package."""
ROOT = INSTALLED if INSTALLED.is_dir() else CODE.parent
"""Root of the repository, or that of its files in an installed package."""
ASSETS = ROOT / "assets"
DATA = ASSETS / "data"
GLOSSARY = ROOT / "GLOSSARY.md"


class Broken(Exception):
    """Error of an unusable bundled file; the message is the sentence shown."""


@contextmanager
def read_in(path: Path) -> Iterator[None]:
    """Convert errors of reading a bundled file inside this context to ``Broken``.

    Raises:
        Broken: the file is missing or damaged.
    """
    try:
        yield
    except Broken:
        raise
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        why = f"{type(error).__name__}: {error}"
        message = f"{name} is missing or damaged ({why}). Fetch it again from the repository."
        raise Broken(message) from error


@cache
def sentences() -> tuple[dict[str, str], ...]:
    """Return the bundled sentences, each with one hidden word and its answer."""
    path = DATA / "sentences.json"
    with read_in(path):
        return tuple(json.loads(path.read_text("utf-8"))["sentences"])


@cache
def examples(path: Path = DATA / "examples.json") -> tuple[dict[str, Any], ...]:
    """Return example texts: name, accepted answers for each mask, and a description."""
    with read_in(path):
        return tuple(dict(row) for row in json.loads(path.read_text("utf-8"))["examples"])


@cache
def text_lists() -> tuple[dict[str, str], ...]:
    """Return the bundled lists of texts: name, title, kind, source, and the file's content."""
    folder = DATA / "texts"
    with read_in(folder / "lists.json"):
        rows = json.loads((folder / "lists.json").read_text("utf-8"))["lists"]
        return tuple(
            dict(row) | {"content": (folder / f"{row['name']}.csv").read_text("utf-8")}
            for row in rows
        )


@cache
def results() -> dict[str, Any]:
    """Return the recorded measurements of the bundled weights; empty where there is no file."""
    path = ASSETS / "models" / "results.json"
    with read_in(path):
        return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}


@cache
def plain_sentences() -> tuple[str, ...]:
    """Return sentences that are unrelated to each other."""
    path = DATA / "plain_sentences.txt"
    with read_in(path):
        return tuple(path.read_text("utf-8").splitlines())
