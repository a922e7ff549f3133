"""Near-copies of rows on both sides of a split, against every two rows compared by hand."""

import re

import numpy as np
import pytest

from explorer.assets import text_lists
from explorer.lists.judge import NearCopies, near_copies
from explorer.lists.labelled import Labels, folds
from explorer.lists.read import read_table
from explorer.lists.rows import text_list


def of(truth, groups=None):
    return Labels(tuple("abc"), np.asarray(truth), groups)


def by_hand(texts, labels):
    words = [set(re.findall(r"\w+", text.lower())) for text in texts]
    fold = {row: place for place, (_, test) in enumerate(folds(labels)) for row in test}
    found, other = set(), set()
    for i, first in enumerate(words):
        for j, second in enumerate(words):
            if fold[i] != fold[j] and len(first & second) >= 0.5 * len(first | second):
                found.add(i)
                if labels.truth[i] != labels.truth[j]:
                    other.add(i)
    return NearCopies(len(found), len(other))


@pytest.mark.parametrize("seed", range(4))
def test_they_are_those_of_every_two_rows_compared(seed):
    generator = np.random.default_rng(seed)
    texts = [
        " ".join(generator.choice(list("abcdefgh"), generator.integers(1, 7))) for _ in range(60)
    ]
    truth = np.arange(60) % 3
    for groups in (None, np.arange(60) // 2):
        labels = of(truth, groups)
        assert near_copies(texts, labels) == by_hand(texts, labels)


def test_case_order_and_signs_make_no_other_row():
    texts = [f"Word{i // 2} is number {i // 2}{'.' * (i % 2)}" for i in range(40)]
    texts[1::2] = [
        " ".join(reversed(text.rstrip(".").upper().split())) + "!" for text in texts[::2]
    ]
    truth = np.arange(40) // 2 % 2
    together = np.arange(40) // 2
    assert near_copies(texts, of(truth, together)).n_other_label == 0
    assert near_copies([f"{i} {i + 100} {i + 200}" for i in range(40)], of(truth)) == NearCopies(
        0, 0
    )
    assert near_copies(["?", "!"] * 20, of(truth)).n == 40
    labels = of(truth)
    assert near_copies(texts, labels) == by_hand(texts, labels)
    assert near_copies(texts, labels).n > 20


def test_the_bundled_lists_have_none_on_both_sides():
    from explorer.lists.labelled import labels_of

    for row in text_lists():
        if row["kind"] == "labelled":
            texts = text_list(read_table(row["content"], "a.csv"))
            assert near_copies([each.text for each in texts.rows], labels_of(texts)).n == 0, row[
                "name"
            ]
