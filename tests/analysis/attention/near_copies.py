"""Near-copies of heads by scipy: divergences, a maximum matching, and shuffled heads."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.spatial.distance import jensenshannon

from explorer.analysis.attention import KEPT_JS


def apart(teacher, student, rows):
    """Jensen-Shannon by scipy, [teacher's head, student's head], averaged over the rows."""
    one, other = (heads.reshape(-1, *heads.shape[-2:])[:, rows] for heads in (teacher, student))
    return np.array([(jensenshannon(head[None], other, axis=-1) ** 2).mean(-1) for head in one])


def n_pairs(js):
    """The size of a maximum matching, by the algorithm of Hopcroft and Karp."""
    return int((maximum_bipartite_matching(csr_array(js <= KEPT_JS)) >= 0).sum())


def shuffled(student, content, rng):
    """Every head with the words of the text, [CLS] and [SEP] excepted, in an order of its own."""
    out = student.copy()
    for layer, head in np.ndindex(student.shape[:2]):
        order = np.arange(student.shape[-1])
        order[list(content)] = rng.permutation(content)
        out[layer, head] = student[layer, head][order][:, order]
    return out
