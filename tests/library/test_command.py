"""The command line: a command for each function, its options, files, standard input, exit codes."""

import csv
import inspect
import io
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

import explorer
from explorer.analysis.records import Records
from explorer.assets import ROOT
from explorer.library import command
from explorer.library.answers import csv_cells, written
from explorer.library.command import COMMANDS, main, written_example
from explorer.library.description import example_of
from explorer.refusal import Refusal

FUNCTIONS = [name for name in explorer.__all__ if name[0].islower() and name != "load"]
TEXT = "The cat sat on the [MASK]."


EXAMPLES = {name: written_example(getattr(explorer, name)) for name in COMMANDS}


def test_every_function_is_a_command_with_its_docstrings_example():
    assert set(COMMANDS) == set(FUNCTIONS)
    assert EXAMPLES["attribute"] == '"The capital of France is [MASK]." --target paris'
    assert EXAMPLES["ablate"] == '"The capital of France is [MASK]." --heads bert=0.3'
    assert EXAMPLES["similarity"] == '--texts "The cat sat." "A cat ran." --words 1 1'
    assert EXAMPLES["convert"] == "./old-bert ./my-bert --cased"
    assert EXAMPLES["parameters"] == "bert-base-uncased albert-base-v2"


@pytest.mark.parametrize("name", COMMANDS)
def test_an_example_is_the_same_call_in_a_shell_and_in_python(name):
    given = vars(command.build_parser().parse_args([name, *shlex.split(EXAMPLES[name])]))
    example = json.loads(json.dumps(example_of(getattr(explorer, name))))
    assert example == {n: json.loads(json.dumps(given[n])) for n in example}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_help_shows_every_argument_and_an_example(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"python -m explorer {name} {EXAMPLES[name]}".strip() in printed
    flags = {"precision": "--fast"}
    for argument in inspect.signature(getattr(explorer, name)).parameters:
        flag = flags.get(argument, argument.replace("_", "-"))
        assert flag in printed or argument == "models"


@pytest.mark.long
@pytest.mark.parametrize(
    "name", sorted(set(EXAMPLES) - {"attribute", "convert", "entities", "finetune"})
)
def test_every_example_works(tuned_family, three_sentences, eight_rounds, name, capsys):
    assert main([name, *shlex.split(EXAMPLES[name])]) == 0
    printed = capsys.readouterr().out
    assert "┃ model" in printed or name in ("changed", "distillation", "cite")


@pytest.mark.long
def test_the_example_of_an_attribution_works_on_the_bundled_family(capsys):
    assert main(["attribute", *shlex.split(EXAMPLES["attribute"])]) == 0
    assert "paris" in capsys.readouterr().out


def test_a_citation_is_printed_as_it_is(capsys):
    assert main(["cite", "--family", "base"]) == 0
    assert capsys.readouterr().out == explorer.cite("base")


def test_json_is_that_of_the_endpoint(tiny_family, capsys):
    from tests.endpoints import predict

    assert main(["predict", TEXT, "--top-k", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == predict(TEXT, "mini", 3)


def test_a_file_has_every_row_unrounded(tiny_family, tmp_path, capsys):
    path = tmp_path / "out.csv"
    assert main(["attention", TEXT, "--csv", str(path)]) == 0
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    expected = explorer.attention(TEXT).rows()
    assert [float(row["weight"]) for row in rows] == [row[-1] for row in expected]


def piped(monkeypatch, text, encoding="utf-8"):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode(encoding))))


