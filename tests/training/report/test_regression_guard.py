"""Weights are replaced only by weights that are not worse beyond chance."""

import math

import pytest

from training.report.regression_guard import difference, is_worse

BEFORE = {"masked_top1": 0.44, "masked_count": 14_000, "probe_top5": 0.7, "probe_count": 200}


def test_a_difference_is_told_in_standard_errors():
    now = {"masked_top1": 0.45, "masked_count": 10_000}
    spread = math.sqrt(0.45 * 0.55 / 10_000 + 0.44 * 0.56 / 14_000)
    assert difference(now, BEFORE, "masked_top1") == pytest.approx(0.01 / spread, rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "worse"),
    [
        ({}, False),
        ({"masked_top1": 0.435}, False),  # within its interval
        ({"masked_top1": 0.40}, True),
        ({"probe_top5": 0.69}, False),
        ({"probe_top5": 0.50}, True),
        ({"masked_top1": 0.43, "probe_top5": 0.76}, False),  # one pays for the other
        ({"masked_top1": 0.40, "probe_top5": 0.71}, True),
    ],
)
def test_a_loss_counts_when_it_is_beyond_chance_on_all_together(changes, worse):
    assert is_worse({**BEFORE, **changes}, BEFORE) is worse


def test_only_what_was_measured_of_both_is_compared():
    assert not is_worse({"masked_top1": 0.1, "masked_count": 1000}, {})
    probe = {"probe_top5": 0.9, "probe_count": 1000}
    assert not is_worse({"masked_top1": 0.1, "masked_count": 1000}, probe)


def test_none_and_all_right_can_be_compared():
    none, every = ({"probe_top5": share, "probe_count": 20} for share in (0.0, 1.0))
    assert is_worse(none, every)
    assert not is_worse(every, none)
