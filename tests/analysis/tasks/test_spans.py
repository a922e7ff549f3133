"""The spans that may be answers: in order, and not too long."""

import numpy as np
import pytest

from explorer.analysis.tasks.tuned import LONGEST, answer_spans
from explorer.models.task_heads.windows import Window
from explorer.refusal import Refusal

N = LONGEST + 4


def best(start, end):
    """The best span of a passage of one-letter tokens, where the head points at these two."""
    places = tuple((2 * i, 2 * i + 1) for i in range(N))
    logits = np.zeros((N, 2))
    logits[start, 0] = logits[end, 1] = 9.0
    found = answer_spans([Window((1,) * N, (0,) * N, places)], [logits], 1).best[0]
    return found.start // 2, found.end // 2


def test_an_answer_has_at_most_so_many_tokens():
    assert best(1, LONGEST) == (1, LONGEST)
    first, last = best(1, LONGEST + 1)
    assert last - first < LONGEST
    assert (first, last) != (1, LONGEST + 1)


def test_an_answer_does_not_end_before_it_begins():
    first, last = best(7, 3)
    assert last >= first


def test_a_stretch_of_characters_is_offered_once_by_its_likeliest_tokens():
    """Three tokens of one place, as where a vocabulary writes ½ as 1, ⁄ and 2; one of no width."""
    places = ((0, 3), (4, 5), (4, 5), (4, 5), (6, 6), (6, 9))
    logits = np.array([[0, 0], [5, 0], [4, 3], [0, 5], [2, 9], [0, 1.0]])
    found = answer_spans([Window((1,) * 6, (0,) * 6, places)], [logits], 20)
    start, end = (np.exp(side) / np.exp(side).sum() for side in logits.T)
    assert np.allclose(found.start, start)
    assert np.allclose(found.end, end)
    spans = [(span.start, span.end) for span in found.best]
    assert len(set(spans)) == len(spans)
    assert all(first < last for first, last in spans)
    scores = {(s.start, s.end): s.score for s in found.best}
    assert np.isclose(scores[4, 5], start[1] * end[3])
    assert np.isclose(scores[6, 9], start[4] * end[5])


def test_a_passage_of_which_nothing_can_be_read_is_refused():
    with pytest.raises(Refusal, match="No word"):
        answer_spans([Window((1,), (0,), ((3, 3),))], [np.zeros((1, 2))])
