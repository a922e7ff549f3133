"""Command line of the public functions, derived from their signatures and docstrings."""

import argparse
import inspect
import io
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import explorer
from explorer.inference.ask import DTYPES
from explorer.library.answers import STDIN, Answers, why_not_written, write_answers
from explorer.library.description import described, example_of
from explorer.library.family import Family, load
from explorer.library.progress import bars
from explorer.library.results import Result
from explorer.models.choice.family import ONLY, column, read_family, sizes_of
from explorer.models.choice.labels import label_names
from explorer.models.specs import KINDS
from explorer.refusal import Refusal, Sentence

DONE, REFUSED_SOME, REFUSED, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: all answered; some lines of standard input refused, or numbers that differ from plain
transformers'; nothing answered, or the answers
cannot be written; Ctrl-C."""
COMMANDS = tuple(name for name in explorer.__all__ if name[0].islower() and name != "load")
"""Public functions that are commands: all but the one whose result no shell can hold."""
OF_LISTS = ("finetune", "texts")
"""Commands that read a file, or standard input like a file."""
OF_TEXT = ("cite",)
"""Commands whose answer is a text and no table."""
ABOUT = "Ask BERT, DistilBERT and ALBERT from a shell: one command for each public function."
FIRST_LINE = "; - reads one from each line of standard input"
FIRST_FILE = "; - reads standard input like a file"
BAD_HEADS = "{given!r} names no heads; write them as bert=LAYER.HEAD,LAYER.HEAD"
BAD_LABELS = "{given!r} names no labels; write them as bert=LABEL,LABEL"
LABELS = "names for a head's labels in their order, bert=negative,positive; may be repeated"
NO_LINES = Sentence("no-lines", "Standard input has no line to answer.")
NOT_PRINTED = "The answers cannot be printed: {reason}."
INPUT_CLOSED = Sentence("input-closed", "Standard input is closed: there is no line to read.")
MAX_INPUT = 2**24
INPUT_TOO_LARGE = Sentence(
    "input-too-large", "Standard input has more than 16 MB: send its lines in parts."
)
COLUMN_ROLES = {
    **{role: f"--{role}" for role in ("text", "second", "answer", "good", "bad", "label")},
    "score": "--scores",  # --score names the score of pairs
}
"""Option of each role that a reader may name a column for."""
COLUMN = "column of the role {}, by its name or its number from 1"


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer the command line; return the exit code."""
    if sys.stderr is None:  # it is closed
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for the rest of the process
    flags = vars(build_parser().parse_args(arguments))
    name, as_json, path = flags.pop("command"), flags.pop("json"), flags.pop("csv")
    guarded = flags.pop("guarded")
    if problem := why_not_written(path, as_json):
        sys.stderr.write(f"{problem}\n")
        return REFUSED
    answers: Answers = []
    code = DONE
    try:
        code = print_text(name, flags) if name in OF_TEXT else answer_all(name, flags, answers)
    except Refusal as refusal:
        sys.stderr.write("".join(f"{line}\n" for line in (refusal, *notes_of(refusal))))
        return REFUSED
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted; what is done follows.\n")
        code = INTERRUPTED
    sys.stderr.write("".join(f"{reason}\n" for reason in reasons_missing(answers)))
    return code if _are_written(answers, as_json, path, guarded) else REFUSED


def reasons_missing(answers: Answers) -> list[str]:
    """Return why models are in no row of the answers, each reason once."""
    missing = [getattr(answer, "missing", None) or {} for _, answer in answers]
    return [*dict.fromkeys(str(reason) for each in missing for reason in each.values())]


def _are_written(answers: Answers, as_json: bool, path: str | None, guarded: bool) -> bool:
    """Write the answers; return whether nothing of them is lost, and say what is."""
    try:
        write_answers(answers, as_json, path, guarded)
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


def print_text(name: str, flags: Mapping[str, Any]) -> int:
    """Print the text that a function of a family returns.

    Raises:
        Refusal: there is no such family.
    """
    where = {"device": flags["device"], "dtype": flags["dtype"]}
    written = flags["family"]
    family = written if read_family(written) else family_of(written, name, where)
    sys.stdout.write(getattr(explorer, name)(family))
    return DONE


