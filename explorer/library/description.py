"""Description of a public function, read from its signature and docstring.

The shell, the endpoints, the tools of language models and ``docs/api.md`` are made from it.
"""

import ast
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from explorer.library.family import Family


@dataclass(frozen=True, slots=True)
class Description:
    """Parts of a function's docstring."""

    summary: str
    arguments: Mapping[str, str]
    """By argument: its note."""
    json: str
    """Description of the JSON object that the endpoint answers with."""


def described(function: Callable[..., Any]) -> Description:
    """Return the first sentence of a docstring, its note on each argument, and its JSON.

    The docstring of ``to_dict`` of each result that it returns describes the JSON.
    """
    text = inspect.getdoc(function) or ""
    notes: dict[str, str] = {}
    last = ""
    for line in _section(text, "Args:"):
        name, colon, note = line.strip().partition(": ")
        if not line.startswith("     ") and colon:
            last, notes[name] = name, note
        elif last:
            notes[last] += f" {line.strip()}"
    returned = inspect.get_annotations(function, eval_str=True, locals={"Family": Family}).get(
        "return"
    )
    documents = [getattr(one, "to_dict", one) for one in get_args(returned) or (returned,)]
    bodies = [(inspect.getdoc(one) or "").partition("\n\n")[2] for one in documents]
    return Description(text.partition("\n")[0], notes, " ".join(" ".join(bodies).split()))


def example_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the arguments of the call in a docstring's example, by name.

    A name stands for the literal that an earlier line of the example gives it.
    """
    text = inspect.getdoc(function) or ""
    lines = (line.strip() for line in _section(text, "Example:"))
    source = "\n".join(line[4:] for line in lines if line.startswith((">>> ", "... ")))
    tree = ast.parse(source)
    literals = dict(_literals(tree))
    called = f"explorer.{function.__name__}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == called:
            values = [_value(argument, literals) for argument in node.args]
            named = {k.arg: _value(k.value, literals) for k in node.keywords if k.arg}
            return dict(inspect.signature(function).bind(*values, **named).arguments)
    return {}


def _literals(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    """Yield the names that an example gives to literals, with their values."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                yield node.targets[0].id, ast.literal_eval(node.value)
            except ValueError:
                continue  # the name of a result


def _value(node: ast.expr, literals: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any literal
    return literals[node.id] if isinstance(node, ast.Name) else ast.literal_eval(node)


def _section(text: str, title: str) -> list[str]:
    """Return the indented lines below a title of a docstring."""
    lines = text.partition(f"\n{title}\n")[2].split("\n")
    return [*itertools.takewhile(lambda line: line.startswith("    "), lines)]
