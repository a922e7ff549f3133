"""What the hub's builder does with a Space: its own install line in a fresh place, then the suite."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from deploy import space

ROOT = Path(__file__).parents[2]
BROUGHT = ("gradio[oauth,mcp]=={}", "uvicorn>=0.14.0", "websockets>=10.4", "spaces")
"""What the builder puts beside a Gradio Space's own requirements, in one line with them."""
TESTERS = ("pytest", "pytest-xdist", "hypothesis", "scipy", "playwright")
"""What the tests below import; nothing of it may change what the builder chose."""
ASKED = (
    "tests/models/test_tokens.py",
    "tests/models/test_forward.py",
    "tests/models/test_zerogpu.py",
    "tests/analysis/predictions",
    "tests/ui/predictions",
    "tests/ui/shell/test_page.py",
    "tests/ui/shell/test_programs.py",
    "tests/ui/shell/test_gallery.py",
)
"""A part of the suite with each layer in it, a server that answers, and the shipped weights."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The staged tree with the tests beside it, which do not go up."""
    place = tmp_path_factory.mktemp("space")
    space.write(place, space.staged(space.committed(), "someone/family", False))
    shutil.copytree(ROOT / "tests", place / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "deploy", place / "deploy", ignore=shutil.ignore_patterns("__pycache__"))
    return place


@pytest.fixture(scope="module")
def python(folder, tmp_path_factory):
    """A fresh environment after the builder's line."""
    place = tmp_path_factory.mktemp("venv")
    run([sys.executable, "-m", "venv", place])
    matter = yaml.safe_load((folder / "README.md").read_text("utf-8").split("---\n")[1])
    line = [part.format(matter["sdk_version"]) for part in BROUGHT]
    own = place / "bin/python"
    run([own, "-m", "pip", "install", "-q", "-r", folder / "requirements.txt", *line])
    return own


def run(command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.mark.slow
def test_the_builders_own_line_installs_what_passes_the_suite(folder, python):
    chosen = run([python, "-m", "pip", "freeze"]).splitlines()
    assert any(line.startswith("torch==") and line.endswith("+cpu") for line in chosen)
    pins = (ROOT / "tests/requirements.txt").read_text("utf-8").splitlines()
    testers = [line for line in pins if line.partition("==")[0] in TESTERS]
    assert len(testers) == len(TESTERS)
    run([python, "-m", "pip", "install", "-q", *testers])
    assert set(chosen) <= set(run([python, "-m", "pip", "freeze"]).splitlines())
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False"}
    said = run(
        [python, "-m", "pytest", "-q", "-n", "0", *ASKED],
        cwd=folder,
        env=environment,
    )
    assert " passed" in said
    assert "failed" not in said


@pytest.mark.slow
def test_the_zerogpu_entry_starts_with_what_the_builder_brings(folder, python):
    files = space.staged(space.committed(), "someone/family", True)
    (folder / "zero.py").write_bytes(files["app.py"])
    asked = "import sys, zero; print(list(sys.modules).index('spaces') < list(sys.modules).index('gradio'))"
    assert run([python, "-c", asked], cwd=folder).split()[-1] == "True"
