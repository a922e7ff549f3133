"""Proposed changes: one word is another, and the words are no others than the lists have."""

import pytest

from explorer.analysis.depth.patching import KINDS, PAIRS, one_changes
from explorer.models.tokens import split_words

TEXTS = {
    "The dog was not old when she [MASK].": {"number", "gender", "negation"},
    "In Paris a KING lived with his [MASK].": {"number", "gender", "negation", "name"},
    "漢字 [MASK] مرحبا": set(),
    "[MASK]": set(),
    "the [SEP] the [MASK]": {"negation"},
}


@pytest.mark.parametrize("text", TEXTS)
def test_exactly_one_word_is_another(text):
    found = list(one_changes(text))
    assert {change.kind for change in found} == TEXTS[text]
    words = [word.text for word in split_words(text)]
    for change in found:
        others = [word.text for word in split_words(change.text)]
        different = [(a, b) for a, b in zip(words, others, strict=True) if a != b]
        assert different == [(change.original, change.replacement)]
        assert change.original[0].isupper() == change.replacement[0].isupper()


def test_the_kinds_come_in_their_order_and_a_choice_is_a_mask():
    found = [change.kind for change in one_changes("He was in London [he|she].")]
    assert found == sorted(found, key=KINDS.index)
    assert {change.original for change in one_changes("He was [he|she].")} == {"He", "was"}


def test_no_word_is_proposed_for_itself():
    for lines in PAIRS.values():
        for line in lines.split(","):
            words = line.split()
            assert len(set(words)) == len(words) > 1, line
