"""The spans that may be answers: in order, and not too long."""

import numpy as np

from explorer.analysis.tasks.spans import LONGEST, answer_spans
from explorer.models.heads.windows import Window

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
