"""Where the files that are no code lie: style sheets, browser pictures, data, bundled weights."""

import json
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "assets"
DATA = ASSETS / "data"
GLOSSARY = ROOT / "GLOSSARY.md"


@cache
def sentences() -> tuple[dict[str, str], ...]:
    """The bundled sentences, each with one hidden word and its answer."""
    return tuple(json.loads((DATA / "sentences.json").read_text("utf-8"))["sentences"])


@cache
def results() -> dict[str, Any]:
    """What was measured of the bundled weights when they were made; nothing where no file says."""
    path = ASSETS / "models" / "results.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


@cache
def plain_sentences() -> tuple[str, ...]:
    """Sentences that have nothing to do with each other."""
    return tuple((DATA / "plain_sentences.txt").read_text("utf-8").splitlines())
