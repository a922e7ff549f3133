"""The rows that lines of Python find, held against those that the page says."""

import io
import math
import runpy
from contextlib import redirect_stdout
from itertools import count

from plotly.io import renderers


def recomputed(path):
    """The rows of a recipe, each by its columns' names; here, where torch is imported already."""
    renderers.default = ""  # where the figure is shown
    with redirect_stdout(io.StringIO()) as printed:
        found = runpy.run_path(str(path))
    drawn_well(found)
    assert printed.getvalue().count("\n") == len(found["rows"]) + 1
    assert found["rows"]
    return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]


def drawn_well(found):
    """The figure holds each value of each row that it is to draw, and no other number."""
    *_, values = found["FIGURE"][:4]
    places = [found["columns"].index(value) for value in values]
    wanted = sorted(str(row[place]) for row in found["rows"] for place in places)
    traces = found["figure"].data
    shown = [list(one.z if one.type == "heatmap" else one.y) for one in traces]
    assert sorted(str(value) for trace in shown for value in trace) == wanted
    assert all(len(one.x) == len(ys) for one, ys in zip(traces, shown, strict=True))


ROUNDING = 5e-5
"""A text alone and among others: float32 logits of the bundled models differ by up to 3e-5."""


def same(found, wanted):
    if isinstance(wanted, float):
        return math.isclose(float(found), wanted, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return written(found) == written(wanted)


def written(value):
    """A cell as a CSV has it."""
    return "" if value is None else str(value)


def agree(rows, fresh):
    """Every recomputed row stands in the file, in the columns that both have.

    Rows of one name stand in one order; of those with further columns the first is the answer's.
    """
    both = set(fresh[0]) & set(rows[0])
    measured = {name for row in fresh for name in both if isinstance(row[name], float)}
    keys = sorted(both - measured)
    mine, theirs = (numbered(listed, keys) for listed in (rows, fresh))
    for key, row in theirs.items():
        assert all(same(mine[key][name], row[name]) for name in both), (mine[key], row)


def numbered(rows, keys):
    """Each row by what it is about, and which of those it is."""
    seen, found = {}, {}
    for row in rows:
        key = tuple(written(row[k]) for k in keys)
        found[*key, next(seen.setdefault(key, count()))] = row
    return found
