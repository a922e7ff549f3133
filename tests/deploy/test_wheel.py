"""An installed package, far from the checkout: its files, the page, the command line."""

import email
import json
import os
import re
import runpy
import subprocess
import sys
import urllib.request
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from benchmarks.served import free_port
from tests.browser.server import answers
from tests.examples import BLOCK
from tests.waiting import until

pytestmark = pytest.mark.processes
ROOT = Path(__file__).parents[2]
SOURCES = ("pyproject.toml", "setup.py", "explorer", "assets", "LICENSE", "GLOSSARY.md")
DOCUMENTS = ("README.md", "CITATION.cff", "docs/errors.md")
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
    example = (ROOT / "docs" / "examples" / "shortest.py").read_text("utf-8")
    code = example.replace("explorer.pre", "print(explorer.pre", 1) + ")"
    code += "\nimport explorer.assets\nprint(explorer.__file__, explorer.assets.ROOT, sep='\\n')"
    *printed, package, files = run([sys.executable, "-c", code], where).splitlines()
    assert "paris" in "".join(printed)
    assert Path(files) == Path(package).parent / "files"
    assert not Path(package).is_relative_to(ROOT)


@pytest.fixture(scope="module")
def only_declared(wheel, tmp_path_factory):
    """A Python that has the wheel and what it declares, without extras; return its path."""
    folder = tmp_path_factory.mktemp("library")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    subprocess.run([*_PIP, "install", "--no-deps", "--target", site, wheel], check=True)
    (own,) = site.glob("bert_family_explorer-*.dist-info")
    for name in needed_by(Distribution.at(own)):
        for top in {file.parts[0] for file in distribution(name).files} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(distribution(name).locate_file(top))
    return folder / "bin" / "python"


def needed_by(package):
    """Return the names of what a distribution needs without its extras, and of what that needs."""
    found, packages = set(), [package]
    while packages:
        for line in packages.pop().requires or ():
            needed = Requirement(line)
            is_here = needed.marker is None or needed.marker.evaluate({"extra": ""})
            if is_here and needed.name not in found:
                found.add(needed.name)
                packages.append(distribution(needed.name))
    return found


def test_the_library_needs_no_more_than_it_declares(only_declared, tmp_path):
    """Its documented examples run; the page says in one sentence what it needs."""
    (tmp_path / "my-bert").symlink_to(ROOT / "assets" / "models" / "mini-bert")
    where = {"cwd": tmp_path, "env": os.environ | {"HF_HUB_OFFLINE": "1"}}
    text = (ROOT / "docs" / "library.md").read_text("utf-8")
    blocks = [code for _, code in BLOCK.findall(text)]
    assert len(blocks) > 5
    code = "\n".join([EIGHT_ROUNDS, *blocks, "import sys; print('gradio' in sys.modules)"])
    assert run([only_declared, "-c", code], where).splitlines()[-1] == "False"
    page = [only_declared, "-c", "from explorer.serving.start import main; main()"]
    done = subprocess.run(page, **where, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "bert-family-explorer[app]" in done.stderr


EIGHT_ROUNDS = """
from explorer.analysis.latency import family, measure
family.RoundsPlan = lambda *_, **__: measure.RoundsPlan(600.0, 8, 8, 0.0, 1)
"""


def test_the_page_of_a_package_index_is_not_blank(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    for field in ("Summary", "Author", "Keywords", "Classifier", "License-Expression"):
        assert metadata[field], field
    assert metadata["Description-Content-Type"] == "text/markdown"
    readme = metadata.get_payload()
    assert readme.startswith("# BERT family explorer")
    assert not re.search(r"\]\((?!https?:)", readme), "no link leads to a file that is not there"
    assert "sdk:" not in readme


def test_links_of_the_readme_are_whole_where_the_repository_has_an_address():
    readme = runpy.run_path(str(ROOT / "setup.py"))["readme"]("https://example.org/explorer")
    targets = re.findall(r"\]\(([^)]*)\)", readme)
    assert "https://example.org/explorer/blob/main/docs/usage.md" in targets
    assert "https://example.org/explorer/raw/main/assets/screenshot.png" in targets
    assert all(target.startswith("http") for target in targets)


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
            assert b'id="empty-text"' in reply.read()
    finally:
        server.terminate()
        assert server.wait(60) == 0
