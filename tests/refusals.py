"""Sentences of the refusals, and their codes, read from the source."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.sources import trees_in

PACKAGE = Path(__file__).parents[1] / "explorer"


@cache
def refusals() -> tuple[tuple[str, str], ...]:
    """Return the code and the text of every ``Sentence`` of the package, ``…`` for its gaps."""
    calls = [
        node
        for tree in trees_in(PACKAGE).values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Sentence"
    ]
    written = [call.args for call in calls if isinstance(call.args[0], ast.Constant)]
    return tuple((code.value, text_of(text)) for code, text in written if code.value)


def text_of(node: ast.expr) -> str:
    """Return the text of a sentence, of which only the gaps are filled in when it is said."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(p.value) if isinstance(p, ast.Constant) else "…" for p in node.values)
    return re.sub(r"\{\w+[^}\"']*\}", "…", node.value) if isinstance(node, ast.Constant) else "…"