def test_each_line_of_standard_input_is_answered(tiny_family, monkeypatch, capsys):
    piped(monkeypatch, "The cat sat.\n\nA dog ran.\n")
    assert main(["score", "-", "--csv", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["input"] for row in rows] == ["The cat sat."] * 3 + ["A dog ran."] * 3
    expected = explorer.score("A dog ran.").models["albert"].pll
    assert float(rows[-1]["pll"]) == pytest.approx(expected)


def test_a_table_on_standard_input_is_read_like_a_file(tiny_family, monkeypatch, tmp_path, capsys):
    table = "sentence_good\tsentence_bad\nThe cat sat.\tThe cat sit.\nA dog ran.\tA dog run.\n"
    (tmp_path / "pairs.tsv").write_text(table, "utf-8")
    assert main(["texts", str(tmp_path / "pairs.tsv"), "--json"]) == 0
    expected = capsys.readouterr()
    piped(monkeypatch, table)
    assert main(["texts", "-", "--json"]) == 0
    assert capsys.readouterr() == expected
    assert json.loads(expected.out)["kind"] == "pairs"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_standard_input_is_read_in_the_encodings_of_a_file(
    tiny_family, monkeypatch, capsys, encoding
):
    piped(monkeypatch, "# The café.\r\n\r\nA dog ran.", encoding)
    assert main(["score", "-", "--csv", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(dict.fromkeys(row["input"] for row in rows)) == ["# The café.", "A dog ran."]
    assert {row["refused"] for row in rows} == {""}


def test_standard_input_that_is_no_text_is_refused_in_one_sentence(monkeypatch, capsys):
    piped(monkeypatch, "The cat\0 sat.\n")
    assert main(["score", "-"]) == command.REFUSED
    assert capsys.readouterr().err.startswith("This file holds zero bytes, which no text has:")


def test_a_refused_line_is_in_the_files_with_its_reason(tiny_family, monkeypatch, capsys):
    lines = "a [MASK]\nA dog ran.\n"
    piped(monkeypatch, lines)
    assert main(["score", "-", "--csv", "-"]) == command.REFUSED_SOME
    refused, *rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (refused["input"], refused["model"]) == ("a [MASK]", "")
    assert refused["refused"].startswith("The text has a [MASK]")
    assert [(row["refused"], row["tokens"].isdigit()) for row in rows] == [("", True)] * 3
    piped(monkeypatch, lines)
    assert main(["score", "-", "--json"]) == command.REFUSED_SOME
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {"input": "a [MASK]", "refused": refused["refused"]}
    assert second["models"]


def test_a_line_that_is_refused_is_named_and_the_others_are_answered(
    tiny_family, monkeypatch, capsys
):
    piped(monkeypatch, "The cat sat.\na [MASK]\n")
    assert main(["score", "-", "--json"]) == command.REFUSED_SOME
    printed = capsys.readouterr()
    assert [set(json.loads(line)) >= {"models"} for line in printed.out.splitlines()] == [
        True,
        False,
    ]
    assert "line 2: The text has a [MASK]" in printed.err


@pytest.mark.parametrize(
    ("arguments", "lines", "sentence"),
    [
        (["predict", "no mask"], "", "The text has no [MASK]"),
        (["predict", TEXT, "--family", "huge"], "", "There is no such family"),
        (["predict", TEXT, "--family", "bert=./nowhere"], "", "neither a folder here nor"),
        (["predict", TEXT, "--device", "tpu"], "", "There is no device"),
        (["score", "-"], "", "Standard input has no line"),
        (["score", "-"], "a [MASK]\n", "line 1: The text has a [MASK]"),
    ],
)
def test_a_refusal_is_one_sentence_and_code_two(
    tiny_family, own_models, monkeypatch, capsys, tmp_path, arguments, lines, sentence
):
    piped(monkeypatch, lines)
    path = tmp_path / "rows.csv"
    assert main([*arguments, "--csv", str(path)]) == command.REFUSED
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert printed.out == ""
    assert path.exists() == bool(lines), "with the refused lines, if there are lines"


def test_a_file_that_cannot_be_written_is_said_before_anything_runs(
    tiny_family, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(command, "answer_all", None)
    assert main(["predict", TEXT, "--csv", str(tmp_path / "none" / "x.csv")]) == command.REFUSED
    assert "x.csv cannot be written: No such file" in capsys.readouterr().err


def test_a_shell_times_a_folder_of_ones_own(tiny_family, own_models, capsys):
    folder = tiny_family.path / "mini-albert"
    call = ["latency", "--family", f"albert={folder}", "--sequence-length", "8", "--repeats", "1"]
    assert main([*call, "--json"]) == command.DONE
    names = [model["name"] for model in json.loads(capsys.readouterr().out)["models"]]
    assert len(names) == 3
    assert str(folder) not in names


@pytest.mark.parametrize("arguments", [["ablate", TEXT, "--heads", "bert=1"], ["nothing"], []])
def test_arguments_that_cannot_be_read_end_with_code_two(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


def test_ctrl_c_keeps_what_is_done(tiny_family, monkeypatch, capsys):
    original = explorer.score

    def interrupted(text, family):
        if text == "third":
            raise KeyboardInterrupt
        return original(text, family)

    interrupted.__signature__ = inspect.signature(original)
    monkeypatch.setattr(explorer, "score", interrupted)
    piped(monkeypatch, "first\nsecond\nthird\nfourth\n")
    monkeypatch.setattr(command, "takes", lambda _: inspect.signature(original).parameters)
    assert main(["score", "-", "--json"]) == command.INTERRUPTED
    texts = [json.loads(line)["text"] for line in capsys.readouterr().out.splitlines()]
    assert texts == ["first", "second"]


def test_a_checkpoint_of_one_s_own_is_a_family(tiny_family, own_models, capsys):
    folder = tiny_family.path / "mini-albert"
    assert main(["predict", TEXT, "--family", f"albert={folder}", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [model["model"] for model in answer["models"]] == ["bert", "distilbert", "albert"]
    assert "albert=own-mini-albert" in answer["family"]


@pytest.mark.long
def test_a_shell_says_why_a_model_is_in_no_row(tuned_family, own_models, tmp_path, capsys):
    """A classifier of fifty labels was left out of the table without a word."""
    from transformers import BertForSequenceClassification

    own = tmp_path / "classes"
    shutil.copytree(tuned_family.path / "mini-bert", own, ignore=shutil.ignore_patterns("tasks"))
    labels = {i: f"class {i}" for i in range(50)}
    network = BertForSequenceClassification.from_pretrained(own, num_labels=50, id2label=labels)
    network.save_pretrained(own)
    assert main(["sentiment", "the cat sat", "--family", f"bert={own}"]) == command.DONE
    printed = capsys.readouterr()
    assert "classes brings a classifier with the labels class 0, class 1, class 2" in printed.err
    assert "and 45 more" in printed.err
    assert "distilbert" in printed.out


@pytest.mark.long
def test_a_line_is_named_by_its_own_number_and_heads_leave_the_text_alone(
    tuned_family, monkeypatch, capsys
):
    piped(monkeypatch, "\n\na [MASK]\nA dog ran.\n")
    assert main(["score", "-", "--json"]) == command.REFUSED_SOME
    assert "line 3: The text has a [MASK]" in capsys.readouterr().err
    heads = ["--heads", "bert=0.3", "--heads", "albert=0.0", "--heads", "bert=1.7"]
    assert main(["ablate", *heads, TEXT, "--json"]) == 0
    models = {m["model"]: m["off"] for m in json.loads(capsys.readouterr().out)["models"]}
    assert models == {"bert": [[0, 3], [1, 7]], "distilbert": [], "albert": [[0, 0]]}


def test_a_file_is_confirmed_and_two_outputs_are_not_mixed(
    tuned_family, three_sentences, tmp_path, capsys
):
    path = tmp_path / "rows.csv"
    assert main(["similarity", "--csv", str(path)]) == 0
    said = capsys.readouterr().err
    n = len(path.read_text("utf-8").splitlines()) - 1
    assert f"{n:,} rows are written to {path}." in said
    assert "more rows" not in said
    assert main(["score", "A dog ran.", "--json", "--csv", "-"]) == command.REFUSED
    assert capsys.readouterr().out == ""


def test_a_dash_in_an_option_is_no_standard_input(tiny_family, monkeypatch, capsys):
    piped(monkeypatch, "a cat\na dog\n")
    assert main(["attribute", TEXT, "--target", "-"]) == command.REFUSED
    assert "line 1" not in capsys.readouterr().err


def test_a_checkpoint_of_one_s_own_stands_beside_the_sizes_that_are_named(monkeypatch):
    monkeypatch.setattr(command, "load", lambda sizes, **_: sizes)
    base = {"distilbert": "base", "albert": "base"}
    assert command.family_of("base,bert=./mine", "predict", {}) == {"bert": "./mine", **base}
    assert command.family_of("bert=./mine,albert=xlarge", "predict", {}) == {
        "bert": "./mine",
        "albert": "xlarge",
    }
    for plain in ("base,bert", "base,", "mini,bert="):
        assert command.family_of(plain, "predict", {}) == plain, (
            "load refuses it, and names the sizes"
        )
    for wrong in ("bas,bert=./mine", ",bert=./mine"):
        with pytest.raises(Refusal, match="There is no family"):
            command.family_of(wrong, "predict", {})


def test_who_reads_no_further_gets_no_traceback(tiny_family, monkeypatch, tmp_path):
    class Closed(io.StringIO):
        """A pipe whose reader has left; its descriptor is a file's."""

        def flush(self):
            raise BrokenPipeError

        def fileno(self):
            return file.fileno()

    with (tmp_path / "pipe").open("w") as file:
        monkeypatch.setattr("sys.stdout", Closed())
        assert main(["predict", TEXT, "--json"]) == 0
        file.write("more")
    assert (tmp_path / "pipe").read_text() == "", "what follows goes nowhere"


def by_shell(line, **how):
    """Return the exit code of a line of sh, and what it says on standard error."""
    run = f"{shlex.quote(sys.executable)} -m explorer {line}"
    ran = subprocess.run(["sh", "-c", run], cwd=ROOT, capture_output=True, text=True, **how)
    return ran.returncode, ran.stderr


SHELL = {
    "a full disk": (
        "parameters mini-bert --json > /dev/full",
        "The answers cannot be printed: No space",
    ),
    "closed output": (
        "parameters mini-bert >&-",
        "Standard output is closed: nothing can be printed.",
    ),
    "closed input": ("score - <&-", "Standard input is closed: there is no line to read."),
    "endless input": ("score - < {large}", "Standard input has more than 16 MB"),
}


@pytest.mark.processes
@pytest.mark.parametrize("name", SHELL)
def test_what_cannot_be_written_or_read_is_one_sentence_and_code_two(name, tmp_path):
    line, sentence = SHELL[name]
    large = tmp_path / "large.txt"
    with large.open("wb") as file:
        file.truncate(command.MAX_INPUT + 1)
    code, said = by_shell(line.format(large=large), timeout=300)
    assert code == command.REFUSED
    # A refusal that docs/errors.md knows is followed by what to do.
    first, *more = said.splitlines()
    assert sentence in first
    assert all(line.startswith("What to do: ") for line in more), said


@pytest.mark.parametrize("flags", [["--json"], [], ["--csv", "-"]])
def test_a_full_disk_is_one_sentence_in_each_form(tiny_family, monkeypatch, capsys, flags):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert main(["parameters", "mini-bert", *flags]) == command.REFUSED
    assert capsys.readouterr().err.startswith("The answers cannot be printed: No space")


def test_a_file_on_a_full_disk_and_a_pipe_by_name_are_refused(tiny_family, tmp_path, capsys):
    os.mkfifo(pipe := tmp_path / "pipe")
    for path, words in (
        ("/dev/full", "The file /dev/full cannot be written: No space"),
        (str(pipe), "cannot be written: it is a named pipe"),
    ):
        assert main(["parameters", "mini-bert", "--csv", path]) == command.REFUSED
        assert words in capsys.readouterr().err


def test_closed_errors_and_a_pipe_of_the_shell_s_own_do_no_harm(tiny_family, monkeypatch, capsys):
    reads, writes = os.pipe()
    call = ["parameters", "mini-bert", "--json", "--csv", f"/dev/fd/{writes}"]
    assert main(call) == command.DONE
    os.close(writes)
    with open(reads) as pipe:
        assert pipe.read().startswith('"')
    with monkeypatch.context() as closed:
        closed.setattr("sys.stderr", None)
        assert main(["parameters", "mini-bert", "--csv", "-"]) == command.DONE
    assert '"mini-bert","head"' in capsys.readouterr().out


CELLS = ["@user thanks", "=1", "-1 of 10", "+1", "a;=1+1", 'He said "no".', "two\nlines"]


@pytest.mark.long
def test_a_shell_s_file_has_the_texts_as_they_were_given(tmp_path):
    """So a join with the source finds every row; a file for spreadsheets is asked for."""
    given = tmp_path / "given.jsonl"
    given.write_text("".join(json.dumps({"text": cell}) + "\n" for cell in CELLS))
    for flag, is_given in (("--csv", True), ("--csv-for-spreadsheets", False)):
        out = tmp_path / f"out{flag}.csv"
        assert command.main(["texts", str(given), "--kind", "plain", flag, str(out)]) == 0
        with out.open(newline="") as file:
            read = {row["text"] for row in csv.DictReader(file)}
        assert (read == set(CELLS)) is is_given, flag
        assert not is_given or "'@user thanks" not in read


@pytest.mark.parametrize("cell", ["a;=1+1", "=1", "a\t-1", "a\r\n@x", "a-1", "It is 5; so."])
def test_a_shell_s_cell_is_that_of_the_page(cell, tmp_path):
    """``harmless`` and ``cell`` in files.js do the same."""
    record = Records(("text", "n"), [(cell, 1)])
    answer = SimpleNamespace(records=lambda: record)
    cells = csv_cells([("", answer)], guarded=True)
    path = tmp_path / "out.csv"
    written([("", answer)], str(path), guarded=True)
    text = path.read_bytes().decode()
    row = next(itertools.islice(csv.reader(io.StringIO(text, newline="")), 1, None))
    assert row[0] == cells["text"][0] == re.sub(r"(^|[;\t\r\n])(?=[=+\-@\t\r])", r"\1'", cell)
    assert f'"{row[0]}"' in text, "in quotation marks, so that no other separator divides it"


@pytest.mark.long
def test_columns_that_do_not_fit_are_named_and_not_squeezed(tuned_family, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["texts", "facts", "--kind", "masked"]) == 0
    printed = capsys.readouterr()
    header = next(line for line in printed.out.splitlines() if line.startswith("┃ row"))
    assert header.count("┃") == 10 + 1
    assert (
        "--csv FILE writes also answer_pieces, words, word_probabilities, log_ratio." in printed.err
    )
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["texts", "facts", "--kind", "masked"]) == 0
    assert "writes also" not in capsys.readouterr().err
