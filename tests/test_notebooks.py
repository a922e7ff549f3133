"""The notebooks in docs/notebooks: short, with static pictures, and they run from top to bottom."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
PATHS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
BOOKS = {path.stem: nbformat.read(path, 4) for path in PATHS}
MAX_CELLS = 25
MAX_BYTES = 400_000
CHART = "application/vnd.plotly.v1+json"


def test_there_are_the_four_that_the_document_names():
    text = (ROOT / "docs" / "library.md").read_text("utf-8")
    assert len(BOOKS) == 4
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


@pytest.mark.processes
def test_the_notebooks_run(tmp_path, monkeypatch):
    """In one kernel, which takes longer to start than to compute; all names go after each."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    cells = []
    for book in BOOKS.values():
        code = [cell.source for cell in book.cells if cell.cell_type == "code"]
        cells += [nbformat.v4.new_code_cell(source) for source in (*code, "%reset -f")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()
    assert all(cell.execution_count for cell in notebook.cells)
