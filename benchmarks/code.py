"""``python -m benchmarks code``: how much code there is to hold, by layer."""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

ROOT = Path(__file__).parents[1]
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Count:
    """Files, code lines and function lengths of one folder."""

    folder: str
    files: int
    lines: int
    """Lines that hold code: no blank, import, docstring, comment, or constant of prose."""
    lengths: tuple[int, ...]
    """Lines of each function, docstring included."""

    def __str__(self) -> str:
        return f"{self.folder:24} {self.files:5} {self.lines:7,} {len(self.lengths):6,}"


def add_command(commands: argparse._SubParsersAction) -> None:
    """Add the command and its one option."""
    parser = commands.add_parser("code", help="files, code lines and functions, by layer")
    parser.add_argument("--folder", default="explorer", help="package to count (default: explorer)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a row for each layer, the sum, and how long functions are."""
    paths = sorted((ROOT / options.folder).rglob("*.py"))
    folders = Counter(_layer(path) for path in paths)
    counts = [count(name, [p for p in paths if _layer(p) == name]) for name in sorted(folders)]
    total = count(options.folder, paths)
    rows = [
        f"{'folder':24} {'files':>5} {'lines':>7} {'functions':>6}",
        *map(str, counts),
        str(total),
    ]
    tens = quantiles(total.lengths, n=10)
    rows.append(
        f"functions: median {tens[4]:.0f} lines, p90 {tens[8]:.0f}, most {max(total.lengths)}"
    )
    rows.append(f"functions named exactly twice: {named_twice(paths)}")
    sys.stdout.write("\n".join(rows) + "\n")
    return 0


def _layer(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[: min(2, len(parts) - 1)])


def count(name: str, paths: list[Path]) -> Count:
    """Return the counts of some files under one name."""
    trees = [ast.parse(path.read_text("utf-8")) for path in paths]
    lengths = [
        _length(node) for tree in trees for node in ast.walk(tree) if isinstance(node, Function)
    ]
    return Count(name, len(paths), sum(map(code_lines, paths)), tuple(lengths))


def _length(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def code_lines(path: Path) -> int:
    """Return how many lines of a file hold code."""
    source = path.read_text("utf-8")
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in SKIPPED and token.string.strip()
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - set(_not_code(ast.parse(source))))


def _not_code(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of imports, of strings that stand alone, and of constants of prose."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        is_string = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_prose = node in tree.body and _is_prose(node)
        if isinstance(node, ast.Import | ast.ImportFrom) or is_string or is_prose:
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_prose(node: ast.stmt) -> bool:
    """Return whether a constant holds nothing but texts, one of which is longer than a name."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    inner = [n for n in ast.walk(node.value) if not isinstance(n, ast.Load)]
    texts = [n.value for n in inner if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    plain = all(isinstance(n, ast.Constant | ast.Dict | ast.Tuple | ast.List) for n in inner)
    return plain and any(" " in text for text in texts)


def named_twice(paths: list[Path]) -> int:
    """Return how many functions are named exactly twice: defined, and used in one place."""
    sources = [path.read_text("utf-8") for path in paths]
    words = Counter(word for source in sources for word in re.findall(r"\w+", source))
    defined = {
        node.name
        for source in sources
        for node in ast.walk(ast.parse(source))
        if isinstance(node, Function)
    }
    return sum(words[name] == 2 for name in defined)
