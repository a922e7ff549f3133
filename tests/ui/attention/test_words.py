"""The attention tab's finding, from numbers that were made up for it."""

import numpy as np

from explorer.analysis.alignment import AlignedWord, Alignment
from explorer.analysis.attention import row_shares
from explorer.ui.attention.strings import summary_finding
from tests.markup import plain

WORDS = Alignment(
    (
        AlignedWord("[CLS]", 0, 0, special=True),
        AlignedWord("dogs", 0, 4),
        AlignedWord("eat", 5, 8),
        AlignedWord("[MASK]", 9, 15),
        AlignedWord(".", 15, 16),
        AlignedWord("[SEP]", 0, 0, special=True),
    ),
    {},
)


def said_of(row):
    matrix = np.tile(np.array(row, float), (6, 1))
    found = summary_finding({"bert": row_shares(matrix, WORDS)}, {"bert": "BERT"}, "rollout")
    return plain(found)


def test_a_summary_says_what_it_leaves_out_before_it_names_a_word():
    said = said_of([0.68, 0.02, 0.03, 0.1, 0.05, 0.12])
    assert "95% comes from [CLS], [SEP], punctuation and itself, then most from eat (3%)" in said
    assert "for [MASK]: in BERT" in said


def test_a_tie_names_no_word():
    said = said_of([0.68, 0.0302, 0.0298, 0.1, 0.04, 0.12])
    assert "94% comes from [CLS], [SEP], punctuation and itself" in said
    assert "eat" not in said
    assert "dogs" not in said


def test_a_summary_whose_cells_sum_to_one_in_all_gives_shares_of_the_row():
    assert said_of([0.068, 0.002, 0.003, 0.01, 0.005, 0.012]) == said_of(
        [0.68, 0.02, 0.03, 0.1, 0.05, 0.12]
    )
    assert "attends to no other word in any model" in said_of([0.0] * 6)


def test_alone_between_the_added_tokens_a_word_has_no_other_to_draw_on():
    alone = Alignment((WORDS.words[0], WORDS.words[3], WORDS.words[5]), {})
    found = row_shares(np.full((3, 3), 1 / 3), alone)
    assert (found.best, found.rest) == ("", ("[CLS]", "[SEP]", "itself"))
    assert abs(found.rest_share - 1) < 1e-12
    said = plain(summary_finding({"bert": found}, {"bert": "BERT"}, "rollout"))
    assert said.endswith("in BERT, 100% comes from [CLS], [SEP] and itself.")


def test_of_one_other_word_it_is_not_said_that_it_is_no_more_than_the_next():
    two = Alignment((*WORDS.words[:2], *WORDS.words[3:]), {})
    none = summary_finding(
        {"bert": row_shares(np.tile([0.5, 0.0, 0.5, 0, 0], (5, 1)), two)}, {"bert": "BERT"}, "mean"
    )
    assert "stands out" not in str(none)
    assert "no other word stands out" in said_of([0.68, 0.0302, 0.0298, 0.1, 0.04, 0.12])
