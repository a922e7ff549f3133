"""Sentence pairs: the three orders, when a head is at chance, and the cross test beside the paper's."""

import numpy as np
import pytest
from scipy.stats import binomtest

from explorer import assets
from explorer.analysis.tasks.pairs import (
    ORDERS,
    PairAccuracy,
    cross_test,
    pair_accuracy,
    pair_orders,
    sentence_pair,
)

STRANGERS = ("The kettle was cold.", "Nobody came.", "It rained.")


def test_a_pair_is_put_in_three_orders():
    pair = sentence_pair("The kettle sang. [SEP] She made tea.", STRANGERS)
    assert [pair.text(order) for order in ORDERS] == [
        "The kettle sang. [SEP] She made tea.",
        "She made tea. [SEP] The kettle sang.",
        "The kettle sang. [SEP] Nobody came.",
    ]


@pytest.mark.parametrize(
    "text", ["", "One alone.", "Only a first. [SEP]", "[SEP] a second", "[SEP]"]
)
def test_one_sentence_is_no_pair(text):
    assert sentence_pair(text, STRANGERS) is None


def test_a_third_sentence_joins_the_second_in_every_order():
    pair = sentence_pair("a [sep] b [SEP] c", STRANGERS)
    assert all(pair.text(order).count("[SEP]") == 1 for order in ORDERS)
    assert pair.text("swapped") == "b c [SEP] a"


def test_the_stranger_is_taken_although_every_sentence_shares_a_word():
    assert sentence_pair("kettle nobody rained [SEP] x", STRANGERS).unrelated == STRANGERS[0]


def test_probabilities_are_the_softmax_of_both_scores():
    logits = np.array([[2.0, 0.0], [-1.0, 1.0], [0.01, 0.0]])
    found = pair_orders(logits)
    assert found.in_order == pytest.approx(np.exp(logits[:, 0]) / np.exp(logits).sum(1))
    assert [found.is_accepted(order) for order in ORDERS] == [True, False, True]
    assert not found.is_undecided
    assert pair_orders(np.full((3, 2), 7.0)).is_undecided


@pytest.mark.parametrize(("right", "count"), [(707, 1280), (650, 1280), (1141, 1222), (400, 1000)])
def test_a_head_beats_chance_where_its_interval_lies_above_one_half(right, count):
    skill = PairAccuracy(right / count, count)
    exact = binomtest(right, count).proportion_ci(method="wilson")
    assert skill.interval == pytest.approx((exact.low, exact.high), abs=1e-5)
    assert skill.beats_chance == (exact.low > 0.5)


def test_the_cross_test_is_what_the_cards_and_the_paper_say():
    results = {"models": {"one": {"nsp": 0.9, "nsp_count": 10}, "two": {"masked_top1": 0.4}}}
    found = cross_test(results, ("one", "two", "three"))
    assert {name: [s and s.accuracy for s in row] for name, row in found.measured.items()} == {
        "one": [0.9, None]
    }
    # Lan et al. 2019, Table 5, read from the paper.
    assert found.printed == {"None": (52.4, 53.3), "NSP": (90.5, 52.0), "SOP": (78.9, 86.5)}
    assert pair_accuracy(results, "three", "sop") is None


def test_the_shipped_results_have_both_objectives_with_their_counts():
    found = cross_test(assets.results(), ("mini-bert", "mini-distilbert", "mini-albert"))
    assert list(found.measured) == ["mini-bert", "mini-albert"]
    assert all(skill.count > 400 for row in found.measured.values() for skill in row)
