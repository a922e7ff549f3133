"""Columns and kinds of lists, and the rows that are left out."""

import re

import pytest

from explorer.lists import rows
from explorer.lists.forms import NOT_IN_FORM
from explorer.lists.json_rows import NOT_JSON
from explorer.lists.read import EXTRA_CELLS, OPEN_QUOTE, TOO_LARGE, read_table
from explorer.lists.roles import BadRows
from explorer.lists.rows import KINDS, text_list
from explorer.lists.sentences import NO_PIECE
from explorer.refusal import remedy_for


def listed(content, **how):
    return text_list(read_table(content, "a.csv" if "," in content else ""), **how)


@pytest.mark.parametrize(
    ("content", "kind", "columns"),
    [
        ("The cat sat.\nThe dog ran.", "plain", {"text"}),
        ("The [MASK] sat.\nThe <mask> ran.", "masked", {"text"}),
        ("text,answer\nThe [MASK] sat.,cat\nThe [MASK] ran.,dog", "masked", {"text", "answer"}),
        ("good,bad,field\nHe is.,He are.,verb", "pairs", {"good", "bad", "group"}),
        ("sentence1,sentence2\nHe is.,He are.", "pairs", {"good", "bad"}),
        (
            "sentence1,sentence2,label\nHe is.,He are.,0\nA.,B.,1",
            "labelled",
            {"text", "second", "label"},
        ),
        ("review,sentiment\nNice.,pos\nBad.,neg", "labelled", {"text", "label"}),
        ("text,label\nNice.,pos\nBad.,pos", "labelled", {"text", "label"}),
        ("text,label\nNice.,a\nBad.,", "labelled", {"text", "label"}),
        ("text,label\nNice.,\nBad.,", "plain", {"text"}),
        (
            "text,topic\n" + "".join(f"Nice {i}.,about {i}\n" for i in range(50)),
            "plain",
            {"text"},
        ),
    ],
)
def test_the_kind_follows_from_the_columns(content, kind, columns):
    texts = listed(content)
    assert texts.kind == kind
    assert set(texts.columns) == columns


def test_kind_and_columns_can_be_changed():
    content = "text,note,label\nOne.,First thing.,a\nTwo.,Second thing.,b"
    assert listed(content, kind="plain").kind == "plain"
    assert [row.text for row in listed(content, columns={"text": "note"}).rows] == [
        "First thing.",
        "Second thing.",
    ]
    assert listed(content, columns={"label": ""}).kind == "plain"
    for wrong in ({"text": "nowhere"}, {"title": "note"}):
        with pytest.raises(BadRows, match=r"no column “nowhere”|no role"):
            listed(content, columns=wrong)
    with pytest.raises(BadRows, match=", ".join(KINDS)):
        listed(content, kind="other")
    with pytest.raises(BadRows, match="Pairs need two columns"):
        listed(content, kind="pairs")


def test_a_pair_with_a_label_is_one_text_of_two_sentences():
    texts = listed("sentence1,sentence2,label\nHe is.,He are.,0\nA.,B.,1")
    assert texts.rows[0].text == "He is. [SEP] He are."


def test_rows_that_the_kind_cannot_read_are_reported():
    texts = listed(
        "text,answer\nThe [MASK] sat.,cat\nNo mask.,x\n[MASK] and [MASK].,y\n,z\nA [MASK].,b"
    )
    assert [row.number for row in texts.rows] == [1, 5]
    reasons = {row.number: row.reason for row in texts.left_out}
    assert reasons == {
        2: "It has 0 masks; exactly one is read.",
        3: "It has 2 masks; exactly one is read.",
        4: "It has no text.",
    }


def test_rows_over_the_limit_are_reported_by_number():
    lines = [f"Row {i}." for i in range(1, 2_002)]
    texts = listed("\n".join(lines))
    assert len(texts.rows) == 2_000
    (row,) = texts.left_out
    assert (row.number, row.reason) == (2_001, "It is over the limit of 2,000 rows.")
    (row,) = listed("\n".join([*lines, "a", "b"])).left_out
    assert row.reason == "It and all rows after it, 3 together, are over the limit of 2,000 rows."


def test_no_row_left_says_the_first_reason():
    with pytest.raises(BadRows, match=r"no rows to read. Row 1: It has 0 masks"):
        listed("One.\nTwo.", kind="masked")


@pytest.mark.parametrize(
    "reason",
    [
        *(rows.EMPTY, rows.EMPTY_SIDE, rows.NO_LABEL, rows.NO_SCORE, rows.NOT_A_NUMBER),
        *(rows.NOT_ONE_MASK, rows.GAP, rows.CHOICES, rows.NOT_A_CELL, rows.TOO_MANY, rows.LAST_ONE),
        *(TOO_LARGE, OPEN_QUOTE, EXTRA_CELLS, NOT_JSON, NOT_IN_FORM, NO_PIECE),
    ],
)
def test_every_reason_for_which_a_row_is_left_out_has_its_remedy(reason):
    assert remedy_for(re.sub("{[a-z_]+}", "7", reason))
