"""Command line of the public functions, derived from their signatures and docstrings."""

import argparse
import csv
import inspect
import io
import itertools
import json
import math
import os
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import explorer
from explorer.analysis.records import harmless
from explorer.inference.ask import DTYPES
from explorer.library.family import Family, load
from explorer.library.progress import bars
from explorer.library.results import Result
from explorer.models.choice.family import column, sizes_of
from explorer.models.specs import KINDS
from explorer.refusal import Refusal

if TYPE_CHECKING:
    import pandas

DONE, REFUSED_SOME, REFUSED, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: all answered; some lines of standard input refused, or numbers that differ from plain
transformers'; nothing answered, or the answers
cannot be written; Ctrl-C."""
EXAMPLES: dict[str, str] = {
    "ablate": '"The cat sat on the [MASK]." --heads bert=0.3,1.7',
    "attention": '"The cat sat on the mat." --model albert --layer 2 --head 5',
    "attribute": '"The capital of France is [MASK]." --target paris',
    "contexts": '"The cat sat on the [MASK]."',
    "convert": "./old-bert ./my-bert --cased",
    "depth": '"The capital of France is [MASK]." --model distilbert',
    "distillation": '"The cat sat on the [MASK]." --temperature 4',
    "latency": "--sequence-length 16 --repeats 8",
    "layer": '"The cat sat on the [MASK]." --layer 3',
    "pair": '"The kettle began to whistle." "She poured the tea."',
    "parameters": "bert-base-uncased albert-base-v2",
    "patch": '"The cat sat on the [MASK]." --second "The dog sat on the [MASK]."',
    "predict": '"The [MASK] sat on the mat." --top-k 5',
    "question": '"Who sat?" "The cat sat on the mat."',
    "score": '"The keys to the cabinet are here."',
    "sentiment": '"A gorgeous, witty film."',
    "similarity": "",
    "texts": "facts --kind masked",
    "verify": "mini-albert",
}
"""Arguments of one working call of each command."""
ABOUT = "Ask BERT, DistilBERT and ALBERT from a shell: one command for each public function."
STDIN = "-"
FIRST_LINE = "; - reads one from each line of standard input"
BAD_HEADS = "{given!r} names no heads; write them as bert=LAYER.HEAD,LAYER.HEAD"
NO_LINES = "Standard input has no line to answer."
MAX_ROWS = 60
"""Rows of a table that are printed; files hold all."""
INTERRUPTED_ROWS = "Interrupted: the {n:,} rows that are done follow.\n"
MORE_ROWS = "{n:,} more rows: --csv FILE writes all.\n"
MORE_COLUMNS = "More columns than fit: --csv FILE writes also {names}.\n"
LEAST_WIDTH = 8
"""Characters of a terminal that each printed column has at least, its border included."""
WRITTEN = "{n:,} rows are written to {path}.\n"
NOT_WRITTEN = "The file {path} cannot be written: {reason}."
NAMED_PIPE = "it is a named pipe, which waits until somebody reads it"
NOT_PRINTED = "The answers cannot be printed: {reason}."
OUTPUT_CLOSED = "Standard output is closed: nothing can be printed."
INPUT_CLOSED = "Standard input is closed: there is no line to read."
MAX_INPUT = 2**24
INPUT_TOO_LARGE = "Standard input has more than 16 MB: send its lines in parts."
REFUSED_COLUMN = "refused"
"""Last column of the files of several lines: the reason for a line without an answer."""
COLUMN_ROLES = {
    **{role: f"--{role}" for role in ("text", "second", "answer", "good", "bad", "label")},
    "score": "--scores",  # --score names the score of pairs
}
"""Option of each role that a reader may name a column for."""
COLUMN = "column of the role {}, by its name or its number from 1"
TWO_OUTPUTS = "--json and --csv - both print: name a file for the rows."


Answers = list[tuple[str, Result | Refusal]]
"""Answers with their line of standard input; no line where the arguments hold the text."""


@dataclass(frozen=True, slots=True)
class Description:
    """Parts of a function's docstring."""

    summary: str
    arguments: Mapping[str, str]
    """By argument: its note."""
    returns: str


