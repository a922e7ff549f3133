"""``python -m tests --lowest``: the library's tests at the other ends of what the package allows.

They run with the oldest version of each range of ``pyproject.toml``, and with the versions of
``requirements.txt`` on each other Python that the classifiers name and this machine has. There, the
first visit in a browser runs too. Each installation is a virtual environment below ``.lowest``,
which is kept for the next run. Arguments go to pytest.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".lowest"
FILES = ("requirements.txt", "tests/requirements.txt")
LIBRARY = (
    "tests/analysis",
    "tests/library",
    "tests/lists",
    "tests/models",
    "tests/timing",
    "tests/test_examples.py",
    "tests/test_library_docs.py",
)
FIRST_VISIT = "tests/browser/test_first_visit.py"
RANGE = re.compile(r"([A-Za-z0-9-]+)(?:\[[a-z]+\])?(==|>=)([0-9.*]+)")
ABSENT = "Python {version} is not on this machine: its tests did not run."
NOT_INSTALLED = "{python} could not install them."
WITHOUT = ("onnx", "openvino", "serve")
"""Extras that are not installed: exporting depends on torch, and Ray is no part of the library."""


def main(arguments: Sequence[str]) -> int:
    """Run the tests in each installation; return 1 where one of them failed."""
    failed = not passed(Path(sys.executable), "oldest", oldest(), (*LIBRARY, *arguments))
    for version in other_versions():
        if python := python_of(version):
            pins = [word for name in FILES for word in ("-r", str(ROOT / name))]
            failed |= not passed(python, version, pins, (*LIBRARY, FIRST_VISIT, *arguments))
        else:
            print(ABSENT.format(version=version), flush=True)  # noqa: T201
    return int(failed)


def passed(python: Path, name: str, wanted: Sequence[str], tests: Sequence[str]) -> bool:
    """Install what is wanted into the environment of a name, and return whether its tests pass."""
    inside = FOLDER / name / "bin" / "python"
    if not inside.exists():
        subprocess.run([python, "-m", "venv", FOLDER / name], check=True)
    if subprocess.run([inside, "-m", "pip", "install", "-q", *wanted]).returncode:
        print(NOT_INSTALLED.format(python=inside), flush=True)  # noqa: T201
        return False
    return subprocess.run([inside, "-m", "pytest", *tests], cwd=ROOT).returncode == 0


def project() -> dict:
    """Return the table of the project in ``pyproject.toml``."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def ranges() -> list[str]:
    """Return the ranges of the library and of the extras whose tests run here."""
    extras = project()["optional-dependencies"]
    more = (wanted for name, extra in extras.items() if name not in WITHOUT for wanted in extra)
    return [*project()["dependencies"], *more]


def oldest() -> list[str]:
    """Return the oldest version of each range, and the pins of what only the tests need."""
    bounds = {found[1]: found[3] for found in map(RANGE.match, ranges()) if found}
    tools = (ROOT / "tests/requirements.txt").read_text("utf-8").split()
    extras = project()["optional-dependencies"]
    others = {RANGE.match(wanted)[1] for name in WITHOUT for wanted in extras[name]}
    rest = [pin for pin in tools if pin.partition("==")[0] not in bounds.keys() | others]
    return [*(f"{name}=={version}" for name, version in bounds.items()), *rest]


def other_versions() -> Iterator[str]:
    """Yield the versions of Python that the classifiers name, without the one that runs this."""
    here = ".".join(map(str, sys.version_info[:2]))
    for line in project()["classifiers"]:
        version = line.removeprefix("Programming Language :: Python :: ")
        if re.fullmatch(r"3\.\d+", version) and version != here:
            yield version


def python_of(version: str) -> Path | None:
    """Return a Python of a version that starts: of this machine's path, or one of pyenv."""
    found = shutil.which(f"python{version}")
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for python in (*filter(None, [found]), *pyenv):
        if subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
            return Path(python)
    return None
