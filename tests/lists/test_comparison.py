"""Intervals and tests against scipy and scikit-learn."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp, ttest_rel
from sklearn.metrics import confusion_matrix, f1_score

from explorer.lists.comparison import (
    Share,
    counted_once,
    duels,
    f1_interval,
    macro_f1,
    macro_f1_of,
    mcnemar,
    mean_duels,
    mean_of,
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


def test_a_mean_has_students_interval_and_test():
    generator = np.random.default_rng(2)
    for n in (2, 3, 12, 200):
        values = generator.normal(0.3, 2.0, n)
        found, expected = mean_of(values), ttest_1samp(values, 0.0)
        ends = expected.confidence_interval(0.95)
        assert (found.low, found.high) == pytest.approx((ends.low, ends.high))
        assert (found.value, found.p_value) == pytest.approx((values.mean(), expected.pvalue))
        other = generator.normal(size=n)
        (duel,) = mean_duels({"a": values, "b": other})
        assert duel.difference.p_value == pytest.approx(ttest_rel(values, other).pvalue)


def test_values_that_do_not_differ_have_no_interval():
    for values in (np.array([7.7]), np.full(9, 3.0), 1e-8 * np.arange(9), np.zeros(0)):
        found = mean_of(values)
        assert np.isnan([found.low, found.high]).all()
        assert found.p_value == 1.0
    assert np.isnan(mean_of(np.zeros(0)).value)


def test_the_interval_of_f1_contains_it_and_has_a_width():
    generator = np.random.default_rng(4)
    for classes in (2, 3, 8):
        for share in (0.0, 0.3, 0.9, 1.0):
            truth = generator.permutation(np.arange(60) % classes)
            guess = np.where(generator.random(60) < share, truth, (truth + 1) % classes)
            counts = confusion_matrix(truth, guess)
            low, high = f1_interval(counts, 30)
            assert 0 <= low <= f1_score(truth, guess, average="macro") <= high <= 1
            assert high - low > 0.02


def test_the_variance_of_f1_is_that_of_drawn_confusion_matrices():
    """The interval of 400 rows has the width of 1.96 standard deviations on both sides."""
    generator = np.random.default_rng(6)
    shares = np.array([[0.4, 0.1, 0.05], [0.05, 0.2, 0.0], [0.02, 0.03, 0.15]])
    drawn = generator.multinomial(400, shares.ravel(), size=3_000).reshape(-1, 3, 3)
    deviation = np.std([macro_f1_of(counts) for counts in drawn])
    low, high = f1_interval((400 * shares).astype(int), 400)
    assert (high - low) / 2 == pytest.approx(1.96 * deviation, rel=0.05)
