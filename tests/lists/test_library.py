"""A list of texts as a function and from a shell: files, standard input, and what Ctrl-C keeps."""

import csv
import io
from pathlib import Path

import numpy as np
import pandas
import pytest

import explorer
from explorer.analysis.records import Records
from explorer.library.command import INTERRUPTED, main
from explorer.lists import batches, results
from explorer.lists.library import Interrupted, LabelledTexts, answered, table_of
from explorer.lists.read import MAX_BYTES
from explorer.lists.results import TextsOptions
from explorer.refusal import Refusal
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.views.notebook import sketch

CSV = "text,answer\nthe [MASK] sat.,cat\n=the [MASK] is good.,dog\nhe is [MASK].,bad\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(CSV, "utf-8")
    return path


def test_a_file_is_the_list_of_its_rows(tiny_family, file):
    rows = [
        {"text": row["text"], "answer": row["answer"]} for row in csv.DictReader(io.StringIO(CSV))
    ]
    assert explorer.texts(file).to_dict() == explorer.texts(rows).to_dict()
    assert explorer.texts(str(file)).done
    with pytest.raises(Refusal, match="cannot be read"):
        explorer.texts("nowhere.csv")


LABELLED = [
    {"text": f"the {word} sat on mat {i}", "label": label, "word": f"{word}{i // 4}"}
    for i, (word, label) in enumerate([("cat", "x"), ("dog", "y")] * 20)
]


@pytest.mark.long
def test_groups_are_a_column_or_one_name_for_each_row(tiny_family, little_training):
    named = explorer.texts(LABELLED, kind="labelled", group="word")
    names = [row["word"] for row in LABELLED]
    plain = [{"text": row["text"], "label": row["label"]} for row in LABELLED]
    given = explorer.texts(plain, kind="labelled", group=names)
    own = explorer.texts([row | {"group": row["word"]} for row in LABELLED], kind="labelled")
    assert [row.group for row in named.answers.texts.rows] == names
    for other in (given, own):
        np.testing.assert_array_equal(
            other.answers.result.labels.groups, named.answers.result.labels.groups
        )
        assert other.answers.result.accuracy == named.answers.result.accuracy
    assert named.to_dict()["summary"]["groups"] == len(set(names)) == 20
    said = "The rows of a group stay together: 40 rows in 20 groups."
    assert any(line.startswith(said) for line in named.sentences())
    free = explorer.texts(plain, kind="labelled")
    assert free.answers.result.labels.groups is None
    assert free.to_dict()["summary"]["near_copies"]["rows"] == 40
    assert any("have a near-copy" in line for line in free.sentences())


def test_groups_that_are_not_there_are_refused(tiny_family):
    with pytest.raises(Refusal, match="“group” has 2 names for 40 rows"):
        explorer.texts(LABELLED, kind="labelled", group=["a", "b"])
    with pytest.raises(Refusal, match="There is no column “author”"):
        explorer.texts(LABELLED, kind="labelled", group="author")
    with pytest.raises(Refusal, match="are in 1 group; 5 are needed"):
        explorer.texts(LABELLED, kind="labelled", group="label")


@pytest.mark.long
def test_a_field_of_labelled_rows_keeps_none_together(tiny_family, little_training):
    rows = [row | {"subset": "ab"[i % 2]} for i, row in enumerate(LABELLED)]
    found = explorer.texts(rows, kind="labelled")
    assert found.answers.result.labels.groups is None
    assert "group" not in found.answers.texts.columns


@pytest.mark.long
def test_a_shell_takes_the_column_of_groups(tiny_family, little_training, tmp_path, capsys):
    path = tmp_path / "rows.csv"
    pandas.DataFrame(LABELLED).to_csv(path, index=False)
    assert main(["texts", str(path), "--kind", "labelled", "--group", "word"]) == 0
    assert "40 rows in 20 groups" in capsys.readouterr().out


def test_a_frame_s_empty_cell_is_no_answer(tiny_family):
    frame = pandas.DataFrame(
        {"text": ["the [MASK] sat.", "he is [MASK]."], "answer": ["cat", None]}
    )
    frame["answer"] = frame["answer"].astype(object).where(frame["answer"].notna(), float("nan"))
    rows = explorer.texts(frame.to_dict("records")).to_frame()
    assert set(rows[rows["row"] == 1]["answer"]) == {"cat"}
    assert set(rows[rows["row"] == 2]["answer"]) == {""}


def test_truth_values_are_drawn_as_one_and_zero():
    """Plotly takes a truth value for a category, the first of which has no height."""
    rows = [("bert", n, n % 2 == 0) for n in range(4)]
    (trace,) = sketch(Records(("model", "row", "right"), rows), LabelledTexts.SKETCH).data
    assert {*map(type, trace.y)} == {int}
    assert [*trace.y] == [1, 0, 1, 0]