def described(function: Callable[..., Any]) -> Description:
    """Return the first sentence of a docstring, its note on each argument, and what it returns."""
    text = inspect.getdoc(function) or ""
    notes: dict[str, str] = {}
    last = ""
    for line in _section(text, "Args:"):
        name, colon, note = line.strip().partition(": ")
        if not line.startswith("     ") and colon:
            last, notes[name] = name, note
        elif last:
            notes[last] += f" {line.strip()}"
    returns = " ".join(line.strip() for line in _section(text, "Returns:"))
    return Description(text.partition("\n")[0], notes, returns)


def _section(text: str, title: str) -> list[str]:
    """Return the indented lines below a title of a docstring."""
    lines = text.partition(f"{title}\n")[2].split("\n")
    return [*itertools.takewhile(lambda line: line.startswith("    "), lines)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer the command line; return the exit code."""
    if sys.stderr is None:  # it is closed
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for the rest of the process
    flags = vars(build_parser().parse_args(arguments))
    name, as_json, path = flags.pop("command"), flags.pop("json"), flags.pop("csv")
    if problem := _why_not_written(path, as_json):
        sys.stderr.write(f"{problem}\n")
        return REFUSED
    answers: Answers = []
    code = DONE
    try:
        code = answer_all(name, flags, answers)
    except Refusal as refusal:
        sys.stderr.write("".join(f"{line}\n" for line in (refusal, *notes_of(refusal))))
        return REFUSED
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted; what is done follows.\n")
        code = INTERRUPTED
    return code if _are_written(answers, as_json, path) else REFUSED


def _are_written(answers: Answers, as_json: bool, path: str | None) -> bool:
    """Write the answers; return whether nothing of them is lost, and say what is."""
    try:
        write_answers(answers, as_json, path)
        sys.stdout.flush()
    except Refusal as refusal:
        sys.stderr.write(f"{refusal}\n")
        return False
    except OSError as error:
        # Python would write the rest at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return True  # Whoever read has read enough, as ``head`` does.
        sys.stderr.write(f"{NOT_PRINTED.format(reason=error.strerror)}\n")
        return False
    return True


def _why_not_written(path: str | None, as_json: bool) -> str:
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


def write_answers(answers: Answers, as_json: bool, path: str | None) -> None:
    """Print the answers as JSON or as a table, and write their rows to a file, as it was asked.

    Raises:
        Refusal: the file cannot be written; the answers are printed all the same. OSError: they
            cannot be printed.
    """
    problem = _written(answers, path) if path not in (None, STDIN) else ""
    if as_json:
        for line, result in answers:
            sys.stdout.write(f"{json.dumps(json_of(line, result), ensure_ascii=False)}\n")
    if path == STDIN:
        csv_cells(answers).to_csv(sys.stdout, index=False, quoting=csv.QUOTE_NONNUMERIC)
    results = [result for _, result in answers if not isinstance(result, Refusal)]
    if results and not as_json and path != STDIN:
        for result in results:
            said = dict.fromkeys((*result.sentences(), *result.notes))
            sys.stdout.write("".join(f"{line}\n" for line in said))
        print_table(frame_of(answers), MORE_ROWS if path is None else "")
    if problem:
        raise Refusal(problem)


def _written(answers: Answers, path: str) -> str:
    """Write the rows of the answers to a file; return why that failed, if it did."""
    cells = csv_cells(answers)
    try:
        cells.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC)
    except OSError as error:
        return NOT_WRITTEN.format(path=path, reason=error.strerror)
    sys.stderr.write(WRITTEN.format(n=len(cells), path=path))
    return ""


def csv_cells(answers: Answers) -> "pandas.DataFrame":
    """Return the cells of a file of all answers, none of which is a formula."""
    frame = frame_of(answers, is_file=True)
    # Not by frame.map, which makes a float of a whole number beside an empty cell.
    rows = [[*map(harmless, row)] for row in frame.itertuples(index=False)]
    return type(frame)(rows, columns=frame.columns, dtype=object)


def json_of(line: str, result: Result | Refusal) -> dict[str, Any]:
    """Return the JSON of an answer; of a refused line the line and the reason."""
    if isinstance(result, Refusal):
        return {"input": line, REFUSED_COLUMN: str(result)}
    return result.to_dict()


def answer_all(name: str, flags: Mapping[str, Any], answers: Answers) -> int:
    """Append every answer of a command to ``answers``, one for each line of standard input.

    Raises:
        Refusal: there is nothing that can be answered.
    """
    from tqdm import tqdm

    function, given = getattr(explorer, name), dict(flags)
    piped = next((key for key in required(function) if given[key] == STDIN), None)
    lines = piped_lines() if piped else []
    if piped and not lines:
        raise Refusal(NO_LINES)
    if "family" in given:
        where = {} if "device" in takes(function) else _popped(given, "device", "dtype")
        given["family"] = family_of(given["family"], name, where)
    if name == "texts":
        if piped:
            given[piped] = [line for _, line in lines]
        return answer_texts(given, answers)
    if piped is None:
        with bars():
            answers.append(("", result := function(**given)))
        return DONE if result.is_as_expected else REFUSED_SOME
    refused, noted = 0, set[str]()
    for number, line in tqdm(lines, desc="lines", leave=False, disable=None):
        try:
            answers.append((line, function(**{**given, piped: line})))
        except Refusal as refusal:
            refused += 1
            answers.append((line, refusal))
            fresh = [note for note in notes_of(refusal) if note not in noted]
            noted.update(fresh)
            sys.stderr.write("".join(f"{t}\n" for t in (f"line {number}: {refusal}", *fresh)))
    return REFUSED if refused == len(lines) else REFUSED_SOME if refused else DONE


def required(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's arguments without a default."""
    return [p.name for p in takes(function).values() if p.default is p.empty]


def notes_of(refusal: Refusal) -> list[str]:
    """Return what can be done about a refusal; nothing where docs/errors.md has no row for it."""
    return getattr(refusal, "__notes__", [])


def piped_lines() -> list[tuple[int, str]]:
    """Return the lines of standard input that are not empty, with their numbers.

    Raises:
        BadRows: its bytes are no text. Refusal: it is closed, or has more than ``MAX_INPUT`` bytes.
    """
    from explorer.lists.read import decoded

    if sys.stdin is None:
        raise Refusal(INPUT_CLOSED)
    content = sys.stdin.buffer.read(MAX_INPUT + 1)
    if len(content) > MAX_INPUT:
        raise Refusal(INPUT_TOO_LARGE)
    lines = enumerate(io.StringIO(decoded(content), newline=None), 1)
    return [(number, line.strip()) for number, line in lines if line.strip()]


def answer_texts(given: dict[str, Any], answers: Answers) -> int:
    """Append the answers to a file of texts, or to the lines of standard input, as one list.

    Raises:
        Refusal: there is nothing that can be answered.
    """
    from explorer.lists.library import Interrupted, texts

    try:
        with bars():
            result = texts(**given)
    except Interrupted as stopped:
        answers.append(("", stopped.result))
        sys.stderr.write(INTERRUPTED_ROWS.format(n=len(stopped.result.answers.texts.rows)))
        return INTERRUPTED
    answers.append(("", result))
    left_out = result.answers.texts.left_out
    sys.stderr.write(f"{result.read_as}\n")
    sys.stderr.write("".join(f"row {row.number}: {row.reason}\n" for row in left_out))
    return REFUSED_SOME if left_out else DONE


def family_of(written: str, name: str, where: Mapping[str, str]) -> Family | str:
    """Return the family of ``--family``: a preset, or sizes, folders and repositories by column.

    Raises:
        Refusal: there is no such family.
    """
    parts = written.split(",")
    has_preset = "=" not in parts[0]
    pairs = dict(part.partition("=")[::2] for part in parts[has_preset:])
    is_own = any(key not in KINDS or size not in column(key) for key, size in pairs.items())
    if is_own and all(pairs.values()):
        return load((sizes_of(parts[0]) if has_preset else {}) | pairs, **where)
    if name == "latency":
        return written  # shapes are timed, with random weights where there are none
    return load(written, **where)


def takes(function: Callable[..., Result]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a public function."""
    return inspect.signature(function).parameters


def _popped(given: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: given.pop(name) for name in names}


def build_parser() -> argparse.ArgumentParser:
    """Build the parser: a command for each public function, an option for each argument."""
    parser = argparse.ArgumentParser("python -m explorer", description=ABOUT)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, example in EXAMPLES.items():
        function = getattr(explorer, name)
        description = described(function)
        command = commands.add_parser(
            name,
            help=description.summary,
            description=description.summary,
            epilog=f"example: python -m explorer {name} {example}".rstrip(),
        )
        for parameter in takes(function).values():
            note = description.arguments.get(parameter.name, "").replace("``", "")
            add_argument(command, parameter, note)
        if "family" in takes(function) and "device" not in takes(function):
            command.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, mps or auto")
            command.add_argument("--dtype", default="float32", choices=DTYPES)
        command.add_argument("--json", action="store_true", help="print the endpoint's JSON")
        command.add_argument(
            "--csv", "--out", metavar="FILE", help="write all rows to a file, - prints them"
        )
    return parser


def add_argument(command: argparse.ArgumentParser, parameter: inspect.Parameter, note: str) -> None:
    """Add an argument: required ones stand in their place, all others are options."""
    name, note = parameter.name, note.replace("%", "%%")
    if name == "models":
        command.add_argument(name, nargs="+", metavar="NAME", help=note)
    elif parameter.default is parameter.empty:
        command.add_argument(name, help=f"{note.rstrip('.')}{FIRST_LINE}.")
    elif name == "columns":
        for role, flag in COLUMN_ROLES.items():
            command.add_argument(
                flag, dest=name, action=_Column, metavar="COLUMN", help=COLUMN.format(role)
            )
    elif name == "heads":
        note = "heads to switch off together, bert=0.3,1.7; may be repeated"
        command.add_argument("--heads", type=heads_of, action=_Merged, metavar="HEADS", help=note)
    else:
        _add_option(command, name, parameter.default, note)


def _add_option(
    command: argparse.ArgumentParser,
    name: str,
    value: Any,  # noqa: ANN401
    note: str,
) -> None:
    """Add an option of the type of its value: a switch, several texts, or one value."""
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        command.add_argument(flag, action="store_true", help=note)
    elif value is None:
        command.add_argument(flag, nargs="+", default=None, metavar="TEXT", help=note)
    else:
        if name == "family":
            note = 'mini, base, large, or by column: "bert=large,albert=./my-albert"'
        default = f" (default: {value})" if value != "" else ""
        command.add_argument(flag, type=type(value), default=value, help=f"{note}{default}")


class _Merged(argparse.Action):
    """Action that joins an option's lists, key by key, when it is given several times."""

    def __call__(self, _parser: Any, flags: Any, value: Any, _option: Any = None) -> None:  # noqa: ANN401
        """Add the value's lists to those before."""
        merged = getattr(flags, self.dest) or {}
        more = {key: [*merged.get(key, ()), *items] for key, items in value.items()}
        setattr(flags, self.dest, merged | more)


class _Column(argparse.Action):
    """Action that keeps the column of a role, named by its option."""

    def __call__(self, _parser: Any, flags: Any, value: Any, option: Any = None) -> None:  # noqa: ANN401
        """Add the column to those before."""
        before = getattr(flags, self.dest) or {}
        role = next(role for role, flag in COLUMN_ROLES.items() if flag == option)
        setattr(flags, self.dest, before | {role: value})


def heads_of(written: str) -> dict[str, list[tuple[int, int]]]:
    """Return the heads named as ``bert=0.3,1.7``: layer 0, head 3, and layer 1, head 7."""
    key, _, places = written.partition("=")
    try:
        pairs = [tuple(map(int, place.split("."))) for place in places.split(",")]
        return {key: [(layer, head) for layer, head in pairs]}
    except ValueError:
        raise argparse.ArgumentTypeError(BAD_HEADS.format(given=written)) from None


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
