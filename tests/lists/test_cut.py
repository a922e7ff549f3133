"""Texts over 512 tokens: left out, or cut at the same word for all models, and counted."""

import json

import numpy as np
import pytest

import explorer
from explorer.lists.cut import cut
from explorer.lists.roles import BadRows
from explorer.lists.views.rows import as_json, rows_canvas
from explorer.models.specs import MINI

LONG = " ".join(f"{('cat', 'unbelievable', 'dog,')[i % 3]}" for i in range(700))
SHORT = [
    {"text": f"the {'cat' if i % 2 else 'dog'} sat {i}.", "label": "ab"[i % 2]} for i in range(40)
]
ROWS = [{"text": f"It was {LONG} here.", "label": "a"}, *SHORT]


def sizes(family, text):
    """The tokens of a text by model, as plain tokenizers count them."""
    parts = text.split(" [SEP] ")
    return [len(family.loaded(key).tokenizer(*parts)["input_ids"]) for key in MINI]


def read_of(result):
    (row,) = (row for row in result.answers.texts.rows if row.number == 1)
    return row.read


@pytest.mark.long
def test_a_long_row_is_left_out_unless_it_is_to_be_cut(tiny_family, little_training):
    left = explorer.texts(ROWS)
    assert [row.number for row in left.answers.texts.left_out] == [1]
    assert as_json(left.answers)["summary"]["cut"] == {"rows": 0, "way": None}
    for way, part in (("head", "the beginning is"), ("head_and_tail", "the beginning and the end")):
        result = explorer.texts(ROWS, too_long=way)
        assert not result.answers.texts.left_out
        assert as_json(result.answers)["summary"]["cut"] == {"rows": 1, "way": way}
        assert any(
            f"1 of 41 rows is too long for the models: {part}" in s for s in result.sentences()
        )
        given = [row[2] for row in result.rows() if row[0] == 1]
        assert set(given) == {ROWS[0]["text"]}, "the file has the text as it was given"
        constants = json.loads(rows_canvas(result.answers, {}, {}))["constants"]
        assert constants["CUT"] == {"1": read_of(result)}


@pytest.mark.long
def test_the_beginning_is_as_many_words_as_every_model_can_read(tiny_family, little_training):
    read, words = read_of(explorer.texts(ROWS, too_long="head")), ROWS[0]["text"].split()
    n = len(read.split())
    assert read.split() == words[:n]
    assert max(sizes(tiny_family, read)) <= 512
    assert max(sizes(tiny_family, " ".join(words[: n + 1]))) > 512


@pytest.mark.long
def test_beginning_and_end_are_a_quarter_and_three_quarters(tiny_family, little_training):
    read = read_of(explorer.texts(ROWS, too_long="head_and_tail")).split()
    words = ROWS[0]["text"].split()
    fits = [n for n in range(1, 200) if max(sizes(tiny_family, " ".join(words[:n]))) - 2 <= 128]
    assert read == [*words[: fits[-1]], *words[len(words) - (len(read) - fits[-1]) :]]
    assert 500 < max(sizes(tiny_family, " ".join(read))) <= 512


@pytest.mark.long
def test_of_two_texts_the_longer_one_is_cut_first(tiny_family, little_training):
    pairs = [row | {"second": "it was here"} for row in SHORT]
    rows = [{"text": LONG, "second": "it was here", "label": "a"}, *pairs]
    first, second = read_of(explorer.texts(rows, too_long="head")).split(" [SEP] ")
    assert second == "it was here"
    assert LONG.startswith(first)
    assert max(sizes(tiny_family, f"{first} [SEP] {second}")) <= 512
    more = " ".join(LONG.split()[: len(first.split()) + 1])
    assert max(sizes(tiny_family, f"{more} [SEP] {second}")) > 512
    rows[0] = {"text": LONG, "second": LONG, "label": "a"}
    both = read_of(explorer.texts(rows, too_long="head"))
    first, second = both.split(" [SEP] ")
    assert abs(len(first.split()) - len(second.split())) <= 1
    assert max(sizes(tiny_family, both)) <= 512


def test_a_text_that_fits_is_itself():
    text = "a  b [SEP] c"
    lengths = [[np.ones(2, np.int64), np.ones(1, np.int64)]]
    assert cut(text, lengths, "head", 6) == text
    assert cut(text, lengths, "head", 5) == "a [SEP] c"


def test_a_sentence_is_never_cut(tiny_family):
    with pytest.raises(BadRows, match="would be another one") as refused:
        explorer.texts([LONG, "it was here."], too_long="head")
    assert refused.value.__notes__
    with pytest.raises(BadRows, match="too_long must be one of: leave_out, head, head_and_tail"):
        explorer.texts(SHORT, too_long="tail")
