"""``/texts`` for programs: every kind, its limits, and its refusals."""

import json

import pytest

from explorer.lists.views.rows import COLUMNS
from explorer.refusal import Refusal
from explorer.scheduling import cancel
from tests.endpoints import texts

ROWS = {
    "masked": [
        {"text": "the [MASK] sat.", "answer": "cat"},
        {"text": "he is [MASK].", "answer": "good"},
    ],
    "plain": ["the cat sat.", "he is good."],
    "pairs": [{"good": "he is good.", "bad": "he are good."}],
    "labelled": [
        {"text": f"the {word} sat", "label": label}
        for word, label in [("cat", "x"), ("dog", "y")] * 20
    ],
}


@pytest.mark.parametrize("kind", ROWS)
def test_every_kind_answers_in_json(tiny_family, little_training, kind):
    answer = json.loads(json.dumps(texts(ROWS[kind]), allow_nan=False))
    assert (answer["kind"], answer["done"], answer["n_rows"]) == (kind, True, len(ROWS[kind]))
    assert all(tuple(row) == COLUMNS[kind] for row in answer["rows"])
    n_classifiers = 5 if kind == "labelled" else 3
    assert len(answer["rows"]) == n_classifiers * len(ROWS[kind])


@pytest.mark.long
def test_the_column_of_groups_can_be_named(tiny_family, little_training):
    rows = [row | {"author": f"{i // 2}"} for i, row in enumerate(ROWS["labelled"])]
    assert texts(rows)["summary"]["groups"] is None
    answer = texts(rows, group="author")
    assert answer["summary"]["groups"] == 20
    assert {row["group"] for row in answer["rows"]} == {f"{i}" for i in range(20)}


def test_rows_that_are_left_out_are_said_by_number(tiny_family):
    answer = texts(["the cat sat.", "a " * 600, "he is good."])
    assert [row["row"] for row in answer["left_out"]] == [2]
    assert {row["row"] for row in answer["rows"]} == {1, 3}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([1], "list of texts"),
        ("the cat", "list of texts"),
        ([], "nothing to read"),
        (["a"] * 201, "201 rows are too many"),
    ],
)
def test_what_cannot_be_read_is_refused(rows, words):
    with pytest.raises(Refusal, match=words):
        texts(rows)


def test_when_the_time_is_over_the_rows_that_are_done_are_answered(tiny_family, monkeypatch):
    from explorer.lists import batches

    monkeypatch.setattr(batches, "BLOCK_ROWS", 1)
    checks = iter(range(1_000))

    def over(self, own=cancel.CancelToken.check):
        if next(checks) > 6:
            raise cancel.Cancelled("deadline")

    monkeypatch.setattr(cancel.CancelToken, "check", over)
    answer = texts(ROWS["masked"] * 3)
    assert not answer["done"]
    assert 0 < answer["n_rows"] < 6


def test_when_the_time_is_over_before_a_row_is_done_a_sentence_says_so(tiny_family, monkeypatch):
    def over(self):
        raise cancel.Cancelled("deadline")

    monkeypatch.setattr(cancel.CancelToken, "check", over)
    with pytest.raises(Refusal, match="before any row was done"):
        texts(ROWS["masked"])
