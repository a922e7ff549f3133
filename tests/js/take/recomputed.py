"""What saved scripts print, held against the CSV that was saved beside them, cell by cell."""

import csv
import io
import math
import os
import subprocess
import sys
from itertools import count
from pathlib import Path

ALONE = Path(__file__).parent / "alone.py"
ROUNDING = 5e-5
"""A text alone and among others: float32 logits of the bundled models differ by up to 3e-5."""
PAGE_ALONE = {
    "depth/lens": {"flops"},
    "distillation/agreement": {"answer"},
    "parameters/sizes": {
        "printed_millions",
        "printed_in",
        "also_printed_millions",
        "percent_over_printed",
    },
    "parameters/sharing": {"printed", "squad1", "squad2", "mnli", "sst2", "race", "average"},
    "parameters/memory": {"peak_bytes_measured"},
}
"""Columns that no script can compute: printed in papers, measured on the machine of the page, the
hidden words of the bundled sentences, and operations that are counted from the shape."""


def run_alone(scripts, folder, explorer, **environment):
    """Runs scripts in an empty folder, without the repository and without a screen.

    Returns what each of them printed. ``explorer`` is where the bundled models are, or None.
    """
    left_out = {"DISPLAY", "WAYLAND_DISPLAY", "PYTHONPATH", "EXPLORER", "BROWSER"}
    given = {name: value for name, value in os.environ.items() if name not in left_out}
    given |= environment
    if explorer:
        given["EXPLORER"] = str(explorer)
    command = [sys.executable, "-I", str(ALONE), *map(str, scripts)]
    done = subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    for script in scripts:
        assert (folder / f"{script.stem}.html").stat().st_size > 1000, "its figure"
    return [script.with_suffix(".out").read_text("utf-8") for script in scripts]


def rows_of(text):
    """The lines of a CSV by the names of its columns, without what stands above them."""
    cells = list(csv.reader(io.StringIO(text, newline="")))
    columns, *rows = [row for row in cells if not row[0].startswith("# ")]
    return [dict(zip(columns, row, strict=True)) for row in rows]


def agree(saved, printed, kind):
    """Both have the same rows and, but for what only the page knows, the same columns."""
    rows, fresh = rows_of(saved), rows_of(printed)
    assert rows, kind
    both = set(fresh[0])
    assert set(rows[0]) - both == PAGE_ALONE.get(kind, set()), kind
    assert both <= set(rows[0]), kind
    measured = {name for name in both if any(is_measured(row[name]) for row in fresh)}
    mine, theirs = (numbered(listed, sorted(both - measured)) for listed in (rows, fresh))
    assert mine.keys() == theirs.keys(), (kind, set(mine) ^ set(theirs))
    for key, row in theirs.items():
        for name in measured:
            assert same(mine[key][name], row[name]), (kind, name, mine[key], row)


def is_measured(cell):
    """Whether a script prints this as a number with decimals."""
    try:
        return math.isfinite(float(cell)) and not cell.lstrip("-").isdigit()
    except ValueError:
        return False


def same(found, wanted):
    if "" in (found, wanted):
        return found == wanted
    return math.isclose(float(found), float(wanted), rel_tol=ROUNDING, abs_tol=ROUNDING)


def numbered(rows, keys):
    """Each row by what it is about, and which of those it is."""
    seen, found = {}, {}
    for row in rows:
        key = tuple(plain(row[name]) for name in keys)
        found[*key, next(seen.setdefault(key, count()))] = row
    return found


def plain(cell):
    """A cell without the apostrophe before a formula; both languages' truths are the same."""
    cell = cell[1:] if cell[:2] in {"'=", "'+", "'-", "'@"} else cell
    return {"true": "True", "false": "False"}.get(cell, cell)
