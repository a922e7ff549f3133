"""The browser code's own tests and its types, by node."""

import os
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


def test_the_browser_code():
    """All files at once, each in a process of its own; a file without a test would pass."""
    assert all("\ntest(" in file.read_text("utf-8") for file in FILES)
    at_once = f"--test-concurrency={os.cpu_count()}"
    by_node("--test", "--test-reporter=spec", at_once, *FILES)


def test_the_browser_codes_types():
    by_node(MODULES / "typescript" / "bin" / "tsc")
