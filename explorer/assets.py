"""Where the files that are no code lie: style sheets, browser pictures, data, bundled weights."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "assets"
DATA = ASSETS / "data"
GLOSSARY = ROOT / "GLOSSARY.md"


class Broken(Exception):
    """A file that comes with the page cannot be used; the message is the sentence that is said."""


@contextmanager
def read_in(path: Path) -> Iterator[None]:
    """What is read of a file in here is there as it should be.

    Raises:
        Broken: it is not.
    """
    try:
        yield
    except Broken:
        raise
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        why = f"{type(error).__name__}: {error}"
        said = f"{name} is missing or damaged ({why}). Fetch it again from the repository."
        raise Broken(said) from error


@cache
def sentences() -> tuple[dict[str, str], ...]:
    """The bundled sentences, each with one hidden word and its answer."""
    path = DATA / "sentences.json"
    with read_in(path):
        return tuple(json.loads(path.read_text("utf-8"))["sentences"])


@cache
def examples(path: Path = DATA / "examples.json") -> tuple[dict[str, Any], ...]:
    """Texts to try: the name, the answers that are accepted for each mask, what it shows."""
    with read_in(path):
        return tuple(dict(one) for one in json.loads(path.read_text("utf-8"))["examples"])


@cache
def results() -> dict[str, Any]:
    """What was measured of the bundled weights when they were made; nothing where no file says."""
    path = ASSETS / "models" / "results.json"
    with read_in(path):
        return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}


@cache
def plain_sentences() -> tuple[str, ...]:
    """Sentences that have nothing to do with each other."""
    path = DATA / "plain_sentences.txt"
    with read_in(path):
        return tuple(path.read_text("utf-8").splitlines())
