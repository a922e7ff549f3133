"""The notebooks in docs/notebooks: short, with static pictures, and they run from top to bottom."""

import ast
from pathlib import Path

import nbformat
import plotly.io
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from explorer.analysis.texts import labelled

ROOT = Path(__file__).parents[1]
PATHS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
BOOKS = {path.stem: nbformat.read(path, 4) for path in PATHS}
MOST_CELLS = 25
MOST_BYTES = 400_000
CHART = "application/vnd.plotly.v1+json"


def test_there_are_the_four_that_the_document_names():
    text = (ROOT / "docs" / "library.md").read_text("utf-8")
    assert len(BOOKS) == 4
    assert [name for name in BOOKS if f"(notebooks/{name}.ipynb)" not in text] == []


@pytest.mark.parametrize("name", BOOKS)
def test_a_notebook_is_short_and_kept_with_its_pictures(name):
    book = BOOKS[name]
    nbformat.validate(book)
    assert len(book.cells) < MOST_CELLS
    outputs = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    kinds = [kind for out in outputs for kind in out.get("data", {})]
    assert kinds.count("image/png") >= 2, "GitHub shows images"
    assert CHART in kinds
    assert "image/svg+xml" not in kinds
    assert not [out for out in outputs if out.output_type == "error"]
    assert (ROOT / "docs" / "notebooks" / f"{name}.ipynb").stat().st_size < MOST_BYTES


def run_cell(source, names):
    """Run a cell and draw the value of its last line in every form that a notebook asks for."""
    lines = ast.parse(source).body
    last = lines.pop() if isinstance(lines[-1], ast.Expr) else None
    exec(compile(ast.Module(lines, []), "cell", "exec"), names)
    if last is None:
        return
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    for name in ("__repr__", "_repr_html_", "_repr_mimebundle_"):
        if hasattr(value, name):
            getattr(value, name)()
    if isinstance(value, Figure):
        value.canvas.draw()


@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
def test_a_notebook_runs_from_top_to_bottom(book, tuned_family, eight_rounds, monkeypatch):
    """Here, on the random family: a kernel takes longer to start than the cells to compute."""
    monkeypatch.setattr(labelled, "STRENGTHS", (0.01,))
    monkeypatch.setattr(plotly.io.renderers, "default", "plotly_mimetype")
    pyplot.switch_backend("agg")
    names = {}
    for cell in book.cells:
        if cell.cell_type == "code":
            run_cell(cell.source, names)
    pyplot.close("all")
