"""Every number that a chart draws stands in its CSV, to the last digit."""

import base64
import json

import numpy as np
import pytest

from explorer.ui.kit.jobs import handler
from tests.js.page_values import STATE, page_values

AXES = ("x", "y", "z", "values")
DRAWN_BETWEEN = dict.fromkeys(("parameters/embedding", "parameters/sharing"), "lines")
"""Curves of a formula, of which no row is anybody's number."""
MEGA = 1e6
"""Bytes are drawn in MB, shares in percent."""


@pytest.fixture
def charts(tiny_family, monkeypatch):
    """The JSON of every chart that has rows of its own."""
    from explorer.ui.parameters import folds

    found = page_values(monkeypatch)
    *_, (last, _) = handler(folds.PEAKS)(STATE, "mini", 16, 2, True)
    found["parameters/memory"] = json.loads(last)
    return {kind: data for kind, data in found.items() if "figures" in data and "numbers" in data}


def numbers_of(axis):
    """An axis as numbers, whether written out or packed; names are none."""
    if isinstance(axis, dict):
        return np.frombuffer(base64.b64decode(axis["bdata"]), axis["dtype"]).astype(float).tolist()
    flat = np.ravel(np.array(axis if axis is not None else [], dtype=object))
    rows = [cell for one in flat for cell in (one if isinstance(one, list) else [one])]
    return [float(v) for v in rows if isinstance(v, int | float) and not isinstance(v, bool)]


@pytest.mark.long
def means_by_layer(rows):
    """Return the means over matrices and heads that are drawn for each layer."""
    layers = {}
    for name, layer, _, *values in rows:
        layers.setdefault((name, layer), []).append(values)
    found = set()
    for values in layers.values():
        for column in zip(*values, strict=True):
            found |= {float(np.mean(column))} if None not in column else set()
    return found


@pytest.mark.long
def test_every_number_drawn_is_a_number_of_the_file(charts):
    assert len(charts) >= 13
    titles = [one["layout"]["xaxis"]["title"] for one in charts["parameters/memory"]["figures"]]
    assert titles == [{"text": "MB"}] * 2
    for kind, data in charts.items():
        cells = {
            float(c) for row in data["numbers"]["rows"] for c in row if isinstance(c, int | float)
        }
        cells |= {cell / MEGA for cell in cells} | {100 * cell for cell in cells}
        if kind == "depth/changed":
            cells |= means_by_layer(data["numbers"]["rows"])
        checked = 0
        for figure in data["figures"]:
            for trace in figure["data"]:
                formula = kind in DRAWN_BETWEEN and DRAWN_BETWEEN[kind] == trace.get("mode")
                if formula or (trace.get("hoverinfo") == "skip" and "z" not in trace):
                    continue
                drawn = [v for axis in AXES for v in numbers_of(trace.get(axis))]
                if trace["type"] == "treemap":  # what holds others is their sum
                    named = zip(trace["ids"], drawn, strict=True)
                    drawn = [v for name, v in named if name not in trace["parents"]]
                assert set(drawn) <= cells, (
                    kind,
                    trace.get("name"),
                    sorted(set(drawn) - cells)[:5],
                )
                checked += len(drawn)
        assert checked, kind
