"""Answers of a command: printed as a table or as JSON, and written to a file of rows."""

import csv
import json
import math
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.analysis.records import harmless
from explorer.library.results import Result
from explorer.refusal import Refusal, Sentence

if TYPE_CHECKING:
    import pandas

STDIN = "-"
MAX_ROWS = 60
"""Rows of a table that are printed; files hold all."""
MORE_ROWS = "{n:,} more rows: --csv FILE writes all.\n"
MORE_COLUMNS = "More columns than fit: --csv FILE writes also {names}.\n"
LEAST_WIDTH = 8
"""Characters of a terminal that each printed column has at least, its border included."""
WRITTEN = "{n:,} rows are written to {path}.\n"
NOT_WRITTEN = Sentence("file-not-written", "The file {path} cannot be written: {reason}.")
NAMED_PIPE = "it is a named pipe, which waits until somebody reads it"
OUTPUT_CLOSED = "Standard output is closed: nothing can be printed."
REFUSED_COLUMN = "refused"
"""Last column of the files of several lines: the reason for a line without an answer."""
TWO_OUTPUTS = "--json and --csv - both print: name a file for the rows."
Answers = list[tuple[str, Result | Refusal]]
"""Answers with their line of standard input; no line where the arguments hold the text."""


def why_not_written(path: str | None, as_json: bool) -> str:
    """Return why the answers cannot be written, before anything is computed for them."""
    if sys.stdout is None:
        return OUTPUT_CLOSED
    if path == STDIN:
        return TWO_OUTPUTS if as_json else ""
    if path is None:
        return ""
    file = Path(path)
    try:
        if _is_named_pipe(path):
            return NOT_WRITTEN.format(path=path, reason=NAMED_PIPE)
        existed = os.path.lexists(file)
        file.open("a").close()
        if not existed:
            file.unlink()
    except OSError as error:
        return NOT_WRITTEN.format(path=path, reason=error.strerror)
    return ""


def _is_named_pipe(path: str) -> bool:
    """Return whether a path is a pipe with a name; one of the shell's own is read already."""
    real = os.path.realpath(path)
    return Path(real).exists() and stat.S_ISFIFO(Path(real).stat().st_mode)


def write_answers(answers: Answers, as_json: bool, path: str | None, guarded: bool = False) -> None:
    """Print the answers as JSON or as a table, and write their rows to a file, as it was asked.

    ``guarded`` is said of a file for spreadsheets, in which no cell is a formula.

    Raises:
        Refusal: the file cannot be written; the answers are printed all the same. OSError: they
            cannot be printed.
    """
    problem = written(answers, path, guarded) if path not in (None, STDIN) else None
    if as_json:
        for line, result in answers:
            sys.stdout.write(f"{json.dumps(json_of(line, result), ensure_ascii=False)}\n")
    if path == STDIN:
        csv_cells(answers, guarded).to_csv(sys.stdout, index=False, quoting=csv.QUOTE_NONNUMERIC)
    results = [result for _, result in answers if not isinstance(result, Refusal)]
    if results and not as_json and path != STDIN:
        for result in results:
            said = dict.fromkeys((*result.sentences(), *result.notes))
            sys.stdout.write("".join(f"{line}\n" for line in said))
        print_table(frame_of(answers), MORE_ROWS if path is None else "")
    if problem:
        raise Refusal(problem)


def written(answers: Answers, path: str, guarded: bool = False) -> Sentence | None:
    """Write the rows of the answers to a file; return why that failed, if it did."""
    cells = csv_cells(answers, guarded)
    try:
        cells.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC)
    except OSError as error:
        return NOT_WRITTEN.format(path=path, reason=error.strerror)
    sys.stderr.write(WRITTEN.format(n=len(cells), path=path))
    return None


def csv_cells(answers: Answers, guarded: bool = False) -> "pandas.DataFrame":
    """Return the cells of a file of all answers: texts as they are, so that a join finds them.

    In a guarded file, which is for spreadsheets, an apostrophe is before what would be a formula.
    """
    frame = frame_of(answers, is_file=True)
    if not guarded:
        return frame
    # Not by frame.map, which makes a float of a whole number beside an empty cell.
    rows = [[*map(harmless, row)] for row in frame.itertuples(index=False)]
    return type(frame)(rows, columns=frame.columns, dtype=object)


def json_of(line: str, result: Result | Refusal) -> dict[str, Any]:
    """Return the JSON of an answer; of a refused line the line and the reason."""
    if isinstance(result, Refusal):
        return {"input": line, REFUSED_COLUMN: str(result)}
    return result.to_dict()


def frame_of(answers: Answers, is_file: bool = False) -> "pandas.DataFrame":
    """Return the rows of all answers; with the line of standard input where there are several.

    A file of several lines has also a row for each refused line, and a column with the reasons.
    """
    import pandas

    frames = []
    for line, result in answers:
        if isinstance(result, Refusal):
            frame = pandas.DataFrame({"input": [line], REFUSED_COLUMN: [str(result)]})
        else:
            frame = result.records().to_frame(object)
            if line:
                frame.insert(0, "input", line)
        if is_file or not isinstance(result, Refusal):
            frames.append(frame)
    rows = pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()
    if REFUSED_COLUMN in rows:
        rows[REFUSED_COLUMN] = rows.pop(REFUSED_COLUMN)
        return rows.where(rows.notna(), "")
    return rows.assign(**{REFUSED_COLUMN: ""}) if is_file and "input" in rows else rows


def print_table(frame: "pandas.DataFrame", more: str) -> None:
    """Print the first rows as a table, without colours where the output is no terminal.

    ``more`` is said of the rows that are not printed. The last columns are left out where the
    terminal is too narrow for all.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(file=sys.stdout, highlight=False)
    shown = frame.iloc[:, : console.width // LEAST_WIDTH]
    table = Table(*shown.columns)
    for row in shown.head(MAX_ROWS).itertuples(index=False):
        table.add_row(*(escape(_cell(value)) for value in row))
    console.print(table)
    if len(shown.columns) < len(frame.columns) and more:
        left = ", ".join(frame.columns[len(shown.columns) :])
        sys.stderr.write(MORE_COLUMNS.format(names=left))
    if len(frame) > MAX_ROWS:
        sys.stderr.write(more.format(n=len(frame) - MAX_ROWS))


def _cell(value: Any) -> str:  # noqa: ANN401 - any value of a row
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
