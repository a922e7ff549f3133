"""Paired ratios: laws, coverage and exact order statistics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from explorer.analysis.latency.ratio import (
    CONFIDENCE,
    MIN_P90,
    Ratio,
    _outer_rank,
    is_different,
    median_interval,
    p90,
    paired_ratio,
)

times = st.lists(st.floats(1e-3, 10), min_size=7, max_size=60)


@given(times, st.floats(0.1, 10))
def test_a_constant_factor_is_found_exactly(seconds, factor):
    base = np.asarray(seconds)
    found = paired_ratio(base * factor, base)
    assert found.ratio == pytest.approx(factor)
    assert found.low == pytest.approx(factor)
    assert found.high == pytest.approx(factor)


@given(times)
def test_an_interval_holds_its_median(values):
    values = np.asarray(values)
    low, high = median_interval(values)
    assert low <= np.median(values) <= high


@given(st.integers(7, 400))
def test_order_statistics_cover_the_confidence_and_one_step_in_would_not(n):
    rank = _outer_rank(n)
    tail = (1 - CONFIDENCE) / 2
    assert binom.cdf(rank, n, 0.5) <= tail + 1e-12
    assert binom.cdf(rank + 1, n, 0.5) > tail


def test_a_shared_slow_stretch_cancels():
    base = np.array([1.0, 1.0, 7.0, 1.0, 9.0, 1.0, 1.0])
    assert paired_ratio(base * 1.6, base).ratio == pytest.approx(1.6)


def test_few_rounds_have_no_interval():
    found = paired_ratio(np.array([2.0, 2.0]), np.array([1.0, 1.0]))
    assert (found.low, found.high) == (0.0, float("inf"))
    assert not is_different(found, Ratio(1.0, 1.0, 1.0, 2))


@pytest.mark.parametrize("n", [7, 12, 45])
def test_coverage_under_heavy_tails(n):
    rng = np.random.default_rng(n)
    hits = 0
    for _ in range(300):
        low, high = median_interval(np.exp(0.02 * rng.standard_t(2, n)))
        hits += low <= 1 <= high
    assert hits >= 0.95 * 300


def test_different_only_beyond_the_models_difference_from_itself():
    control = Ratio(0.96, 0.9, 1.02, 12)
    assert not is_different(Ratio(1.04, 1.02, 1.06, 12), control)
    assert is_different(Ratio(1.10, 1.06, 1.14, 12), control)
    assert is_different(Ratio(0.90, 0.87, 0.93, 12), control)
    assert not is_different(Ratio(0.97, 0.95, 0.99, 12), control)


def test_p90_needs_44_samples():
    assert p90(np.ones(MIN_P90 - 1)) is None
    assert p90(np.arange(101.0)) == pytest.approx(90)


def test_rounds_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="same rounds"):
        paired_ratio(np.ones(3), np.ones(4))
    with pytest.raises(ValueError, match="same rounds"):
        paired_ratio(np.ones(0), np.ones(0))
