"""Intervals and tests against scipy and scikit-learn."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import f1_score

from explorer.lists.comparison import (
    Share,
    counted_once,
    duels,
    macro_f1,
    mcnemar,
    shares_by_group,
    sign_flip,
    wilson,
)


@pytest.mark.parametrize(
    ("b", "c"), [(0, 0), (1, 0), (0, 6), (5, 3), (12, 30), (40, 40), (900, 1_050)]
)
def test_mcnemar_is_the_exact_binomial_test(b, c):
    expected = binomtest(b, b + c).pvalue if b + c else 1.0
    assert mcnemar(b, c) == pytest.approx(expected, rel=1e-9)


def test_a_share_has_wilsons_interval():
    for hits, n in ((0, 10), (7, 10), (10, 10), (431, 872)):
        expected = binomtest(hits, n).proportion_ci(method="wilson")
        assert Share(hits, n).interval == pytest.approx((expected.low, expected.high), abs=1e-6)
    assert Share(0, 0).interval == (0.0, 1.0)


def test_duels_count_the_rows_that_one_alone_has_right():
    right = {"a": np.array([1, 1, 0, 0, 1], bool), "b": np.array([1, 0, 1, 0, 0], bool)}
    (found,) = duels(right)
    assert (found.only_first, found.only_second) == (2, 1)


def test_groups_are_counted_apart():
    shares = shares_by_group(np.array([True, False, True, True]), ["x", "y", "", "x"])
    assert shares == {"x": Share(2, 2), "y": Share(0, 1)}


def test_macro_f1_is_that_of_scikit_learn():
    generator = np.random.default_rng(3)
    for n, classes in ((60, 4), (5, 3), (9, 1)):
        truth, predicted = generator.integers(0, classes, (2, n))
        expected = f1_score(truth, predicted, average="macro")
        assert macro_f1(truth, predicted) == pytest.approx(expected)


def test_an_end_of_none_or_all_is_exactly_none_or_all():
    for n in range(1, 300):
        assert Share(n, n).interval[1] == 1.0
        assert Share(0, n).interval[0] == 0.0
        assert wilson(1.0, n / 2)[1] == 1.0


def test_the_exchange_of_rows_is_mcnemars_test_and_of_groups_all_assignments_of_signs():
    generator = np.random.default_rng(5)
    for _ in range(20):
        differences = generator.integers(-1, 2, 24)
        expected = mcnemar(int((differences == 1).sum()), int((differences == -1).sum()))
        assert sign_flip(differences, np.arange(24)) == pytest.approx(expected)
        assert sign_flip(differences) == expected
        groups = generator.integers(0, 8, 24)
        sums = np.array([differences[groups == group].sum() for group in range(8)])
        flipped = np.array(list(product((-1, 1), repeat=8))) @ sums
        by_hand = (np.abs(flipped) >= abs(sums.sum())).mean()
        assert sign_flip(differences, groups) == pytest.approx(by_hand)


def test_copies_in_one_group_add_no_evidence():
    differences = np.array([1, 1, 1, 1, -1])
    copied, groups = np.repeat(differences, 20), np.repeat(np.arange(5), 20)
    assert sign_flip(copied) < 1e-6
    assert sign_flip(copied, groups) == pytest.approx(sign_flip(differences))
    assert counted_once(100, groups) == 5
    assert counted_once(100, None) == 100
