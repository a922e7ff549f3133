"""Every picture names its rows: from the very data that the page sends, numbers unrounded."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from explorer.inference.runs import get_runs
from explorer.ui.first.scripts import modules
from tests.js.page_values import STATE, page_values
from tests.needs import needs_node
from tests.ui.kit.test_canvas import CHARTS

HERE = Path(__file__).parent
pytestmark = [needs_node, pytest.mark.processes]


@pytest.fixture
def tables(tiny_family, monkeypatch):
    given = json.dumps(page_values(monkeypatch))
    done = subprocess.run(["node", HERE / "tables.js"], input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_picture_of_the_page_names_its_rows_with_the_very_numbers(tables):
    whole_and_plain(tables)
    as_computed(tables)
    unrounded(tables)
    as_written_down(tables)


def whole_and_plain(tables):
    drawn = {
        path.removesuffix(".js")
        for path, source in modules().items()
        if re.search(r"^export (async )?(function|const) show\b", source.decode(), re.M)
    }
    assert set(tables) == (drawn | CHARTS) - {"kit/figure", "page/tour"}
    for kind, table in tables.items():
        columns, rows = table["columns"], table["rows"]
        assert len(set(columns)) == len(columns) >= 1, kind
        assert rows or kind in ("claims/results", "page/words"), kind
        assert all(len(row) == len(columns) for row in rows), kind
        for cell in (cell for row in rows for cell in row):
            assert cell is None or isinstance(cell, str | int | float), (kind, cell)


GIVEN = {
    "claims/retention": {"reference_score", "score"},
    "distillation/losses": {"temperature"},
    "parameters/sharing": {"mnli", "sst2", "race", "average"},
}
"""Columns of published scores and of chosen temperatures, which have few digits."""


def unrounded(tables):
    """Six of the seven digits of a float32 are what a rounded number has; an exact one has more."""
    rounded = {}
    for kind, table in tables.items():
        for name, column in zip(table["columns"], zip(*table["rows"], strict=True), strict=False):
            cells = {cell for cell in column if isinstance(cell, float)} - {0.0, 1.0}
            if len(cells) >= 5 and max(map(digits_of, cells)) < 8:
                rounded.setdefault(kind, set()).add(name)
    assert rounded == GIVEN


def digits_of(x):
    """The significant decimal digits that JSON writes of a number."""
    return len(repr(abs(x)).partition("e")[0].replace(".", "").strip("0"))


def as_written_down(tables):
    """A column's name is public: programs read the saved CSV by it."""
    named = {kind: table["columns"] for kind, table in sorted(tables.items())}
    assert named == json.loads((HERE / "columns.json").read_text("utf-8"))


def as_computed(tables):
    runs = get_runs(STATE.ask)[0]
    gaps = tables["predictions/gaps"]["rows"]
    logits = runs["bert"].mask_logits[0].astype(np.float64)
    p = np.exp(logits - logits.max())
    found = [row[5] for row in gaps if row[1] == runs["bert"].spec.label]
    assert found == pytest.approx(np.sort(p / p.sum())[::-1][: len(found)], rel=1e-5)
    wall = tables["attention/wall"]["rows"]
    assert len(wall) == sum(np.prod(run.attention.shape[:2]) for run in runs.values())
    sizes = {row[0]: row[1] for row in tables["parameters/sizes"]["rows"]}
    assert sizes["bert-large-uncased"] == 335_141_888
    embedding = {row[0]: row[5] for row in tables["parameters/embedding"]["rows"]}
    small, large = (runs[key].spec.architecture for key in ("albert", "bert"))
    assert embedding["mini-albert"] == (small.d_vocab + small.d_model) * small.d_embedding
    assert embedding["mini-bert"] == large.d_vocab * large.d_model
