"""The browser code's own tests, its types and its format, by node."""

import subprocess
from pathlib import Path

import pytest

from tests.needs import MODULES, ROOT, needs_node, needs_packages

HERE = Path(__file__).parent
FILES = sorted(HERE.rglob("*.test.js"))
pytestmark = [needs_node, needs_packages, pytest.mark.processes]


def by_node(*arguments):
    done = subprocess.run(["node", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout


def test_the_browser_code():
    """A file without a test, or one that was not come to, would pass."""
    assert all("\ntest(" in file.read_text("utf-8") for file in FILES)
    said = by_node("--test-reporter=spec", HERE / "together.js", *FILES)
    assert [file for file in FILES if f"\n✔ {file} (" not in f"\n{said}"] == []


def test_the_browser_codes_types():
    by_node(MODULES / "typescript" / "bin" / "tsc")


def test_the_browser_code_s_format():
    by_node(MODULES / "prettier" / "bin" / "prettier.cjs", "--check", "assets/js")
