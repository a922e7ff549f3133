import numpy as np
import pytest

from explorer.analysis.predictions import SpanScore, contrast
from explorer.models.tokens import Word
from tests.markup import plain


def score(p, word="w"):
    return SpanScore(Word(word, 0, 1), (word,), float(np.log(p)), 1, ())


def test_shares_are_probabilities_divided_by_their_sum():
    found = contrast("bert", "BERT", [score(0.3), score(0.1)])
    assert found.shares == pytest.approx([0.75, 0.25])
    assert found.preferred == 0


def test_two_hopeless_words_still_compare():
    found = contrast(
        "bert",
        "BERT",
        [
            SpanScore(Word("a", 0, 1), ("a",), -900.0, 9, ()),
            SpanScore(Word("b", 0, 1), ("b",), -899.0, 8, ()),
        ],
    )
    assert found.shares == pytest.approx([1 / (1 + np.e), np.e / (1 + np.e)])
    assert found.shares.sum() == pytest.approx(1)
    assert found.preferred == 1


def test_alternatives_of_different_numbers_of_masks_are_not_ranked():

    from explorer.analysis.predictions import SpanScore
    from explorer.models.tokens import Word
    from explorer.ui.predictions.strings import ASK_TABLE, CONTRAST, asked_equals, contrast_finding
    from explorer.views.predictions import contrast_html, word_score_table

    def score(text, pieces, p):
        return SpanScore(
            Word(text, 0, len(text)),
            tuple(pieces),
            float(np.log(p)),
            1 if len(pieces) == 1 else None,
            (),
        )

    nurse, clerk = score("nurse", ["nurse"], 0.1), score("clerk", ["clerk"], 0.2)
    long = score("photographer", ["photo", "##graph", "##er"], 0.001)
    mixed = contrast("bert", "BERT", [nurse, clerk, long])
    said = plain(contrast_finding([mixed]))
    assert "prefer" not in said
    assert "photographer needs 3 masks" in said
    assert "likeliest is clerk among those of 1 mask" in said
    assert "not ranked" in contrast_finding([contrast("bert", "BERT", [nurse, long])])
    html = contrast_html([mixed], CONTRAST)
    assert "photo + ##graph + ##er, 3 masks" in html
    assert mixed.shares[:2] == pytest.approx([1 / 3, 2 / 3])
    assert np.isnan(mixed.shares[2])
    assert "<strong>–</strong>" in html
    equals = plain(asked_equals(mixed, 1, 2))
    assert (
        equals
        == "BERT at mask 2, relative probability, 1-token words only: clerk 0.667 and nurse 0.333"
    )
    unknown = contrast("bert", "BERT", [nurse, score("☃", ["[UNK]"], 0.9), clerk])
    assert "prefers <em" in contrast_finding([unknown])
    assert "clerk" in contrast_finding([unknown])
    assert np.isnan(unknown.shares[1])
    lone = contrast("bert", "BERT", [nurse, score("☃", ["[UNK]"], 0.9)])
    assert "“☃”</em> is not in its vocabulary, so they are not ranked" in contrast_finding([lone])
    assert asked_equals(lone, 0, 1) is None
    assert " preferred" not in html
    same = contrast("bert", "BERT", [nurse, clerk])
    assert "prefers <em" in contrast_finding([same])
    assert " preferred" in contrast_html([same], CONTRAST)
    table = word_score_table(
        [("photographer", {"bert": long})], {"bert": "BERT"}, {"bert": 9}, ASK_TABLE
    )
    assert "3 masks: photo + ##graph + ##er" in table
    assert "rank" not in table.replace("pr-rank", "")


def test_asked_words_are_saved_with_their_gaps_counted_from_one():
    from explorer.views.predictions import word_score_records

    refused = {"bert": ["It cannot.", "It cannot."]}
    saved = word_score_records([("cat", 0), ("dog", 1)], refused, {"bert": "BERT"}, {"bert": 9}, [])
    assert [row[:3] for row in saved.rows] == [["cat", 1, "BERT"], ["dog", 2, "BERT"]]
