"""One-line changes of a source file, each a fault that someone could make."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

COMPARISON = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "===": "!==",
    "!==": "===",
    "in": "not in",
    "is": "is not",
}
BOOLEAN = {"and": "or", "or": "and", "&&": "||", "||": "&&", "??": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "*", "**": "*"}
TRUTH = {"True": "False", "False": "True", "true": "false", "false": "true"}
KINDS = ("comparison", "constant", "boolean", "arithmetic", "returned value", "removed statement")
JS_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<number>0x[\da-f]+|\d[\d_]*\.?\d*(?:e[+-]?\d+)?)
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<operator>=>|>>>|>>|<<|===|!==|\*\*|&&|\|\||\?\?|\?\.|\+\+|--|<=|>=|==|!=|[-+*/%&|^]=|[^\w\s])""",
    re.VERBOSE | re.DOTALL,
)
JS_TEMPLATE = re.compile(r"\\.|`|\$\{|[{}]|[^\\`${}]+|\$", re.DOTALL)
JS_REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*")
JS_WORDS = {"return", "typeof", "case", "of", "in", "delete", "void", "throw", "new", "else"}
"""Words after which a slash begins a regular expression and a sign has one operand."""
JS_HEADS = re.compile(
    "(return|typeof|case|of|in|delete|void|throw|new|else|const|let|var|import|export|if|for|while"
    "|switch|break|continue|function|class|async|do|try|default|static|get|set)"
)
"""Words with which no removable statement begins."""


@dataclass(frozen=True, slots=True)
class Change:
    """The replacement of a part of one line."""

    path: Path
    kind: str
    start: int
    """Offset of the part in the file's characters."""
    end: int
    new: str

    def applied(self, source: str) -> str:
        """Return the changed source."""
        return source[: self.start] + self.new + source[self.end :]

    def line(self, source: str) -> int:
        """Return the number of the changed line, from 1."""
        return source.count("\n", 0, self.start) + 1

    def lines(self, source: str) -> tuple[str, str]:
        """Return the line before and after the change, without its indent."""
        at = self.line(source) - 1
        before, after = (text.splitlines()[at] for text in (source, self.applied(source)))
        return before.strip(), after.strip()


@dataclass(frozen=True, slots=True)
class Token:
    """A token and its offsets."""

    kind: str
    text: str
    start: int
    end: int


def changes(path: Path) -> Iterator[Change]:
    """Yield every one-line change of a Python or JavaScript file."""
    source = path.read_text("utf-8")
    for kind, start, end, new in (python if path.suffix == ".py" else javascript)(source):
        if "\n" not in source[start:end]:
            yield Change(path, kind, start, end, new)


Found = Iterator[tuple[str, int, int, str]]


def python(source: str) -> Found:
    """Yield the kind, the place and the replacement of each change of a Python source."""
    places = Places(source)
    tokens = python_tokens(source, places)
    for node in walked(ast.parse(source)):
        if isinstance(node, ast.Constant):
            yield from of_constant(node, places)
        elif isinstance(node, ast.Compare | ast.BoolOp | ast.BinOp):
            yield from of_operators(node, places, tokens)
        elif isinstance(node, ast.Return) and node.value is not None:
            if ast.unparse(node.value) != "None":
                yield ("returned value", *places.of(node.value), "None")
        elif isinstance(node, ast.stmt) and is_removable(node):
            yield ("removed statement", *places.of(node), "pass")


