"""The rows of a pair's bars: each model with a head for pairs, in the three orders."""

import numpy as np

from explorer.analysis.tasks.pairs import SentencePair, pair_orders
from explorer.models.specs import MINI
from explorer.views.tasks import PairColumn, pair_orders_records

PAIR = SentencePair("It rained.", "She stayed in.", "The price fell.")
LOGITS = np.array([[2.0, -1.0], [0.0, 0.0], [-1.0, 3.0]])


def test_a_model_without_a_head_for_pairs_has_no_rows():
    columns = [
        PairColumn(MINI["bert"], pair_orders(LOGITS), ""),
        PairColumn(MINI["distilbert"], None, "has no such head"),
    ]
    records = pair_orders_records(PAIR, columns)
    label, in_order = MINI["bert"].label, np.exp(LOGITS)[:, 0] / np.exp(LOGITS).sum(1)
    texts = (
        "It rained. [SEP] She stayed in.",
        "She stayed in. [SEP] It rained.",
        "It rained. [SEP] The price fell.",
    )
    assert [row[:3] for row in records.rows] == [
        [label, order, text]
        for order, text in zip(("written", "swapped", "elsewhere"), texts, strict=True)
    ]
    np.testing.assert_allclose([row[3] for row in records.rows], in_order)
    assert records.constants["ASKED"] == [label]
