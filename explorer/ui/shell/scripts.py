"""JavaScript modules of the page: their sources, and the names under which they are sent.

Gradio's file route sends no ``Cache-Control`` and ignores ``If-None-Match``: a browser guesses how
long a file is fresh and, after an update, may run old code beside new. Here a URL names its
contents: it can be cached for ever and is never stale; relative imports stay under the same hash.
"""

import hashlib
import re
from functools import cache
from pathlib import Path, PurePosixPath
from posixpath import normpath

from explorer.assets import ASSETS

SCRIPTS = ASSETS / "js"
PAPER, FIRST_SHEET = ASSETS / "css" / "print.css", ASSETS / "css" / "first.css"
"""Style sheets of the whole document, and of the first picture alone; not Gradio's to read."""
EARLY, ENTRY = ("early.js", "first.js"), "gradio.js"
FIRST_PACK = "pack/answer.js"
FIRST = (ENTRY, "page/words.js", "page/view.js", "predictions/gaps.js")
"""Modules of the first answer; they and their imports come in one pack."""
IMPORT = re.compile(r"""^(?:import|export)\b[^'\n]*'(\.[^']+)';""", re.M)


@cache
def modules() -> dict[str, bytes]:
    """Return the source of every module by its path below ``assets/js``, read once."""
    paths = sorted(SCRIPTS.rglob("*.js"))
    return {str(PurePosixPath(p.relative_to(SCRIPTS))): p.read_bytes() for p in paths}


@cache
def version() -> str:
    """Return the hash of all modules' contents, and of what packs them."""
    digest = hashlib.sha256()
    packer = Path(__file__).with_name("packs.py")
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
