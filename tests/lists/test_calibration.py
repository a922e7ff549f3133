"""Calibration of a head: against scikit-learn and scipy, and a control that chance satisfies."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from explorer.lists.calibration import (
    bins_of,
    calibration,
    calibration_error,
    cross_validated_temperature,
    errors_by_chance,
    fitted_temperature,
)

pytestmark = pytest.mark.long  # not needed at every save


def drawn(n, n_labels, sharper=1.0, seed=0):
    """Return logits, and labels that are drawn from softmax(logits / sharper)."""
    generator = np.random.default_rng(seed)
    logits = 2.0 * generator.normal(size=(n, n_labels))
    p = softmax(logits / sharper, -1)
    truth = (generator.random((n, 1)) > p.cumsum(-1)).sum(-1)
    return logits, np.minimum(truth, n_labels - 1)


def by_hand(confidence, right):
    """Return the calibration error over parts of 20 or more sorted rows, which have no equal ones."""
    n, n_parts = len(right), min(10, len(right) // 20)
    borders = [n * place // n_parts for place in range(1, n_parts)]
    parts = np.split(np.argsort(confidence), borders)
    return sum(
        len(part) / len(right) * abs(right[part].mean() - confidence[part].mean()) for part in parts
    )


def test_the_error_is_that_of_ten_parts_of_the_sorted_rows():
    logits, truth = drawn(200, 3, sharper=2.0)
    p = softmax(logits, -1)
    confidence, right = p.max(-1), p.argmax(-1) == truth
    found = calibration(confidence, right)
    assert found.error == pytest.approx(by_hand(confidence, right))
    assert [each.n for each in found.bins] == [20] * 10
    assert found.bins[0].right.value == pytest.approx(right[np.argsort(confidence)[:20]].mean())
    assert found.confidence == pytest.approx(confidence.mean())


def test_rows_of_equal_confidence_share_a_bin_whatever_their_order():
    confidence = np.repeat([0.5, 0.9], [150, 50])
    right = np.arange(200) % 3 > 0
    order = np.random.default_rng(1).permutation(200)
    assert len(set(bins_of(confidence).tolist())) == 2
    first = calibration_error(confidence, right, bins_of(confidence))
    mixed = calibration_error(confidence[order], right[order], bins_of(confidence[order]))
    assert first == pytest.approx(mixed)


def test_few_rows_have_few_bins():
    confidence = np.linspace(0.5, 1, 40)
    assert bins_of(confidence).max() == 1
    assert bins_of(confidence[:19]).max() == 0


def test_the_error_by_chance_is_that_of_labels_drawn_from_the_probabilities():
    logits, _ = drawn(120, 3)
    p = softmax(logits, -1)
    confidence, generator = p.max(-1), np.random.default_rng(9)
    errors = []
    for _ in range(2_000):  # whole labels are drawn here, not only whether the first one is right
        truth = (generator.random((120, 1)) > p.cumsum(-1)).sum(-1)
        errors.append(by_hand(confidence, p.argmax(-1) == truth))
    found = errors_by_chance(confidence, bins_of(confidence))
    assert found.mean() == pytest.approx(np.mean(errors), rel=0.03)
    assert np.quantile(found, 0.95) == pytest.approx(np.quantile(errors, 0.95), rel=0.05)


def test_calibrated_probabilities_are_called_so_as_often_as_they_should_be():
    p_values = []
    for seed in range(200):
        logits, truth = drawn(100, 2, seed=seed)
        p = softmax(logits, -1)
        p_values.append(calibration(p.max(-1), p.argmax(-1) == truth).p_value)
    n_small = sum(p_value < 0.05 for p_value in p_values)
    assert 2 <= n_small <= 20  # 10 are expected of 200


def test_probabilities_that_are_too_sharp_are_found():
    logits, truth = drawn(300, 2, sharper=4.0)
    p = softmax(logits, -1)
    found = calibration(p.max(-1), p.argmax(-1) == truth)
    assert found.p_value < 0.001
    assert found.error > found.most_by_chance > found.by_chance


@pytest.mark.parametrize("n_labels", [2, 3, 50])
def test_the_temperature_is_that_of_another_minimiser(n_labels):
    logits, truth = drawn(400, n_labels, sharper=3.0)

    def loss(inverse):
        return -log_softmax(logits * inverse[0], -1)[np.arange(400), truth].mean()

    wanted = 1 / minimize(loss, [1.0], method="Nelder-Mead", options={"xatol": 1e-9}).x[0]
    assert fitted_temperature(logits, truth) == pytest.approx(wanted, rel=1e-4)


def test_the_temperature_of_two_labels_is_the_slope_of_a_logistic_regression():
    logits, truth = drawn(400, 2, sharper=2.5)
    model = LogisticRegression(C=1e9, fit_intercept=False, tol=1e-10)
    slope = model.fit(logits[:, 1:] - logits[:, :1], truth).coef_[0, 0]
    assert fitted_temperature(logits, truth) == pytest.approx(1 / slope, rel=1e-3)


def test_the_losses_are_those_of_rows_that_the_temperature_was_not_fitted_to():
    logits, truth = drawn(150, 3, sharper=3.0)
    fold, scaled = np.empty(150, int), np.empty_like(logits)
    splits = StratifiedKFold(5, shuffle=True, random_state=0).split(logits, truth)
    for number, (train, test) in enumerate(splits):
        fold[test] = number
        scaled[test] = logits[test] / fitted_temperature(logits[train], truth[train])
    found = cross_validated_temperature(logits, truth, fold)
    assert found.loss_before == pytest.approx(log_loss(truth, softmax(logits, -1)))
    assert found.loss_after == pytest.approx(log_loss(truth, softmax(scaled, -1)))
    assert found.lowered.value == pytest.approx(found.loss_before - found.loss_after)
    assert found.lowered.low > 0
    assert len(found.by_fold) == 5
    p = softmax(scaled, -1)
    assert found.error_after == pytest.approx(by_hand(p.max(-1), p.argmax(-1) == truth))


def test_a_head_that_is_always_right_has_the_lowest_temperature_and_it_is_said():
    truth = np.arange(60) % 2
    found = cross_validated_temperature(np.eye(2)[truth], truth, np.arange(60) % 5)
    assert found.value == pytest.approx(0.05)
    assert found.is_at_end


def test_a_temperature_of_calibrated_logits_lowers_nothing_for_certain():
    logits, truth = drawn(300, 3)
    found = cross_validated_temperature(logits, truth, np.arange(300) % 5)
    assert found.value == pytest.approx(1, abs=0.2)
    assert found.lowered.low < 0
    assert not found.is_at_end


def test_rows_of_a_group_count_once_in_the_intervals():
    logits, truth = drawn(60, 2)
    p = softmax(logits, -1)
    confidence, right = p.max(-1), p.argmax(-1) == truth
    twice = [np.repeat(each, 2) for each in (confidence, right)]
    alone = calibration(confidence, right).bins[0].right
    together = calibration(*twice, np.repeat(np.arange(60), 2)).bins
    assert sum(each.n for each in together) == 120
    widths = [each.right.high - each.right.low for each in together]
    assert max(widths) > 0.9 * (alone.high - alone.low)