def walked(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes outside f-strings, inside which Python 3.11 gives wrong places."""
    yield node
    if not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from walked(child)


def is_removable(node: ast.stmt) -> bool:
    """Return whether a statement can be left out: a call, or a value given to a name."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Await)
    return isinstance(node, ast.Assign | ast.AugAssign | ast.Delete)


class Places:
    """Offsets of syntax nodes, whose columns count bytes."""

    def __init__(self, source: str) -> None:
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        """Return the offset of a line, from 1, and a column in bytes."""
        head = self.lines[line - 1].encode()[:column].decode()
        return self.starts[line - 1] + len(head)

    def of(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where a node begins and ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.at(node.lineno, node.col_offset)
        return start, self.at(node.end_lineno, node.end_col_offset)


def python_tokens(source: str, places: Places) -> list[Token]:
    """Return the operators and words of a Python source."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.OP, tokenize.NAME):
            (row, left), (_, right) = token.start, token.end
            offset = places.starts[row - 1]
            found.append(Token("operator", token.string, offset + left, offset + right))
    return found


def of_constant(node: ast.Constant, places: Places) -> Found:
    """Yield the change of a number or a truth value."""
    if isinstance(node.value, bool):
        yield ("constant", *places.of(node), str(not node.value))
    elif isinstance(node.value, int | float):
        yield ("constant", *places.of(node), repr(node.value + 1))


def of_operators(
    node: ast.Compare | ast.BoolOp | ast.BinOp, places: Places, tokens: list[Token]
) -> Found:
    """Yield the changes of the operators between the operands of a node."""
    if isinstance(node, ast.Compare):
        kind, table, operands = "comparison", COMPARISON, [node.left, *node.comparators]
    elif isinstance(node, ast.BoolOp):
        kind, table, operands = "boolean", BOOLEAN, node.values
    else:
        kind, table, operands = "arithmetic", ARITHMETIC, [node.left, node.right]
    for left, right in pairwise(operands):
        start, end = places.of(left)[1], places.of(right)[0]
        between = [t for t in tokens if start <= t.start and t.end <= end and t.text not in "()"]
        if len(between) == 1 and (new := table.get(between[0].text)):
            yield kind, between[0].start, between[0].end, new
        elif [t.text for t in between] in (["not", "in"], ["is", "not"]):
            new = "in" if between[0].text == "not" else "is"
            yield kind, between[0].start, between[1].end, new


def javascript(source: str) -> Found:
    """Yield the kind, the place and the replacement of each change of a JavaScript source."""
    tokens = [token for token in javascript_tokens(source) if token.kind != "comment"]
    yield from of_lines(source, tokens)
    before = None
    for token in tokens:
        if token.kind == "number" and re.fullmatch(r"\d+(\.\d+)?", token.text):
            number = float(token.text) + 1 if "." in token.text else int(token.text) + 1
            yield "constant", token.start, token.end, str(number)
        elif token.text in TRUTH:
            yield "constant", token.start, token.end, TRUTH[token.text]
        elif token.kind == "operator" and is_operand(before):
            for kind, table in (
                ("comparison", COMPARISON),
                ("boolean", BOOLEAN),
                ("arithmetic", ARITHMETIC),
            ):
                if new := table.get(token.text):
                    yield kind, token.start, token.end, new
        before = token


def is_operand(token: Token | None) -> bool:
    """Return whether an operator after this token has it as its left operand."""
    if token is None or token.text in JS_WORDS:
        return False
    return token.kind != "operator" or token.text in (")", "]", "}")


def javascript_tokens(source: str) -> Iterator[Token]:
    """Yield the tokens of a JavaScript source, its regular expressions as strings."""
    at, before = 0, None
    while at < len(source):
        if source[at].isspace():
            at += 1
            continue
        token = javascript_token(source, at, before)
        if token.kind != "comment":
            before = token
        at = token.end
        yield token


def javascript_token(source: str, at: int, before: Token | None) -> Token:
    """Return the token that begins at an offset, after another one."""
    if source[at] == "`":
        return Token("string", "`", at, template_end(source, at + 1))
    expression = None if is_operand(before) else JS_REGEX.match(source, at)
    if expression and not source.startswith(("//", "/*"), at):
        return Token("string", "/", at, expression.end())
    found = JS_TOKEN.match(source, at)
    if found is None:
        raise ValueError(f"no token of JavaScript at {source[at : at + 20]!r}")
    return Token(found.lastgroup or "", found[0], at, found.end())


def template_end(source: str, at: int) -> int:
    """Return where a template ends whose first backtick is before an offset.

    ``opened`` holds what is open: a template, its expression, a brace in one. Quotes in an
    expression are taken for parts of it, so an expression must not quote a backtick or a brace.
    """
    opened = ["`"]
    while opened:
        part = JS_TEMPLATE.match(source, at)
        if part is None:
            raise ValueError(f"a template without an end at {source[at : at + 20]!r}")
        at, text = part.end(), part[0]
        in_text = opened[-1] == "`"
        if text == "`":
            opened.pop() if in_text else opened.append("`")
        elif text == ("${" if in_text else "{"):
            opened.append("{")
        elif text == "}" and not in_text:
            opened.pop()
    return at


def of_lines(source: str, tokens: list[Token]) -> Found:
    """Yield the returned values and the whole statements that stand in one line."""
    start = 0
    for line in source.splitlines(keepends=True):
        end = start + len(line)
        inside = [t for t in tokens if start <= t.start and t.end <= end]
        previous = next((t.text for t in reversed(tokens) if t.end <= start), ";")
        start = end
        if not is_statement(inside) or previous not in (";", "{", "}"):
            continue
        if inside[0].text == "return" and len(inside) > 2:
            yield "returned value", inside[0].end, inside[-1].start, ""
        elif inside[0].kind == "name" and not JS_HEADS.fullmatch(inside[0].text):
            yield "removed statement", inside[0].start, inside[-1].end, ";"


def is_statement(tokens: list[Token]) -> bool:
    """Return whether a line's tokens end a statement and close what they open."""
    depth = 0
    for token in tokens:
        depth += (token.text in tuple("([{")) - (token.text in tuple(")]}"))
        if depth < 0:
            return False
    return bool(tokens) and depth == 0 and tokens[-1].text == ";"
