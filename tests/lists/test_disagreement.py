"""Rows by disagreement: the order is that of the distances, and what is right agrees with counts."""

import numpy as np
import pytest

from explorer.lists.disagreement import by_disagreement, distances, has_truth, per_word, right_of
from tests.lists.test_batches import MASKED, SENTENCES, csv_of
from tests.lists.test_run import finished


def test_masked_rows_stand_by_divergence(tiny_family):
    result = finished(csv_of([*MASKED[:6], ("the [MASK] sat.", "")], "text,answer"))
    apart = distances(result)
    assert (np.diff(apart[by_disagreement(result)]) <= 0).all()
    assert has_truth(result).tolist() == [True] * 6 + [False]
    for key, right in right_of(result).items():
        assert right.sum() == result.summary.at_1[key].hits
    last = [row for row in by_disagreement(result) if row < 6][-1]
    words = result.answers["bert"].words
    answers = [words[row] if row == last else "" for row in range(6)]
    rows = [(text, answer) for (text, _), answer in zip(MASKED, answers, strict=False)]
    disputed = finished(csv_of(rows, "text,answer"))
    assert len({bool(right[last]) for right in right_of(disputed).values()}) == 2
    assert (np.diff(distances(disputed)[by_disagreement(disputed)]) <= 0).all()


def test_sentences_stand_by_what_the_lists_own_mean_does_not_explain(tiny_family):
    result = finished("\n".join(SENTENCES[:5]))
    values = np.array([values - values.mean() for values in per_word(result).values()])
    assert distances(result) == pytest.approx(values.max(0) - values.min(0))
    assert right_of(result) == {}
    assert not has_truth(result).any()


def test_disputed_pairs_stand_first(tiny_family):
    pairs = [tuple(SENTENCES[i : i + 2]) for i in range(0, 12, 2)]
    result = finished(csv_of(pairs, "good,bad"))
    order = by_disagreement(result).tolist()
    disputed = set(result.summary.disputed)
    assert set(order[: len(disputed)]) == disputed
    assert sorted(order) == list(range(len(pairs)))
