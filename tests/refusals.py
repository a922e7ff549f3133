"""Sentences of the refusals that the code raises below the page, read from its source."""

import ast
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "explorer"
PLACES = ("library", "models", "analysis")
"""Layers whose refusals a reader of the library meets."""
LEAST = 12
"""Letters of a piece of a sentence that tells it from others."""


@cache
def kinds() -> frozenset[str]:
    """Return the names of ``Refusal`` and of its subclasses."""
    classes = [
        (node.name, {ast.unparse(base) for base in node.bases})
        for path in PACKAGE.rglob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef)
    ]
    known = {"Refusal"}
    while more := {name for name, bases in classes if bases & known} - known:
        known |= more
    return frozenset(known)


@cache
def refusals() -> tuple[str, ...]:
    """Return the longest literal piece of every refusal's sentence, without its numbers."""
    found = {}
    for path in sorted(p for place in PLACES for p in (PACKAGE / place).rglob("*.py")):
        if "claims" in path.parts:
            continue
        tree = ast.parse(path.read_text("utf-8"))
        known = constants(tree) | constants(ast.parse((PACKAGE / "library/strings.py").read_text()))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in kinds():
                for argument in node.args:
                    piece = longest(argument, known)
                    if piece:
                        found[piece] = None
    return tuple(found)


def constants(tree: ast.Module) -> dict[str, str]:
    """Return the texts that a module names."""
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, str)
    }


def longest(node: ast.expr, known: dict[str, str]) -> str:
    """Return the longest literal piece of a sentence; empty where it is made elsewhere."""
    if isinstance(node, ast.JoinedStr):
        pieces = [part.value for part in node.values if isinstance(part, ast.Constant)]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        pieces = [node.value]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return longest(node.func.value, known) if node.func.attr == "format" else ""
    else:
        pieces = re.split(r"\{[^}]*\}", known.get(ast.unparse(node).rpartition(".")[2], ""))
    piece = max((" ".join(piece.split()) for piece in pieces), key=len, default="")
    return piece if len(piece) >= LEAST else ""
