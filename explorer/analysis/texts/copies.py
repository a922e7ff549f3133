"""Rows of a list that are nearly alike, so that one in training gives away another in the test."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.texts.labelled import Labels, folds
from explorer.models.tokens import SEPARATOR

ALIKE = 0.5
"""Two rows are near-copies if they share at least this part of the words that either has."""
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class NearCopies:
    """Rows that have a near-copy among the rows which they are judged by training on."""

    n: int
    n_other_label: int
    """The number of these rows that have one with another label."""


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, signs left out; the text itself without any."""
    return frozenset(WORD.findall(text.replace(SEPARATOR, " ").lower()) or [text.strip()])


def near_copies(texts: Sequence[str], labels: Labels) -> NearCopies:
    """Count the rows with a near-copy in another fold, whose regression has therefore seen it.

    Near-copies share half or more of the different words that either has (Jaccard 1901), whatever
    their order, case and signs. Rows of one group are in one fold.

    Args:
        texts: The rows.
        labels: Their labels and groups.
    """
    from scipy.sparse import csr_array

    words: dict[str, int] = {}
    rows = [[words.setdefault(word, len(words)) for word in words_of(text)] for text in texts]
    sizes = np.array([len(row) for row in rows])
    ends = np.concatenate([[0], np.cumsum(sizes)])
    ones = np.ones(ends[-1], np.int64)
    occurs = csr_array((ones, np.concatenate(rows), ends), shape=(len(rows), len(words)))
    shared = (occurs @ occurs.T).tocoo()
    fold = np.empty(len(rows), np.int64)
    for place, (_, test) in enumerate(folds(labels)):
        fold[test] = place
    row, other = shared.coords
    either = sizes[row] + sizes[other] - shared.data
    is_copy = (shared.data >= ALIKE * either) & (fold[row] != fold[other])
    is_other = is_copy & (labels.truth[row] != labels.truth[other])
    return NearCopies(len(np.unique(row[is_copy])), len(np.unique(row[is_other])))
