"""A notebook runs from top to bottom in a fresh kernel and an empty folder, and ends in the figure."""

import csv
import io
import json
import subprocess
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from transformers import AutoModelForMaskedLM, AutoTokenizer

from explorer.assets import ROOT
from explorer.models.specs import MINI
from explorer.ui.kit.canvas import recipe_parts
from explorer.ui.shell.routes import provenance
from tests.needs import needs_node

HERE = Path(__file__).parent
TEXT = "The river flows into the [MASK] Ocean."
KIND = "predictions/gaps"
"""Of every kind the lines are run as a script (``test_recipes``), and the cells hold the same (``test_nasty``)."""
pytestmark = [needs_node, pytest.mark.processes]


def saved_notebook():
    models = {
        one["label"]: [one["source"], one["revision"]] for one in provenance("mini")["models"]
    }
    given = {"models": models, "text": TEXT, "lines": {KIND: recipe_parts(KIND)}}
    done = subprocess.run(
        ["node", HERE / "notebooks.js"], input=json.dumps(given), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return nbformat.reads(json.loads(done.stdout)[KIND], 4)


def first_answer(spec):
    tokenizer = AutoTokenizer.from_pretrained(spec.bundled_path)
    model = AutoModelForMaskedLM.from_pretrained(spec.bundled_path)
    coded = tokenizer(TEXT, return_tensors="pt")
    gap = coded.input_ids[0].tolist().index(tokenizer.mask_token_id)
    with torch.inference_mode():
        return model(**coded).logits[0, gap].softmax(-1).max().item()


def test_a_notebook_of_answers(tmp_path, monkeypatch):
    notebook = saved_notebook()
    nbformat.validate(notebook)
    assert TEXT in notebook.cells[0].source
    assert "print(" not in "".join(cell.source for cell in notebook.cells)
    monkeypatch.setenv("EXPLORER", str(ROOT))
    monkeypatch.setenv("PLOTLY_RENDERER", "plotly_mimetype")
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    (rows,) = notebook.cells[-2].outputs
    printed = list(csv.DictReader(io.StringIO(rows.text)))
    assert [row["model"] for row in printed if row["rank"] == "1"] == [
        spec.label for spec in MINI.values()
    ]
    (shown,) = notebook.cells[-1].outputs
    traces = shown.data["application/vnd.plotly.v1+json"]["data"]
    assert [one["name"] for one in traces] == [spec.label for spec in MINI.values()]
    wanted = [first_answer(spec) for spec in MINI.values()]
    assert [one["y"][0] for one in traces] == pytest.approx(wanted, rel=1e-5)
