"""Source files as syntax trees, each of them parsed once for all tests of a process."""

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the tree of a Python file."""
    return ast.parse(path.read_text("utf-8"))


@cache
def trees_in(folder: Path) -> dict[Path, ast.Module]:
    """Return the tree of each Python file below a folder, in the order of their paths."""
    return {path: tree_of(path) for path in sorted(folder.rglob("*.py"))}
