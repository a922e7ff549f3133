"""Paired ratios: laws, coverage and exact order statistics."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom

from explorer.analysis.latency.ratio import (
    MIN_INTERVAL,
    MIN_P90,
    ONE_IN,
    Ratio,
    is_different,
    median_interval,
    p90,
    paired_ratio,
    widened,
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


@given(st.integers(MIN_INTERVAL, 400))
@example(n=3000)
def test_each_end_is_the_innermost_value_that_is_wrong_once_in_a_hundred_times_at_most(n):
    """Against scipy's binomial: how many of n values fall below the median that they are of."""
    low, high = median_interval(np.random.default_rng(n).permutation(n).astype(float))
    below = binom(n, 0.5).cdf
    assert below(low) <= 1 / ONE_IN < below(low + 1)
    assert high == n - 1 - low


def test_an_interval_begins_with_as_many_values_as_one_in_a_hundred_needs():
    extremes = [binom(n, 0.5).cdf(0) for n in (MIN_INTERVAL - 1, MIN_INTERVAL)]
    assert extremes[1] <= 1 / ONE_IN < extremes[0]
    assert median_interval(np.arange(1.0, MIN_INTERVAL)) == (0.0, float("inf"))
    assert median_interval(np.arange(1.0, MIN_INTERVAL + 1)) == (1.0, MIN_INTERVAL)


@given(times, st.randoms())
def test_the_order_of_the_rounds_does_not_matter_and_ends_are_values(values, dice):
    shuffled = dice.sample(values, len(values))
    assert median_interval(np.asarray(values)) == median_interval(np.asarray(shuffled))
    assert set(median_interval(np.asarray(values))) <= set(values)


def test_a_shared_slow_stretch_cancels():
    base = np.array([1.0, 1.0, 7.0, 1.0, 9.0, 1.0, 1.0])
    assert paired_ratio(base * 1.6, base).ratio == pytest.approx(1.6)


def test_few_rounds_have_no_interval():
    found = paired_ratio(np.array([2.0, 2.0]), np.array([1.0, 1.0]))
    assert (found.low, found.high) == (0.0, float("inf"))
    assert not is_different(found, Ratio(1.0, 1.0, 1.0, 2))


@pytest.mark.parametrize("n", [7, 12, 45])
def test_coverage_is_what_the_binomial_says_whatever_the_distribution(n):
    """4000 skewed, heavy-tailed samples: the truth is missed as often as at exact ranks."""
    values = np.exp(0.02 * np.random.default_rng(n).standard_t(2, (4000, n)))
    low, high = np.array([median_interval(sample) for sample in values]).T
    below = binom(n, 0.5).cdf(np.arange(n))
    missed = 2 * below[below <= 1 / ONE_IN].max()
    found = 1 - np.mean((low <= 1) & (high >= 1))
    assert found == pytest.approx(missed, abs=4 * np.sqrt(missed / 4000))


def test_different_only_beyond_the_far_end_of_the_models_difference_from_itself():
    control = Ratio(1.0, 0.96, 1.02, 12)
    assert not is_different(Ratio(1.04, 1.02, 1.06, 12), control)
    assert is_different(Ratio(1.10, 1.06, 1.14, 12), control)
    assert is_different(Ratio(0.90, 0.87, 0.93, 12), control)
    assert not is_different(Ratio(0.97, 0.95, 0.99, 12), control)


@given(st.floats(0.8, 1.25))
def test_how_far_one_model_is_from_itself_is_the_line_either_way_round(itself):
    """1.04 times itself is as far off as 1 / 1.04: the interval has to lie beyond it."""
    control = Ratio(1.0, min(itself, 1.0), max(itself, 1.0), 12)
    line = max(itself, 1 / itself)
    assert not is_different(Ratio(line, line - 1e-3, line + 0.1, 12), control)
    assert is_different(Ratio(line, line + 1e-3, line + 0.1, 12), control)
    assert not is_different(Ratio(1 / line, 0.5, 1 / line + 1e-3, 12), control)
    assert is_different(Ratio(1 / line, 0.5, 1 / line - 1e-3, 12), control)


def test_a_block_counts_once_however_many_rounds_it_has():
    blocks = np.repeat(np.arange(9), [1, 5, 2, 2, 1, 3, 2, 40, 2])
    own = np.array([1.3, 1.1, 1.5, 0.9, 1.2, 1.0, 1.4, 3.0, 1.25])
    of = own[blocks]
    found = paired_ratio(of, np.ones(len(of)), blocks)
    assert (found.ratio, found.low, found.high) == (1.25, 0.9, 3.0)
    assert found.n_rounds == len(of)


def test_p90_needs_44_samples():
    assert p90(np.ones(MIN_P90 - 1)) is None
    assert p90(np.arange(101.0)) == pytest.approx(90)


def test_rounds_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="same rounds"):
        paired_ratio(np.ones(3), np.ones(4))
    with pytest.raises(ValueError, match="same rounds"):
        paired_ratio(np.ones(0), np.ones(0))


def test_an_interval_is_widened_by_what_presses_differ_by_squares_adding_in_logarithms():
    """By simulation: presses whose true ratio moves between them, rounds that vary within one."""
    rng, held, kept = np.random.default_rng(4), 0, 0
    between, within, n = np.log1p(0.05) / 2, 0.02, 21
    for _ in range(600):
        rounds = np.exp(rng.normal(rng.normal(0, between), within, n))
        plain = paired_ratio(rounds, np.ones(n))
        wide = widened(plain, 0.05)
        held += wide.low <= 1 <= wide.high
        kept += plain.low <= 1 <= plain.high
        assert wide.low <= plain.low <= plain.ratio <= plain.high <= wide.high
    assert held / 600 > 0.94, "the middle of all presses"
    assert kept / 600 < 0.75, "one press alone does not know of the others"
    few = paired_ratio(np.ones(3), np.ones(3))
    assert widened(few) == few
    exact = widened(Ratio(2.0, 2.0, 2.0, 9), 0.03)
    assert (exact.low, exact.high) == pytest.approx((2 / 1.03, 2 * 1.03))
