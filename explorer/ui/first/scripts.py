"""JavaScript modules of the page: their sources, the names they are sent under, and their packs.

Gradio's file route sends no ``Cache-Control`` and ignores ``If-None-Match``: a browser guesses how
long a file is fresh and, after an update, may run old code beside new. Here a URL names its
contents: it can be cached for ever and is never stale; relative imports stay under the same hash.

A pack is one file with a module and all that it imports, each evaluated once. The first pack has
what the first answer needs; every other module that is imported later, mostly a tab's picture, has
a pack with the rest of its imports. An import map or preloads would not do: they still ask for
every file, and most of the time of a first visit on a phone goes by between requests.
"""

import gzip
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePosixPath
from posixpath import normpath

from explorer.assets import ASSETS
from explorer.views.markup import Markup, el, join

SCRIPTS = ASSETS / "js"
PAPER, FIRST_SHEET = ASSETS / "css" / "print.css", ASSETS / "css" / "first.css"
"""Style sheets of the whole document, and of the first picture alone; not Gradio's to read."""
EARLY, ENTRY = ("early.js", "first.js"), "gradio.js"
FIRST_PACK = "pack/answer.js"
FIRST = (ENTRY, "page/words.js", "page/view.js", "predictions/gaps.js")
"""Modules of the first answer; they and their imports come in one pack."""
IMPORT = re.compile(r"""^(?:import|export) (?:[^'";=()]* from )?'(\.[^']+)';""", re.M)
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
def modules() -> dict[str, bytes]:
    """Return the source of every module by its path below ``assets/js``, read once."""
    paths = sorted(SCRIPTS.rglob("*.js"))
    return {str(PurePosixPath(p.relative_to(SCRIPTS))): p.read_bytes() for p in paths}


@cache
def version() -> str:
    """Return the hash of all modules' contents, and of what packs them."""
    digest = hashlib.sha256()
    packer = Path(__file__)
    for path, content in (*modules().items(), ("", packer.read_bytes())):
        digest.update(f"{path} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


def early_html() -> str:
    """Return the scripts that run before anything else of the page's body."""
    return "".join(f"<script>{modules()[path].decode()}</script>" for path in EARLY)


def head_html() -> str:
    """Return the print style sheet, for the page's head.

    Gradio would add it only once it has mounted, and prefix every selector of a media rule with its
    own container, so that such a rule cannot match the page around it.
    """
    return f"<style>{PAPER.read_text('utf-8')}</style>"


def address(path: str) -> str:
    """Return the URL of a module, relative to the page."""
    return f"js/{version()}/{path}"


def preloads(addresses: Iterable[str]) -> Markup:
    """Return the links that fetch modules ahead of their import.

    A ``modulepreload`` would also compile them as they come, before the first paint.
    """
    return join(
        *(el("link", rel="preload", as_="script", crossorigin="", href=href) for href in addresses)
    )


def closure(paths: tuple[str, ...]) -> list[str]:
    """Return these modules and all that they import, directly or not, each once."""
    names = list(paths)
    for path in names:
        names += sorted(set(imports_of(path)) - set(names))
    return names


def imports_of(path: str) -> list[str]:
    """Return the modules that one imports before it runs, in their order."""
    folder = PurePosixPath(path).parent
    return [normpath(folder / name) for name in IMPORT.findall(modules()[path].decode())]


@cache
def pack(path: str) -> bytes | None:
    """Return the pack of a module or of the first answer, compressed; None where there is none."""
    first = closure(FIRST)
    if path == FIRST_PACK:
        return _compressed(first)
    path = path.removeprefix(PACKS)
    if path not in later():
        return None
    return _compressed([script for script in closure((path,)) if script not in first])


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
        for imported in imports_of(path):
            if imported not in ordered:
                visit(imported)
        ordered[path] = None

    for path in paths:
        if path not in ordered:
            visit(path)
    return [path for path in ordered if path in paths]


def wrapped(path: str) -> str:
    """Return a module as an entry of the table of modules.

    It becomes a function that returns its exports, called when all of its imports are there. So
    modules may not import in circles, and an export is a constant, a function or a class.
    """
    code = modules()[path].decode()
    folder = PurePosixPath(path).parent

    def module(relative: str) -> str:
        return f"own['{normpath(folder / relative)}']"

    def imported(match: re.Match[str]) -> str:
        names, whole, relative = match.groups()
        return f"const {whole or '{' + _renamed(names) + '}'} = {module(relative)};"

    exports = [name for _, name in _EXPORT.findall(code)]
    for names, relative in _PASSED_ON.findall(code):
        listed = filter(None, map(str.strip, names.split(",")))
        exports += [f"{name}: {module(relative)}.{name}" for name in listed]
    code = _IMPORT.sub(imported, _EFFECT.sub("", _PASSED_ON.sub("", code)))
    code = _LATER.sub(f"load('{path}', ", _EXPORT.sub(r"\1 \2", code))
    code = code.replace("import.meta.url", f"`${{base}}{path}`")
    return f"own['{path}'] ??= (() => {{\n{code}\nreturn {{{', '.join(exports)}}};\n}})();\n"


def _renamed(names: str) -> str:
    return re.sub(r"(\w+) as (\w+)", r"\1: \2", names)
