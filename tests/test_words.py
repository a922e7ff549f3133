"""The words that the reader sees: a number has one form, a name has the usual hyphen."""

import ast
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NUMBERS = {
    r"[\d}] %": "60%, without a space",
    r"(?<![\w\[×.·/−-])\.\d\d\b": "0.13, with its zero",
    r"(?<=[ (\[:|])-\d+(\.\d+)?(?![\d-])(?!\))": "−0.5, with a true minus",
    r"\d\.\d+e[-+]?\d": "7.0×10⁻⁴",
}


def constants(source: str) -> list[str]:
    """The strings of a module that are not its documentation, placeholders left as {}."""
    tree = ast.parse(source)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    said = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            said.append(
                "".join(
                    getattr(part, "value", "{}") if isinstance(part, ast.Constant) else "{x}"
                    for part in node.values
                )
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            said += [] if id(node) in bare else [node.value]
    return said


def strings(source: str) -> list[str]:
    """The strings of a script, one line each."""
    code = re.sub(r"(?m)(^|\s)//.*$|/\*.*?\*/", "", source, flags=re.DOTALL)
    return [found[1:-1] for found in re.findall(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`]*`", code)]


def values(found: object) -> list[str]:
    """Every text of a JSON document."""
    if isinstance(found, str):
        return [found]
    items = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return [text for item in items for text in values(item)]


def prose(source: str) -> list[str]:
    """The lines of a Markdown file that are not code."""
    return re.sub(r"```.*?```|`[^`]*`", "", source, flags=re.DOTALL).splitlines()


def read(pattern: str, kind: Callable[[str], list[str]]) -> dict[str, list[str]]:
    found = sorted(ROOT.glob(pattern))
    assert found, pattern
    return {p.relative_to(ROOT).as_posix(): kind(p.read_text("utf-8")) for p in found}


@cache
def sources() -> dict[str, list[str]]:
    """Every text that a reader may see, by file."""
    layers = (
        "ui",
        "views",
        "analysis",
        "serving",
        "timing",
        "models",
        "inference",
        "links",
        "lists",
    )
    return {
        **{
            k: v
            for layer in layers
            for k, v in read(f"explorer/{layer}/**/*.py", constants).items()
        },
        **read("training/report/card*.py", constants),
        **read("training/report/overview.py", constants),
        **read("assets/js/**/*.js", strings),
        **read("assets/data/gallery.json", lambda s: values(json.loads(s))),
        **read(
            "assets/data/examples.json",
            lambda s: [e[k] for e in json.loads(s)["examples"] for k in ("label", "shows")],
        ),
        **read("explorer/*.py", constants),
        **read(
            "assets/data/claims.json",
            lambda s: [c[k] for c in json.loads(s)["checks"] for k in ("name", "measures")],
        ),
        **read("README.md", prose),
        **read("BENCHMARKS.md", prose),
        **read("GLOSSARY.md", prose),
        **read("docs/*.md", prose),
        **read("assets/models/**/README.md", prose),
    }


def offenders(patterns: dict[str, str], kinds: tuple[str, ...]) -> list[str]:
    found = []
    for path, texts in sources().items():
        for text in texts if path.endswith(kinds) else ():
            for pattern, instead in patterns.items():
                hit = re.search(pattern, text, re.IGNORECASE)
                if hit:
                    found.append(f"{path}: “{hit[0]}” in “{text[:90]}”; rather: {instead}")
    return found


@pytest.mark.long
def test_numbers_have_one_form():
    assert not offenders(NUMBERS, (".py", ".json", ".md"))


def test_no_name_is_held_together_by_another_hyphen():
    """A non-breaking hyphen looks alike and is not found by a search."""
    assert not [p for p, texts in sources().items() if any("‑" in text for text in texts)]
