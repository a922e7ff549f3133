"""Tests of a changed file in forks of one process, which has the heavy libraries already."""

import importlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from benchmarks.one_line import Change
from explorer.serving.start import leave_out_stubs
from tests.second_job import SECOND_JOB

MODELS = ("albert", "bert", "distilbert")
HEAVY = (
    "pandas",
    "scipy.stats",
    "plotly.graph_objects",
    *(f"transformers.models.{name}.modeling_{name}" for name in MODELS),
    "gradio",
)
OWN = ("explorer", "benchmarks", "training", "deploy", "tests")
BROWSER_CODE = "tests/js/test_node.py"
PASSED = (0, 5)
"""Exit statuses of pytest that detect nothing; 5 is that of a run without tests."""
PATIENCE_S = 150
"""Seconds after which a test counts as failed: a change can make it run for ever."""
IMPORT = "the import"


@dataclass(slots=True)
class Nearest:
    """The tests that are tried first: at the mirrored place, then others that import the file.

    At the mirrored place too, those that import the file come before the rest.
    """

    root: Path
    sound: set[str] = field(default_factory=lambda: {IMPORT})
    """Tests that pass without a change, when they run by themselves."""
    unsound: set[str] = field(default_factory=lambda: {*SECOND_JOB})
    """Tests that do not count: those of the second job, and those that fail without a change."""

    def detecting(self, change: Change, known: str | None = None) -> str | None:
        """Return a test that detects a change: the one that is known to, or the first."""
        if known and exists(known, self.root) and self.failing(change, [known]):
            return known
        if change.path.suffix == ".js":
            return self.by_node(change) or self.failing(change, self.of_browser_code(change.path))
        name = change.path.relative_to(self.root)
        mirrored = near(name, self.root)
        importing = [*self.importing(name)]
        inside = [test for test in importing if test.startswith(tuple(mirrored))]
        others = [test for test in importing if test not in inside]
        return self.failing(change, inside) or self.failing(change, [*mirrored, *others])

    def importing(self, name: Path) -> Iterator[str]:
        """Yield the test files that import a module; those of the browser do not run here."""
        package, _, module = name.with_suffix("").as_posix().replace("/", ".").rpartition(".")
        written = re.compile(
            rf"^\s*(from {package}\.{module} import|import {package}\.{module}\b"
            rf"|from {package} import .*\b{module}\b)",
            re.MULTILINE,
        )
        for path in sorted((self.root / "tests").rglob("test_*.py")):
            if "browser" not in path.parts and written.search(path.read_text("utf-8")):
                yield str(path.relative_to(self.root))

    def by_node(self, change: Change) -> str | None:
        """Return the folder at the mirrored place if its tests fail in node."""
        folder = f"tests/js/{change.path.parent.name}"
        files = sorted((self.root / folder).glob("*.test.js"))
        command = ["node", "tests/js/together.js", *map(str, files)]
        with made(change):
            try:
                done = subprocess.run(
                    command, cwd=self.root, capture_output=True, timeout=PATIENCE_S
                )
            except subprocess.TimeoutExpired:
                return folder
        return folder if files and done.returncode else None

    def of_browser_code(self, path: Path) -> list[str]:
        """Return all tests of browser code in node, of its arithmetic, and of what is saved."""
        folder = self.root / "tests/js"
        found = [*folder.glob("test_*.py"), *(folder / path.parent.name).glob("test_*.py")]
        others = (str(test.relative_to(self.root)) for test in sorted(found))
        return [BROWSER_CODE, *(test for test in others if test != BROWSER_CODE)]

    def failing(self, change: Change, tests: Sequence[str]) -> str | None:
        """Return the first test that fails with a change and passes without it."""
        while tests:
            with made(change):
                failed = failing(tests, self.unsound, self.root)
            if failed is None or failed in self.sound:
                return failed
            kept = self.unsound if failing([failed], (), self.root) else self.sound
            kept.add(failed)
        return None


def near(path: Path, root: Path) -> list[str]:
    """Return the tests at the mirrored place of a source: its folder, or the file of its name."""
    if path.suffix == ".js":
        return [BROWSER_CODE]
    inside = path.relative_to("explorer")
    folder = Path("tests") / inside.parent
    places = [folder / path.stem, folder / f"test_{path.stem}.py"]
    if len(inside.parts) > 1:
        places.insert(0 if len(inside.parts) > 2 else 2, folder)
    return [str(place) for place in places if (root / place).exists()][:1]


def exists(test: str, root: Path) -> bool:
    """Return whether a test of an earlier run is still there."""
    file, _, rest = test.partition("::")
    path = root / file
    name = rest.partition("[")[0].rpartition("::")[2]
    return path.is_file() and f"def {name}(" in path.read_text("utf-8")


@contextmanager
def made(change: Change) -> Iterator[None]:
    """Make a change, and take it back."""
    source = change.path.read_text("utf-8")
    write(change.path, change.applied(source))
    try:
        yield
    finally:
        write(change.path, source)


def write(path: Path, source: str) -> None:
    """Write a source with another time, to the second, than any of its bytecode files."""
    modified = path.stat().st_mtime + 2
    path.write_text(source, "utf-8")
    os.utime(path, (modified, modified))


def failing(tests: Sequence[str], without: Iterable[str], root: Path) -> str | None:
    """Return the first of the tests that fails in a checkout, None where all pass."""
    import_heavy()
    with tempfile.NamedTemporaryFile("r") as begun:
        child = os.fork()
        if child == 0:
            run_and_exit(tests, without, root, begun.name)
        _, status = os.waitpid(child, 0)
        end(child)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) in PASSED:
            return None
        return begun.read() or IMPORT


@cache
def import_heavy() -> None:
    """Import the libraries that every fork would import, with torch's threads as in the tests."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    leave_out_stubs()
    for name in ("pytest", "hypothesis", *HEAVY):
        importlib.import_module(name)


def end(child: int) -> None:
    """End what a fork has started and left running."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        return


class Begun:
    """A pytest plugin that writes which test runs, and ends the process if it takes too long."""

    def __init__(self, path: str) -> None:
        self.path = path

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Write the test's name."""
        Path(self.path).write_text(nodeid, "utf-8")
        signal.alarm(PATIENCE_S)


def run_and_exit(tests: Sequence[str], without: Iterable[str], root: Path, begun: str) -> None:
    """Run the tests in this process, with the modules of a checkout, until one fails."""
    status = 3
    try:
        os.setsid()
        elsewhere = ("", os.getcwd())
        os.chdir(root)
        sys.path[:] = [str(root), *(path for path in sys.path if path not in elsewhere)]
        for name in [name for name in sys.modules if name.partition(".")[0] in OWN]:
            del sys.modules[name]
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        import pytest

        options = ["-x", "-n", "0", "-p", "no:cacheprovider", *(f"--deselect={t}" for t in without)]
        status = int(pytest.main([*options, *tests], plugins=[Begun(begun)]))
    finally:
        os._exit(status)
