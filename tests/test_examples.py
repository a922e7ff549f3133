"""The code in the documents runs: Python from its files, a shell's lines here or where it is said."""

import io
import re
import runpy
import shlex
from pathlib import Path

import pytest

from explorer.library.command import main
from explorer.models import specs
from tests.examples import BLOCK, DOCUMENTS, EXAMPLES, ROOT, with_examples

NEEDS_A_PAGE = "client"
"""The example that asks a running page: ``tests/browser/test_readme.py``."""
ANSWER = "paris"
FENCED = re.compile(r"^ *```(\S*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
ELSEWHERE = {
    "python3 -m venv": "the gate: test_docs compares the line with .ci/run",
    ".venv/bin/pip install": "the gate, like the line before",
    ".venv/bin/python -m tests": "the gate",
    ".venv/bin/python app.py": "tests/browser: the server of each test",
    "python app.py": "tests/browser, tests/deploy/test_nginx.py and tests/serving/test_cluster.py",
    "pip install -r deploy/requirements-serve.txt": "needs the network",
    "pip download": "needs the network; tests/needs takes the wheels where they are",
    "for wheel in": "tests/test_notebooks.py: the notebook on chemistry unpacks the wheels",
    "PARTS=": "tests/test_notebooks.py, like the line before",
    "python -m explorer convert": "tests/test_notebooks.py, like the line before, by explorer.convert",
    "nginx": "tests/deploy/test_nginx.py, where nginx is installed",
    "sed -i": "changes nginx's file; tests/deploy/test_nginx.py takes a process away",
    "sleep": "between two lines of nginx",
    "RAY_USAGE_STATS_ENABLED=0 EXPLORER_FAMILY=mini serve": "tests/serving/test_ray_app.py",
    "serve run": "tests/serving/test_cluster.py",
    "ray start": "tests/serving/test_cluster.py",
}
"""Beginnings of a shell's lines that this file does not run: what runs them, or why nothing does."""


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_of_python_is_a_file_as_it_is_today(path):
    text = path.read_text("utf-8")
    files = [ROOT / name for name, _ in BLOCK.findall(text)]
    assert [file for file in files if file not in EXAMPLES] == []
    assert text == with_examples(text), "python -m tests.examples"


def test_every_file_is_in_a_document():
    named = {name for path in DOCUMENTS for name, _ in BLOCK.findall(path.read_text("utf-8"))}
    assert named == {path.relative_to(ROOT).as_posix() for path in EXAMPLES}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A reader's folder, with the checkpoints and the files that the examples name."""
    for name, bundled in (("my-bert", "bert"), ("rxn-bert", "bert"), ("rxn-albert", "albert")):
        (tmp_path / name).symlink_to(specs.BUNDLED / f"mini-{bundled}")
    (tmp_path / "sentences.txt").write_text("The cat sat on the mat.\nIt was late.\n")
    rows = [f"It was {('good', 'bad')[i % 2]} {i}.,{'pn'[i % 2]}" for i in range(40)]
    (tmp_path / "reviews.csv").write_text("\n".join(["text,label", *rows]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
def test_every_example_runs(folder, own_models, eight_rounds, three_sentences, little_training):
    names = {path.stem: runpy.run_path(str(path)) for path in EXAMPLES if path.stem != NEEDS_A_PAGE}
    assert names["first_answer"]["answer"].models["bert"].words[0][0] == ANSWER
    assert (folder / "depth.html").exists()
    assert (folder / "table.csv").read_text().count("\n") == 7
    assert len(names["many_sentences"]["table"]) == 6
    assert names["closest_head"]["distance"].min() >= 0
    assert list(names["chemistry"]["family"].specs) == ["bert", "albert"]


def shell_lines():
    """Return each line of a shell in the documents, and the document that has it first."""
    lines = {}
    for path in DOCUMENTS:
        blocks = FENCED.findall(path.read_text("utf-8"))
        assert {language for language, _ in blocks} <= {"", "bash", "python", "mermaid"}
        for block in (block for language, block in blocks if language in {"", "bash"}):
            for line in filter(None, map(str.strip, block.replace("\\\n", " ").splitlines())):
                lines.setdefault(line, path.name)
    return lines


@pytest.mark.long
def test_every_line_of_a_shell_runs_here_or_where_it_is_said(folder, little_training, monkeypatch):
    used, own = set(), []
    for line, document in shell_lines().items():
        known = [start for start in ELSEWHERE if line.startswith(start)]
        assert len(known) == 1 or line.startswith("python -m explorer "), f"{document}: {line}"
        used.update(known)
        own += [] if known else [line]
    assert used == set(ELSEWHERE)
    named = re.findall(r"tests/[\w/]+\.py", " ".join(ELSEWHERE.values()))
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert len(own) == 4
    for line in own:
        command, _, given = line.partition("<")
        content = Path(given.strip()).read_bytes() if given else b""
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert main(shlex.split(command)[3:]) == 0, line
    assert {"scores.csv", "results.csv"} <= {path.name for path in folder.iterdir()}
