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


def run(folder, cells):
    """Run cells one after another in a fresh kernel and an empty folder; each keeps what it shows."""
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()


@pytest.fixture(scope="module")
def figures(notebooks, tmp_path_factory):
    """Each notebook's traces of the figure that its last cell shows, after all cells ran.

    One kernel, which takes longer to start than to compute; all names go after each notebook.
    """
    cells = []
    for notebook in notebooks.values():
        nbformat.validate(notebook)
        assert "print(" not in "".join(cell.source for cell in notebook.cells)
        cells += [*notebook.cells, nbformat.v4.new_code_cell("%reset -f")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORER", str(ROOT))
        patch.setenv("PLOTLY_RENDERER", "plotly_mimetype")
        run(tmp_path_factory.mktemp("empty"), cells)
    shown = {kind: notebook.cells[-1].outputs for kind, notebook in notebooks.items()}
    return {
        kind: output.data["application/vnd.plotly.v1+json"]["data"]
        for kind, (output,) in shown.items()
    }


def first_answer(spec):
    tokenizer = AutoTokenizer.from_pretrained(spec.bundled_path)
    model = AutoModelForMaskedLM.from_pretrained(spec.bundled_path)
    coded = tokenizer(TEXT, return_tensors="pt")
    gap = coded.input_ids[0].tolist().index(tokenizer.mask_token_id)
    with torch.inference_mode():
        return model(**coded).logits[0, gap].softmax(-1).max().item()


def test_a_notebook_of_answers(notebooks, figures):
    traces = figures["predictions/gaps"]
    assert TEXT in notebooks["predictions/gaps"].cells[0].source
    assert [one["name"] for one in traces] == [spec.label for spec in MINI.values()]
    wanted = [first_answer(spec) for spec in MINI.values()]
    assert [one["y"][0] for one in traces] == pytest.approx(wanted, rel=1e-5)


def test_a_notebook_of_likeness(figures):
    (trace,) = figures["depth/similarity"]
    own = [z for x, y, z in zip(trace["x"], trace["y"], trace["z"], strict=True) if x == y]
    assert own == pytest.approx([1.0] * len(own))
    assert len(own) == sum(spec.architecture.n_layers + 1 for spec in MINI.values())


def test_without_the_bundled_models_it_says_where_to_get_them(notebooks, tmp_path, monkeypatch):
    monkeypatch.delenv("EXPLORER", raising=False)
    with pytest.raises(CellExecutionError, match="Set EXPLORER to a folder with a copy"):
        run(tmp_path, notebooks["predictions/gaps"].cells)