def answer_all(name: str, flags: Mapping[str, Any], answers: Answers) -> int:
    """Append every answer of a command to ``answers``, one for each line of standard input.

    Raises:
        Refusal: there is nothing that can be answered.
    """
    from tqdm import tqdm

    function, given = getattr(explorer, name), dict(flags)
    piped = next((key for key in required(function) if given[key] == STDIN), None)
    lines = lines_of(content := piped_content()) if piped else []
    if piped and not lines:
        raise Refusal(NO_LINES)
    if "family" in given:
        where = {} if "device" in takes(function) else _popped(given, "device", "dtype")
        given["family"] = family_of(given["family"], name, where)
    if name in OF_LISTS:
        if piped:
            given[piped] = io.BytesIO(content)
        return answer_list(function, given, answers)
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


def piped_content() -> bytes:
    """Return the bytes of standard input.

    Raises:
        Refusal: it is closed, or has more than ``MAX_INPUT`` bytes.
    """
    if sys.stdin is None:
        raise Refusal(INPUT_CLOSED)
    content = sys.stdin.buffer.read(MAX_INPUT + 1)
    if len(content) > MAX_INPUT:
        raise Refusal(INPUT_TOO_LARGE)
    return content


def lines_of(content: bytes) -> list[tuple[int, str]]:
    """Return the lines that are not empty, with their numbers.

    Raises:
        BadRows: the bytes are no text.
    """
    from explorer.lists.read import decoded

    lines = enumerate(io.StringIO(decoded(content), newline=None), 1)
    return [(number, line.strip()) for number, line in lines if line.strip()]


def answer_list(function: Callable[..., Any], given: dict[str, Any], answers: Answers) -> int:
    """Append the answer to a file of texts, or to standard input read like a file, as one list.

    Raises:
        Refusal: there is nothing that can be answered.
    """
    from explorer.lists.library import Interrupted

    try:
        with bars():
            result = function(**given)
    except Interrupted as stopped:
        answers.append(("", stopped.result))
        sys.stderr.write(stopped.said)
        return INTERRUPTED
    answers.append(("", result))
    left_out = result.answers.texts.left_out
    sys.stderr.write(f"{result.read_as}\n")
    sys.stderr.write("".join(f"row {row.number}: {row.reason}\n" for row in left_out))
    return REFUSED_SOME if left_out else DONE


def family_of(written: str, name: str, where: Mapping[str, Any]) -> Family | str:
    """Return the family of ``--family``: a preset, or sizes, folders and repositories by column.

    Raises:
        Refusal: there is no such family.
    """
    parts = written.split(",")
    has_preset = "=" not in parts[0]
    pairs = dict(part.partition("=")[::2] for part in parts[has_preset:])
    is_own = any(key not in KINDS or size not in column(key) for key, size in pairs.items())
    if is_own and all(pairs.values()):
        only = parts[0] == ONLY
        others = sizes_of(parts[0]) if has_preset and not only else {}
        return load(others | pairs, only=only, **where)
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
    for name in COMMANDS:
        function = getattr(explorer, name)
        description = described(function)
        command = commands.add_parser(
            name,
            help=description.summary,
            description=description.summary,
            epilog=f"example: python -m explorer {name} {written_example(function)}".rstrip(),
        )
        for parameter in takes(function).values():
            note = description.arguments.get(parameter.name, "").replace("``", "")
            add_argument(command, parameter, note)
        if "family" in takes(function) and "device" not in takes(function):
            command.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, mps or auto")
            command.add_argument("--dtype", default="float32", choices=DTYPES)
        command.set_defaults(json=False, csv=None, guarded=False)
        if name not in OF_TEXT:
            _add_outputs(command)
    return parser


def written_example(function: Callable[..., Any]) -> str:
    """Return the arguments of a docstring's example as a shell takes them."""
    parameters, words = inspect.signature(function).parameters, list[str]()
    for name, value in example_of(function).items():
        flag = f"--{name.replace('_', '-')}"
        is_placed = name == "models" or parameters[name].default is parameters[name].empty
        words += [] if is_placed else [flag]
        words += [] if value is True else map(_quoted, _words_of(value))
    return " ".join(words)


