"""Notebooks run from top to bottom in a fresh kernel and an empty folder, and end in the figure."""

import json
import subprocess
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from transformers import AutoModelForMaskedLM, AutoTokenizer

from explorer.assets import ROOT
from explorer.models.specs import MINI
from explorer.ui.kit.export import recipe_parts
from explorer.ui.shell.routes import provenance
from tests.needs import needs_node

HERE = Path(__file__).parent
TEXT = "The river flows into the [MASK] Ocean."
KINDS = ("predictions/gaps", "depth/similarity")
pytestmark = [needs_node, pytest.mark.processes]


@pytest.fixture(scope="module")
def notebooks():
    models = {
        one["label"]: [one["source"], one["revision"]] for one in provenance("mini")["models"]
    }
    given = {"models": models, "text": TEXT, "lines": {kind: recipe_parts(kind) for kind in KINDS}}
    done = subprocess.run(
        ["node", HERE / "notebooks.js"], input=json.dumps(given), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return {kind: nbformat.reads(text, 4) for kind, text in json.loads(done.stdout).items()}


@pytest.fixture
def figure_of(notebooks, tmp_path, monkeypatch):
    """The traces of the figure that a notebook's last cell shows, after all cells ran."""
    monkeypatch.setenv("EXPLORER", str(ROOT))
    monkeypatch.setenv("PLOTLY_RENDERER", "plotly_mimetype")

    def figure_of(kind):
        notebook = notebooks[kind]
        nbformat.validate(notebook)
        assert "print(" not in "".join(cell.source for cell in notebook.cells)
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
        (shown,) = notebook.cells[-1].outputs
        return shown.data["application/vnd.plotly.v1+json"]["data"]

    return figure_of


def first_answer(spec):
    tokenizer = AutoTokenizer.from_pretrained(spec.bundled_path)
    model = AutoModelForMaskedLM.from_pretrained(spec.bundled_path)
    coded = tokenizer(TEXT, return_tensors="pt")
    gap = coded.input_ids[0].tolist().index(tokenizer.mask_token_id)
    with torch.inference_mode():
        return model(**coded).logits[0, gap].softmax(-1).max().item()


def test_a_notebook_of_answers(notebooks, figure_of):
    traces = figure_of("predictions/gaps")
    assert TEXT in notebooks["predictions/gaps"].cells[0].source
    assert [one["name"] for one in traces] == [spec.label for spec in MINI.values()]
    wanted = [first_answer(spec) for spec in MINI.values()]
    assert [one["y"][0] for one in traces] == pytest.approx(wanted, rel=1e-5)


def test_a_notebook_of_likeness(figure_of):
    (trace,) = figure_of("depth/similarity")
    own = [z for x, y, z in zip(trace["x"], trace["y"], trace["z"], strict=True) if x == y]
    assert own == pytest.approx([1.0] * len(own))
    assert len(own) == sum(spec.architecture.n_layers + 1 for spec in MINI.values())


def test_without_the_bundled_models_it_says_where_to_get_them(figure_of, monkeypatch):
    monkeypatch.delenv("EXPLORER")
    with pytest.raises(CellExecutionError, match="Set EXPLORER to a folder with a copy"):
        figure_of("predictions/gaps")
