"""Intervals and tests against scipy and scikit-learn."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import f1_score

from explorer.analysis.texts.comparison import (
    Share,
    bootstrap_weights,
    duels,
    mcnemar,
    percentile_interval,
    resampled_accuracy,
    resampled_macro_f1,
    shares_by_group,
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


def test_resampled_scores_are_those_of_scikit_learn():
    generator = np.random.default_rng(3)
    truth, predicted = generator.integers(0, 4, 60), generator.integers(0, 4, 60)
    weights = bootstrap_weights(60, 20)
    assert (weights.sum(1) == 60).all()
    f1, accuracy = (
        resampled_macro_f1(truth, predicted, weights),
        resampled_accuracy(truth == predicted, weights),
    )
    for row, counts in enumerate(weights.astype(int)):
        drawn = np.repeat(np.arange(60), counts)
        assert f1[row] == pytest.approx(f1_score(truth[drawn], predicted[drawn], average="macro"))
        assert accuracy[row] == pytest.approx((truth[drawn] == predicted[drawn]).mean())


def test_the_bootstrap_interval_of_a_share_is_near_wilsons():
    right = np.arange(400) < 300
    low, high = percentile_interval(resampled_accuracy(right, bootstrap_weights(400)))
    assert (low, high) == pytest.approx(Share(300, 400).interval, abs=0.01)
