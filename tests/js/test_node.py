"""The browser code's own tests and its types, by node: each file an item of pytest."""

import subprocess
from pathlib import Path

import pytest

from tests.needs import MODULES, ROOT, needs_node, needs_packages

HERE = Path(__file__).parent
FILES = sorted(HERE.rglob("*.test.js"))
pytestmark = [needs_node, needs_packages]


def by_node(*arguments):
    done = subprocess.run(["node", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(HERE).as_posix())
def test_the_browser_code(file):
    assert "# pass 0" not in by_node("--test", "--test-reporter=tap", file)


def test_the_browser_codes_types():
    by_node(MODULES / "typescript" / "bin" / "tsc")
