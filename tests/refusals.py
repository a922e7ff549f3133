"""Sentences of the refusals that the code raises below the page, read from its source."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.sources import tree_of, trees_in

PACKAGE = Path(__file__).parents[1] / "explorer"
PLACES = ("library", "models", "analysis", "inference", "serving", "ui", "lists")
LEAST = 12
"""Letters of a piece of a sentence that tells it from others."""


@cache
def kinds() -> frozenset[str]:
    """Return the names of ``Refusal`` and of its subclasses."""
    classes = [
        (node.name, {ast.unparse(base) for base in node.bases})
        for tree in trees_in(PACKAGE).values()
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    ]
    known = {"Refusal"}
    while more := {name for name, bases in classes if bases & known} - known:
        known |= more
    return frozenset(known)


@cache
def refusals() -> tuple[str, ...]:
    """Return every refusal's sentence, its numbers and names replaced by sevens."""
    found = {}
    for path in sorted(p for place in PLACES for p in (PACKAGE / place).rglob("*.py")):
        if "claims" in path.parts:
            continue
        tree = tree_of(path)
        known = strings_for(path) | constants(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in kinds():
                for argument in node.args:
                    pieces = pieces_of(argument, known)
                    if is_telling(pieces):
                        found["7".join(pieces)] = None
    return tuple(found)


def strings_for(path: Path) -> dict[str, str]:
    """Return the texts of the strings modules that a module may use, its own folder's last."""
    modules = (PACKAGE / "library/strings.py", PACKAGE / "ui/kit/strings.py")
    found: dict[str, str] = {}
    for module in (*modules, path.parent / "strings.py"):
        if module.exists():
            found |= constants(tree_of(module))
    return found


def constants(tree: ast.Module) -> dict[str, str]:
    """Return the texts that a module names."""
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, str)
    }


def pieces_of(node: ast.expr, known: dict[str, str]) -> list[str]:
    """Return the literal pieces of a sentence; none where it is made elsewhere."""
    if isinstance(node, ast.JoinedStr):
        texts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
        text = "".join(map(str, texts))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return pieces_of(node.func.value, known) if node.func.attr == "format" else []
    else:
        text = known.get(ast.unparse(node).rpartition(".")[2], "")
    return [" ".join(piece.split(" ")) for piece in re.split(r"\{[^}]*\}", text)]


def is_telling(pieces: list[str]) -> bool:
    """Return whether a piece tells the sentence from others."""
    return max(map(len, pieces), default=0) >= LEAST
