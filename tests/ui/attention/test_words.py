"""The attention tab's finding, from numbers that were made up for it."""

import re

import numpy as np

from explorer.analysis.attention.heads import KINDS, HeadStatistics
from explorer.ui.attention.words import attention_finding


def statistics(kinds, shares):
    """One layer of heads with these kinds, all with these shares of the five places."""
    n = len(kinds)
    kind = np.array([[KINDS.index(kind) for kind in kinds]])
    return HeadStatistics(np.zeros((1, n)), np.zeros((1, n)), np.tile(shares, (1, n, 1)), kind)


def test_the_finding_counts_added_tokens_and_neighbours():
    found = {
        "bert": statistics(["previous", "next", "self", "broad"], [0.1, 0.1, 0.1, 0.3, 0.17]),
        "albert": statistics(["cls", "sep", "mixed"], [0.4, 0.2, 0.1, 0.05, 0.06]),
    }
    said = re.sub(
        "<[^>]*>", "", str(attention_finding(found, {"bert": "BERT", "albert": "ALBERT"}))
    )
    assert "47% in BERT and 11% in ALBERT of its attention on [CLS] and [SEP]" in said
    assert "2 of 4 and 0 of 3 heads watch a neighbouring word" in said