def _words_of(value: Any) -> list[str]:  # noqa: ANN401 - any argument
    """Return the words in which a shell gives a value: heads and labels by model, or a list."""
    if isinstance(value, Mapping):
        return [f"{key}={','.join(map(_item, items))}" for key, items in value.items()]
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _item(item: Any) -> str:  # noqa: ANN401 - a label, or a head
    return str(item) if isinstance(item, str) else ".".join(map(str, item))


def _quoted(word: str) -> str:
    return f'"{word}"' if shlex.quote(word) != word and '"' not in word else shlex.quote(word)


def _add_outputs(command: argparse.ArgumentParser) -> None:
    """Add the options of a command's JSON and of its file of rows."""
    command.add_argument("--json", action="store_true", help="print the endpoint's JSON")
    command.add_argument(
        "--csv", "--out", metavar="FILE", help="write all rows to a file, - prints them"
    )
    command.add_argument("--csv-for-spreadsheets", **FOR_SPREADSHEETS)


def add_argument(command: argparse.ArgumentParser, parameter: inspect.Parameter, note: str) -> None:
    """Add an argument: required ones stand in their place, all others are options."""
    name, note = parameter.name, note.replace("%", "%%")
    if name == "models":
        command.add_argument(name, nargs="+", metavar="NAME", help=note)
    elif parameter.default is parameter.empty:
        piped = FIRST_FILE if command.prog.split()[-1] in OF_LISTS else FIRST_LINE
        command.add_argument(name, help=f"{note.rstrip('.')}{piped}.")
    elif name == "columns":
        for role, flag in COLUMN_ROLES.items():
            command.add_argument(
                flag, dest=name, action=_Column, metavar="COLUMN", help=COLUMN.format(role)
            )
    elif name == "precision":
        how: dict[str, Any] = {"action": "store_const", "const": "fast", "default": "float32"}
        command.add_argument("--fast", dest=name, help=note, **how)
    elif name == "heads":
        note = "heads to switch off together, bert=0.3,1.7; may be repeated"
        command.add_argument("--heads", type=heads_of, action=_Merged, metavar="HEADS", help=note)
    elif name == "labels":
        how = {"type": _labels_of, "action": _Merged, "metavar": "LABELS"}
        command.add_argument("--labels", help=LABELS, **how)
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
        kind, shown = (int, "NUMBER") if name == "words" else (str, "TEXT")
        command.add_argument(flag, nargs="+", type=kind, metavar=shown, help=note)
    else:
        if name == "family":
            note = 'mini, base, large, or by column: "bert=large,albert=./my-albert"'
        default = f" (default: {value})" if value != "" else ""
        command.add_argument(flag, type=type(value), default=value, help=f"{note}{default}")


class _Guarded(argparse.Action):
    """Action that writes the file of ``--csv`` without a cell that a spreadsheet would run."""

    def __call__(self, _parser: Any, flags: Any, value: Any, _option: Any = None) -> None:  # noqa: ANN401
        """Set the file, and that it is guarded."""
        flags.csv, flags.guarded = value, True


FOR_SPREADSHEETS: dict[str, Any] = {
    "action": _Guarded,
    "dest": argparse.SUPPRESS,
    "metavar": "FILE",
    "help": "the same with an apostrophe before = + - @, so that no cell is a formula",
}


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


def _labels_of(written: str) -> dict[str, list[str]]:
    """Return the labels named as ``bert=negative,positive``."""
    try:
        return label_names(written)
    except Refusal:
        raise argparse.ArgumentTypeError(BAD_LABELS.format(given=written)) from None


def heads_of(written: str) -> dict[str, list[tuple[int, int]]]:
    """Return the heads named as ``bert=0.3,1.7``: layer 0, head 3, and layer 1, head 7."""
    key, _, places = written.partition("=")
    try:
        pairs = [tuple(map(int, place.split("."))) for place in places.split(",")]
        return {key: [(layer, head) for layer, head in pairs]}
    except ValueError:
        raise argparse.ArgumentTypeError(BAD_HEADS.format(given=written)) from None
