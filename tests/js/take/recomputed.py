"""Comparison of the output of saved scripts with the CSV saved beside them, cell by cell."""

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
"""Tolerance: float32 logits of the bundled models differ by up to 3e-5 between batches."""
PAGE_ALONE = {
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
"""Columns that no script can compute: published figures, measurements on the page's machine, the
masked words of the bundled sentences."""


def run_alone(scripts, folder, explorer, **environment):
    """Run scripts in an empty folder, without the repository and without a display.

    Returns the output of each. ``explorer`` is the folder of the bundled models, or None.
    """
    left_out = {"DISPLAY", "WAYLAND_DISPLAY", "PYTHONPATH", "EXPLORER", "BROWSER"}
    variables = {name: value for name, value in os.environ.items() if name not in left_out}
    variables |= environment
    if explorer:
        variables["EXPLORER"] = str(explorer)
    command = [sys.executable, "-I", str(ALONE), *map(str, scripts)]
    process = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr[-3000:]
    for script in scripts:
        assert (folder / f"{script.stem}.html").stat().st_size > 1000, "its figure"
    return [script.with_suffix(".out").read_text("utf-8") for script in scripts]


def rows_of(text):
    """Return the rows of a CSV as dicts by column name, without the comment lines above."""
    cells = list(csv.reader(io.StringIO(text, newline="")))
    columns, *rows = [row for row in cells if not row[0].startswith("# ")]
    return [dict(zip(columns, row, strict=True)) for row in rows]


def agree(saved, printed, kind):
    """Check that both have the same rows in one order and, but for the page's own, one's columns."""
    rows, recomputed = rows_of(saved), rows_of(printed)
    assert rows, kind
    shared = set(recomputed[0])
    assert set(rows[0]) - shared == PAGE_ALONE.get(kind, set()), kind
    assert shared <= set(rows[0]), kind
    measured = {name for name in shared if any(is_measured(row[name]) for row in recomputed)}
    saved_rows, printed_rows = (
        numbered(table, sorted(shared - measured)) for table in (rows, recomputed)
    )
    assert saved_rows.keys() == printed_rows.keys(), (kind, set(saved_rows) ^ set(printed_rows))
    assert list(saved_rows) == list(printed_rows), (kind, "in the order of the file")
    for key, row in printed_rows.items():
        for name in measured:
            assert same(saved_rows[key][name], row[name]), (kind, name, saved_rows[key], row)


def is_measured(cell):
    """Return whether a script prints the cell as a number with decimals, or as several in bars."""
    try:
        numbers = [float(each) for each in cell.split("|") if each]
    except ValueError:
        return False
    return (
        bool(numbers)
        and all(map(math.isfinite, numbers))
        and ("|" in cell or not cell.lstrip("-").isdigit())
    )


def same(found, wanted):
    if "" in (found, wanted):
        return found == wanted
    if "|" in found:
        return all(same(*both) for both in zip(found.split("|"), wanted.split("|"), strict=True))
    return math.isclose(float(found), float(wanted), rel_tol=ROUNDING, abs_tol=ROUNDING)


def numbered(rows, keys):
    """Return the rows by their key columns and a running number."""
    counters, result = {}, {}
    for row in rows:
        key = tuple(plain(row[name]) for name in keys)
        result[*key, next(counters.setdefault(key, count()))] = row
    return result


def plain(cell):
    """Return a cell without the apostrophe that guards formulas."""
    return cell[1:] if cell[:2] in {"'=", "'+", "'-", "'@"} else cell