def test_a_list_of_any_letters_has_its_bytes_and_lines(tiny_family):
    """Escaped, a letter of two bytes takes six: rows of 0.4 MB were over the limit of 1 MB."""
    table = table_of(iter(["\u044f" * 100] * 2000))
    assert (len(table.cells), table.left_out) == (2000, ())
    odd = "one\u2028line\u2029of\x85four"
    assert table_of([odd]).cells == ((odd,),)


@pytest.mark.long
def test_of_a_long_list_no_more_is_read_than_the_limit(tmp_path, monkeypatch):
    read = []
    table = table_of(read.append(n) or f"row {n} {'a' * 1000}" for n in range(5_000))
    assert sum(len(row[0]) for row in table.cells) <= MAX_BYTES
    assert len(read) < 1_100
    assert "1 MB" in table.left_out[-1].reason
    path = tmp_path / "large.txt"
    path.write_text("One row.\n" * 300_000)
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("it is read to its end"))
    assert table_of(path).n_rows == pytest.approx(MAX_BYTES // 9, abs=1)


def test_a_shell_prints_what_the_list_says_above_the_rows(tiny_family, file, capsys):
    assert main(["texts", str(file)]) == 0
    printed = capsys.readouterr().out
    said = explorer.texts(file).sentences()
    assert len(said) == 2
    assert printed.startswith("\n".join(said))
    assert explorer.predict("the [MASK] sat.", "mini", 1).sentences() == ()


def test_a_shell_writes_every_row_and_on_request_no_formula(tiny_family, file, tmp_path, capsys):
    out = tmp_path / "out.csv"
    assert main(["texts", str(file), "--kind", "masked", "--out", str(out)]) == 0
    rows = list(csv.DictReader(out.open(encoding="utf-8")))
    assert [row["row"] for row in rows] == ["1", "1", "1", "2", "2", "2", "3", "3", "3"]
    assert rows[3]["text"] == "=the [MASK] is good."
    assert float(rows[0]["probability"]) == explorer.texts(file).rows()[0][6]
    asked = ["texts", str(file), "--kind", "masked", "--csv-for-spreadsheets", str(out)]
    assert main(asked) == 0
    assert list(csv.DictReader(out.open(encoding="utf-8")))[3]["text"] == "'=the [MASK] is good."


def test_a_whole_number_stays_one_beside_an_empty_cell(tiny_family, tmp_path, capsys):
    path, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    path.write_text("text,answer\nthe [MASK] sat.,cat\nhe is [MASK].,\n", "utf-8")
    assert main(["texts", str(path), "--kind", "masked", "--csv", str(out)]) == 0
    ranks = [row["answer_rank"] for row in csv.DictReader(out.open(encoding="utf-8"))]
    assert all(rank.isdigit() for rank in ranks[:3])
    assert ranks[3:] == [""] * 3
    printed = capsys.readouterr().out
    assert "nan" not in printed
    assert all(f" {rank} " in printed for rank in ranks[:3])


def test_standard_input_is_one_list(tiny_family, monkeypatch, capsys):
    typed = io.BytesIO(b"the cat sat.\n\nhe is good.\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(typed))
    assert main(["texts", "-", "--csv", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["row"] for row in rows] == ["1"] * 3 + ["2"] * 3


@pytest.fixture
def ctrl_c(monkeypatch):
    """Raise KeyboardInterrupt in the third block of one row."""
    monkeypatch.setattr(batches, "BLOCK_ROWS", 1)
    monkeypatch.setattr(batches, "BLOCK_SENTENCES", 1)
    own, calls = batches.gather, iter(range(100))

    def gather(jobs):
        if next(calls) == 3:
            raise KeyboardInterrupt
        return own(jobs)

    monkeypatch.setattr(batches, "gather", gather)


def test_ctrl_c_keeps_the_rows_that_are_done(tiny_family, file, ctrl_c):
    with pytest.raises(Interrupted) as stopped:
        explorer.texts(file)
    assert not stopped.value.result.done
    assert len(stopped.value.result.rows()) == 2 * 3


OF_EACH_KIND = {
    "masked": [{"text": "the [MASK] sat.", "answer": "cat"}] * 4,
    "plain": ["the cat sat.", "he is good.", "it is bad.", "the dog sat."],
    "pairs": [{"good": "the cat sat.", "bad": "the cat sit."}] * 4,
    "labelled": LABELLED,
    "scored": [{"text": f"the cat sat on mat {i}.", "score": i / 2} for i in range(45)],
}


def check_part(result, kind):
    """A list that ended after two rows has these; of labelled ones no prediction is made."""
    answer = result.to_dict()
    assert (answer["kind"], answer["done"], answer["n_rows"]) == (kind, False, 2)
    assert [row["model"] for row in answer["rows"]] == ["bert", "distilbert", "albert"] * 2
    value = {"masked": "probability", "plain": "pll", "pairs": "margin"}.get(kind, "predicted")
    is_there = [row[value] is not None for row in answer["rows"]]
    assert is_there == [value != "predicted"] * 6
    assert len(result.to_frame()) == 6
    assert result.figure() is not None
    assert ("No row has a prediction yet" in result.sentences()[0]) == (value == "predicted")


@pytest.mark.parametrize("kind", OF_EACH_KIND)
def test_ctrl_c_keeps_the_rows_of_every_kind(tiny_family, ctrl_c, kind):
    with pytest.raises(Interrupted) as stopped:
        explorer.texts(OF_EACH_KIND[kind], kind=kind)
    check_part(stopped.value.result, kind)


@pytest.mark.parametrize("kind", OF_EACH_KIND)
def test_a_deadline_keeps_the_rows_of_every_kind(tiny_family, monkeypatch, kind):
    monkeypatch.setattr(batches, "BLOCK_ROWS", 1)
    monkeypatch.setattr(batches, "BLOCK_SENTENCES", 1)
    own, cancel, calls = batches.gather, CancelToken(), iter(range(100))

    def gather(jobs):
        if next(calls) == 3:
            raise Cancelled("deadline")
        return own(jobs)

    monkeypatch.setattr(batches, "gather", gather)
    table = table_of(OF_EACH_KIND[kind])
    check_part(answered(table, "mini", (kind, {}, TextsOptions()), cancel), kind)


def test_ctrl_c_in_the_training_keeps_all_rows(tiny_family, little_training, monkeypatch):
    def interrupted(*_, **_how):
        raise KeyboardInterrupt

    monkeypatch.setattr(results, "judged", interrupted)
    with pytest.raises(Interrupted) as stopped:
        explorer.texts(LABELLED, kind="labelled")
    assert not stopped.value.result.done
    assert [row.label for row in stopped.value.result.answers.texts.rows] == ["x", "y"] * 20


def test_a_shell_prints_labelled_rows_after_ctrl_c(tiny_family, ctrl_c, tmp_path, capsys):
    path = tmp_path / "rows.csv"
    pandas.DataFrame(LABELLED).to_csv(path, index=False)
    assert main(["texts", str(path), "--kind", "labelled", "--csv", "-"]) == INTERRUPTED
    printed = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    assert [(row["label"], row["predicted"]) for row in rows] == [("x", "")] * 3 + [("y", "")] * 3
    assert "Interrupted: the 2 rows" in printed.err


def test_a_shell_prints_what_is_done_after_ctrl_c(tiny_family, file, ctrl_c, capsys):
    assert main(["texts", str(file), "--csv", "-"]) == INTERRUPTED
    printed = capsys.readouterr()
    assert len(list(csv.DictReader(io.StringIO(printed.out)))) == 2 * 3
    assert "Interrupted: the 2 rows" in printed.err


@pytest.mark.parametrize("name", ["A text " * 60, "a\x00b", "The cat sat on the [MASK]."])
def test_a_text_alone_is_no_list(name):
    with pytest.raises(Refusal, match="is not there or cannot be read"):
        explorer.texts(name)


def test_a_column_has_the_role_that_it_is_given_by_its_name_or_number(tiny_family, tmp_path):
    path = tmp_path / "moods.csv"
    path.write_text("note,other\nthe first long note here,he is good.\nthe second one,it is bad.\n")
    assert explorer.texts(path).answers.texts.rows[0].text == "the first long note here"
    for column in ("other", 2):
        result = explorer.texts(path, columns={"text": column})
        assert [row.text for row in result.answers.texts.rows] == ["he is good.", "it is bad."]
        assert result.read_as == "2 sentences: “other” is the text. Not used: “note”."
        assert result.to_dict()["read_as"] == result.read_as
    with pytest.raises(Refusal, match="no column “3” here"):
        explorer.texts(path, columns={"text": 3})
    with pytest.raises(Refusal, match="“columns” must be a mapping"):
        explorer.texts(path, columns=["text"])


def test_the_shell_says_how_a_list_was_read_and_takes_columns(tiny_family, tmp_path, capsys):
    path = tmp_path / "moods.csv"
    path.write_text("note,other\nthe first long note here,he is good.\nthe second one,it is bad.\n")
    assert main(["texts", str(path), "--text", "other", "--csv", "-"]) == 0
    out, said = capsys.readouterr()
    assert "2 sentences: “other” is the text. Not used: “note”." in said
    assert {row["text"] for row in csv.DictReader(io.StringIO(out))} == {
        "he is good.",
        "it is bad.",
    }


def test_a_parquet_file_is_read_and_an_excel_file_says_what_it_needs(tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install pyarrow")
    frame = pandas.DataFrame(
        {
            "text": ["It is [MASK].", "He is [MASK]."],
            "answer": ["good", None],
            "tags": [["a"], ["b"]],
        }
    )
    frame.to_parquet(tmp_path / "rows.parquet")
    table = table_of(tmp_path / "rows.parquet")
    assert table.cells == (("It is [MASK].", "good", "a"), ("He is [MASK].", "", "b"))
    (tmp_path / "rows.xlsx").write_bytes(b"no workbook")
    with pytest.raises(Refusal, match=r"needs openpyxl|cannot be read"):
        table_of(tmp_path / "rows.xlsx")
