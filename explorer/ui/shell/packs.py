"""Browser modules in packs: one file holds a module and all that it imports, each evaluated once.

The first pack has what the first answer needs; every other module that is imported later, mostly a
tab's picture, has a pack with the rest of its imports. An import map or preloads would not do: they
still ask for every file, and most of the time of a first visit on a phone goes by between requests.

A module becomes a function that returns its exports, called when all of its imports are there. So
modules may not import in circles, and an export is a constant, a function or a class.
"""

import gzip
import re
from functools import cache
from pathlib import PurePosixPath
from posixpath import normpath

from explorer.ui.shell.scripts import EARLY, FIRST, FIRST_PACK, closure, imports_of, modules

_IMPORT = re.compile(r"^import (?:\{([^}]*)\}|\* as (\w+)) from '([^']+)';", re.M)
_EFFECT = re.compile(r"^import '[^']+';", re.M)
_PASSED_ON = re.compile(r"^export \{([^}]*)\} from '([^']+)';", re.M)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|const|class) (\w+)", re.M)
_LATER = re.compile(r"(?<![\w.{])import\((?='|`)")
PACKS = "pack/"
PRELUDE = """const own = window.explorer.modules ??= {};
const base = import.meta.url.replace(/\\/pack\\/.*$/, '/');
const load = async (from, to) => {
  const path = new URL(to, `x:/${from}`).pathname.slice(1);
  await null;   // the rest of the pack that asks may be about to be evaluated
  if (!own[path]) await import(`${base}pack/${path}`);
  if (!own[path]) throw new Error(`${path} is not there`);
  return own[path];
};
"""


@cache
def pack(path: str) -> bytes | None:
    """Return the pack of a module or of the first answer, compressed; None where there is none."""
    first = closure(FIRST)
    if path == FIRST_PACK:
        return _compressed(first)
    path = path.removeprefix(PACKS)
    if path not in later():
        return None
    return _compressed([one for one in closure((path,)) if one not in first])


@cache
def later() -> frozenset[str]:
    """Return the modules that have a pack of their own."""
    return frozenset(modules()) - {*closure(FIRST), *EARLY}


def _compressed(paths: list[str]) -> bytes:
    code = "".join(map(wrapped, in_order(paths)))
    return gzip.compress(f"{PRELUDE}{code}".encode(), 9)


def in_order(paths: list[str]) -> list[str]:
    """Return modules so that each follows those that it imports."""
    ordered: dict[str, None] = {}

    def visit(path: str) -> None:
        for one in imports_of(path):
            if one not in ordered:
                visit(one)
        ordered[path] = None

    for path in paths:
        if path not in ordered:
            visit(path)
    return [path for path in ordered if path in paths]


def wrapped(path: str) -> str:
    """Return a module as an entry of the table of modules."""
    code = modules()[path].decode()
    folder = PurePosixPath(path).parent

    def module(relative: str) -> str:
        return f"own['{normpath(folder / relative)}']"

    def imported(match: re.Match[str]) -> str:
        names, whole, relative = match.groups()
        return f"const {whole or '{' + _renamed(names) + '}'} = {module(relative)};"

    exports = [name for _, name in _EXPORT.findall(code)]
    for names, relative in _PASSED_ON.findall(code):
        exports += [
            f"{name.strip()}: {module(relative)}.{name.strip()}" for name in names.split(",")
        ]
    code = _IMPORT.sub(imported, _EFFECT.sub("", _PASSED_ON.sub("", code)))
    code = _LATER.sub(f"load('{path}', ", _EXPORT.sub(r"\1 \2", code))
    code = code.replace("import.meta.url", f"`${{base}}{path}`")
    return f"own['{path}'] ??= (() => {{\n{code}\nreturn {{{', '.join(exports)}}};\n}})();\n"


def _renamed(names: str) -> str:
    return re.sub(r"(\w+) as (\w+)", r"\1: \2", names)
