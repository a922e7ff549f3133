"""An installed package, far from the checkout: its files, the page, the command line."""

import json
import os
import re
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest

from benchmarks.served import free_port
from tests.browser.server import answers
from tests.waiting import until

pytestmark = pytest.mark.processes
ROOT = Path(__file__).parents[2]
SOURCES = ("pyproject.toml", "setup.py", "explorer", "assets", "LICENSE", "GLOSSARY.md")
DOCUMENTS = ("CITATION.cff", "docs/errors.md")
MAX_BYTES = 75e6


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel in a folder of links, so that nothing is written into the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in (*SOURCES, *DOCUMENTS):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(ROOT / name)
    build = [*_PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", "made", "."]
    subprocess.run(build, cwd=folder, check=True)
    (path,) = (folder / "made").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Install the wheel into an empty folder; return a function that runs a command there."""
    target, empty = tmp_path_factory.mktemp("target"), tmp_path_factory.mktemp("empty")
    subprocess.run([*_PIP, "install", "--no-deps", "--target", target, wheel], check=True)
    environment = os.environ | {"PYTHONPATH": str(target), "HF_HUB_OFFLINE": "1"}
    page = [sys.executable, target / "bin" / "bert-family-explorer"]
    return {"cwd": empty, "env": environment}, page


_PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def run(command, where):
    done = subprocess.run(command, **where, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_what_runs_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {
        "explorer",
        "bert_family_explorer",
    }
    for name in ("py.typed", "files/GLOSSARY.md", "files/assets/models/mini-bert/config.json"):
        assert f"explorer/{name}" in names
    assert not [name for name in names if "__pycache__" in name]
    assert wheel.stat().st_size < MAX_BYTES


def test_the_readme_s_example_answers_and_nothing_of_the_checkout_is_read(installed):
    where, _ = installed
    text = (ROOT / "README.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(import explorer.*?)```", text, re.DOTALL)
    code = example.replace("explorer.pre", "print(explorer.pre", 1) + ")"
    code += "\nimport explorer.assets\nprint(explorer.__file__, explorer.assets.ROOT, sep='\\n')"
    *printed, package, files = run([sys.executable, "-c", code], where).splitlines()
    assert "paris" in "".join(printed)
    assert Path(files) == Path(package).parent / "files"
    assert not Path(package).is_relative_to(ROOT)


def test_a_shell_command_answers(installed):
    where, _ = installed
    command = [sys.executable, "-m", "explorer", "predict", "The [MASK] sat on the mat.", "--json"]
    assert len(json.loads(run(command, where))["models"]) == 3


def test_the_command_starts_the_page(installed):
    where, page = installed
    port = free_port()
    server = subprocess.Popen([*page, "--family", "mini", "--port", str(port)], **where)
    try:
        url = f"http://127.0.0.1:{port}"
        until(lambda: answers(url) or server.poll() is not None)
        with urllib.request.urlopen(f"{url}/glossary", timeout=60) as reply:
            assert b"# " in reply.read()
        with urllib.request.urlopen(f"{url}/refusals", timeout=60) as reply:
            assert b"refusal-1" in reply.read()
    finally:
        server.terminate()
        assert server.wait(60) == 0
