"""The bundled lists: six kinds of rows, each of a source, all of them read."""

import pytest

from explorer.assets import text_lists
from explorer.lists.labelled import usable
from explorer.lists.read import read_table
from explorer.lists.rows import text_list

NAMES = ["facts", "agreement", "pronouns", "word_order", "topics", "reviews"]


def test_there_are_six_and_each_says_where_it_is_from():
    assert [row["name"] for row in text_lists()] == NAMES
    assert {row["source"] for row in text_lists()} == {"Written for this project; Apache-2.0."}


@pytest.mark.parametrize("name", NAMES)
def test_every_row_is_read_as_the_kind_that_is_said(name):
    row = next(row for row in text_lists() if row["name"] == name)
    texts = text_list(read_table(row["content"], f"{name}.csv"))
    assert texts.kind == row["kind"]
    assert 40 <= len(texts.rows) <= 200
    assert texts.left_out == ()
    assert len({(each.text, each.other) for each in texts.rows}) == len(texts.rows)
    if texts.kind == "labelled":
        assert usable(texts) == texts
        counts = [
            sum(each.label == label for each in texts.rows)
            for label in {each.label for each in texts.rows}
        ]
        assert len(set(counts)) == 1


def test_pairs_differ_in_what_they_are_about():
    for name in ("agreement", "pronouns", "word_order"):
        content = next(row["content"] for row in text_lists() if row["name"] == name)
        for row in text_list(read_table(content, "a.csv")).rows:
            good, bad = (text.lower().rstrip(".?").split() for text in (row.text, row.other))
            assert good != bad, row
            if name == "word_order":
                assert sorted(good) == sorted(bad), row
            else:
                assert sum(a != b for a, b in zip(good, bad, strict=True)) == 1, row
