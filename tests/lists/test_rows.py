"""Columns and kinds of lists, and the rows that are left out."""

import json

import pytest

from explorer.lists import rows
from explorer.lists.forms import NOT_IN_FORM
from explorer.lists.json_rows import NOT_JSON
from explorer.lists.read import EXTRA_CELLS, OPEN_QUOTE, TOO_LARGE, read_table
from explorer.lists.roles import BadRows
from explorer.lists.rows import KINDS, text_list
from explorer.lists.sentences import NO_PIECE
from explorer.refusal import remedies


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
        *(rows.NOT_ONE_MASK, rows.GAP, rows.IS_TEMPLATE, rows.CHOICES, rows.NOT_A_CELL),
        *(rows.TOO_MANY, rows.LAST_ONE),
        *(TOO_LARGE, OPEN_QUOTE, EXTRA_CELLS, NOT_JSON, NOT_IN_FORM, NO_PIECE),
    ],
)
def test_every_reason_for_which_a_row_is_left_out_has_its_remedy(reason):
    assert reason.code in remedies()


@pytest.mark.parametrize(
    "content",
    [
        "".join(f"{number} goats slept on roof {number}.\n" for number in range(1, 9)),
        "".join(f"She came; he {verb};too\n" for verb in ("left", "sang", "slept", "ate")),
        "Well,I know.\nNo,he sang.\nSo,it rained.\nYes,she left.\n",
        "He came late;again\nShe sang well;again\n",
        "1. A cat sat.\nIn 2. place was a dog.\nNo cat sat.\n",
        "Well ... it rained.\nShe sang.\nHe left.\n",
        "[X] is what he wrote.\nShe paid $AAPL, not cash.\n",
    ],
)
def test_texts_that_are_only_like_a_form_are_texts(content):
    assert {row.label for row in text_list(read_table(content)).rows} == {""}


@pytest.mark.parametrize(
    ("content", "kind", "columns"),
    [
        (
            "text,is_new,is_old,is_red\n" + "A cat sat.,1,0,1\nA dog ran.,0,1,0\n" * 2,
            "labelled",
            {"text": "text", "label": "is_new"},
        ),
        (
            "text,cat,dog,bird\n" + "A cat sat.,1,0,0\nA dog ran.,0,1,0\n" * 2,
            "labelled",
            {"text": "text", "label": "labels"},
        ),
        (
            "comment,author\n" + 'It was good.,"Ann Lee, of the London Press Office"\n' * 2,
            "plain",
            {"text": "comment"},
        ),
        (
            "text,cat,dog,bird\n" + "A cat sat.,1,,\nA dog ran.,,1,\n" * 2,
            "plain",
            {"text": "text"},
        ),
        (
            "id,question,answers\n" + "1,Who sang here?,\"['he', 'she']\"\n" * 4,
            "plain",
            {"text": "question"},
        ),
        (
            "".join(
                f"What is in box {n}?,an egg,a hen,two hats,{'ABC'[n % 3]}\n" for n in range(9)
            ),
            "labelled",
            {"text": "column 1", "label": "column 5"},
        ),
        (
            "question,answer\nWho sang here?,The old choir.\nWho slept there?,Two goats.\n",
            "plain",
            {"text": "question"},
        ),
    ],
)
def test_columns_are_one_thing_together_only_where_their_cells_say_so(content, kind, columns):
    """Facts, one label a row, sparse marks, questions with answers, and columns by number."""
    texts = text_list(read_table(content, "a.csv"))
    assert (texts.kind, dict(texts.columns)) == (kind, columns)


def test_two_choices_are_not_compared_where_no_row_says_how_they_are_counted():
    content = "premise,choice1,choice2,label\n" + "He fell.,It was icy.,He sang.,1\n" * 2
    with pytest.raises(BadRows, match="offers 2 choices"):
        text_list(read_table(content, "a.csv"))


def test_a_list_that_offers_more_choices_is_read_as_its_columns_are_chosen():
    rows = [{"ctx": "He sat.", "label": n % 3, "endings": ["a b", "c d", "e f"]} for n in range(4)]
    table = read_table(json.dumps(rows), "a.json")
    with pytest.raises(BadRows, match="offers 3 choices"):
        text_list(table)
    assert text_list(table, columns={"label": "", "text": "ctx"}).kind == "plain"
