"""Every public name that programs and links rely on, one a line.

``python -m tests.public_names > tests/public_names.txt`` writes them anew: a line that changes or
disappears breaks a program or a link.
"""

import inspect
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from unittest.mock import patch

import explorer
from explorer.links.codec import MOVED, default_params
from explorer.links.tabs import FOLDS, PARTS
from explorer.serving.start import parse_flags
from explorer.ui.shell.api import ENDPOINTS, TABLE

ARGUMENTS = {row.name: dict(row.example) for row in TABLE if row.name != "latency"}
"""Arguments of a request to each endpoint, except the one that measures time."""


def public_names() -> list[str]:
    """Return functions with their arguments, answers' fields, flags, and fields of links."""
    return [*package(), *answers(), *flags(), *links()]


def package() -> Iterator[str]:
    """Yield the package's names with their signatures, and the public members of its classes."""
    for name in explorer.__all__:
        value = getattr(explorer, name)
        yield f"{name}{signature(value)}"
        if inspect.isclass(value):
            members = [n for n in vars(value) if not n.startswith("_") and n.islower()]
            yield from (f"{name}.{n}{signature(getattr(value, n))}" for n in sorted(members))


def signature(value: object) -> str:
    """Return a signature in the words of the source, independent of where a type lives."""
    if not callable(value) or (inspect.isclass(value) and issubclass(value, BaseException)):
        return ""
    text = str(inspect.signature(value))
    for module in ("explorer.library.family.", "explorer.library.", "collections.abc."):
        text = text.replace(module, "")
    return text


def answers() -> Iterator[str]:
    """Yield each endpoint's fields, from the bundled models' answer to one request."""
    for name, arguments in ARGUMENTS.items():
        answer = json.loads(json.dumps(ENDPOINTS[name](**arguments)))
        yield from (f"/{name} -> {path}" for path in dict.fromkeys(paths(answer)))


def paths(value: object, above: str = "") -> Iterator[str]:
    """Yield the path of every value in an answer; list items are ``[]``."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, f"{above}.{key}".lstrip("."))
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, f"{above}[]")
    else:
        yield above


def flags() -> Iterator[str]:
    """Yield the flags of ``app.py``, as its ``--help`` prints them."""
    with (
        patch.dict(os.environ, {"COLUMNS": "500"}),
        patch("sys.stdout.write") as written,
        suppress(SystemExit),
    ):
        parse_flags(["--help"])
    printed = "".join(call.args[0] for call in written.call_args_list)
    yield from (
        f"flag {line.split('  ')[1]}" for line in printed.splitlines() if line.startswith("  -")
    )


def links() -> Iterator[str]:
    """Yield the fields of a link with their defaults, tabs, folds, and redirects of older links."""
    yield from (f"link {name} = {value!r}" for name, value in default_params().items())
    for tab, folds in FOLDS.items():
        yield f"tab {tab}: {' '.join((*folds, *PARTS.get(tab, ())))}"
    for tab, moved in MOVED.items():
        yield from (f"moved {tab} {fold} -> {now}" for fold, now in moved.items())


if __name__ == "__main__":
    sys.stdout.write("\n".join(public_names()) + "\n")
