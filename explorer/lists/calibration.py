"""Calibration of a classifier: whether its probabilities agree with how often it is right."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.measures import TEMPERATURES, log_softmax
from explorer.lists.comparison import Mean, counted_once, mean_of, wilson
from explorer.lists.judge import Scored

MOST_BINS, ROWS_A_BIN = 10, 20
"""Most bins of a reliability diagram, and rows of each where the list has enough."""
DRAWS, DRAWN_AT_ONCE = 2_000, 2_000_000
"""Random outcomes for the error of calibrated probabilities, and how many are held at once."""
SEED = 0
AT_END = 1e-3
"""Distance of a logarithm to the end of the range of temperatures that counts as the end."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Rows with similar confidence."""

    n: int
    confidence: float
    """Mean probability of the predicted label."""
    right: Scored
    """Share of right rows, with Wilson's 95% interval."""


@dataclass(frozen=True, slots=True)
class Temperature:
    """Temperature T that the logits are divided by, fitted by the likelihood (Guo et al. 2017)."""

    value: float
    """T of all rows; above 1 the probabilities were too far apart."""
    by_fold: tuple[float, ...]
    """T of the other four folds' rows, by fold."""
    loss_before: float
    """Mean -ln P(true label) of the rows, in nats."""
    loss_after: float
    """The same with each row's probabilities at the T of the other folds."""
    lowered: Mean
    """Mean decrease of the loss over rows, or over groups, with Student's interval."""
    error_after: float
    """Expected calibration error at the temperatures of the other folds."""

    @property
    def is_at_end(self) -> bool:
        """True where the likelihood grows up to the end of the range 0.05 to 20."""
        ends = np.log(np.array(TEMPERATURES))
        return bool(np.abs(ends - np.log(self.value)).min() < AT_END)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Confidence of a classifier against how often it is right."""

    bins: tuple[Bin, ...]
    """By rising confidence, of about equal numbers of rows; equal confidences are in one."""
    confidence: float
    """Mean probability of the predicted label."""
    error: float
    """Expected calibration error, see ``calibration_error``."""
    by_chance: float
    """Mean error if each row were right with exactly its probability; of 2,000 random draws."""
    most_by_chance: float
    """95th percentile of this error."""
    p_value: float
    """Share of draws with as large an error, the one found among them."""
    temperature: Temperature | None = None
    """None where several labels may hold."""


def bins_of(confidence: np.ndarray) -> np.ndarray:
    """Return the bin of each row, int64 [row], from 0 by rising confidence.

    There are ten, or fewer so that each has twenty rows; their borders are quantiles, so that rows
    of equal confidence share a bin.
    """
    n = len(confidence)
    n_bins = max(1, min(MOST_BINS, n // ROWS_A_BIN))
    borders = np.sort(confidence)[[n * place // n_bins for place in range(1, n_bins)]]
    found = np.searchsorted(borders, confidence, side="right")
    return np.asarray(np.unique(found, return_inverse=True)[1], np.int64)


def calibration_error(confidence: np.ndarray, right: np.ndarray, bins: np.ndarray) -> float:
    """Return the expected calibration error: sum over bins of n_b / n times a distance.

    It is the absolute difference of the bin's share of right rows and its mean confidence (Naeini
    et al. 2015, here with bins of equal mass).
    """
    return float(np.abs(np.bincount(bins, right - confidence)).sum() / len(bins))


def errors_by_chance(confidence: np.ndarray, bins: np.ndarray) -> np.ndarray:
    """Return the errors of rows that are right with exactly their probability: float64 [draw]."""
    n, generator = len(bins), np.random.default_rng(SEED)
    members = np.eye(int(bins.max()) + 1)[bins]
    errors: list[np.ndarray] = []
    at_once = max(1, DRAWN_AT_ONCE // n)
    for begin in range(0, DRAWS, at_once):
        right = generator.random((min(at_once, DRAWS - begin), n)) < confidence
        errors.append(np.abs((right - confidence) @ members).sum(1) / n)
    return np.concatenate(errors)


def calibration(
    confidence: np.ndarray,
    right: np.ndarray,
    groups: np.ndarray | None = None,
    temperature: Temperature | None = None,
) -> Calibration:
    """Return how far confidences are from how often the rows are right, with its control.

    Args:
        confidence: float64 [row], the probability of the predicted label.
        right: bool [row].
        groups: int64 [row]: rows of one group count once in an interval.
        temperature: What was fitted to the rows.
    """
    bins = bins_of(confidence)
    found = calibration_error(confidence, right, bins)
    control = errors_by_chance(confidence, bins)
    parts = []
    for place in range(int(bins.max()) + 1):
        rows = bins == place
        share, size = float(right[rows].mean()), int(rows.sum())
        n = counted_once(size, None if groups is None else groups[rows])
        parts.append(Bin(size, float(confidence[rows].mean()), Scored(share, *wilson(share, n))))
    return Calibration(
        tuple(parts),
        float(confidence.mean()),
        found,
        float(control.mean()),
        float(np.quantile(control, 0.95)),
        float((1 + (control >= found - 1e-12).sum()) / (1 + DRAWS)),
        temperature,
    )


def label_losses(logits: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return -ln P(true label) of each row, in nats: float64 [row]."""
    return -log_softmax(logits)[np.arange(len(truth)), truth]


def fitted_temperature(logits: np.ndarray, truth: np.ndarray) -> float:
    """Return the T from 0.05 to 20 with the smallest mean loss of softmax(logits / T).

    The loss is convex in 1 / T, so that it has one minimum.
    """
    from scipy.optimize import minimize_scalar

    def loss(log_t: float) -> float:
        return float(label_losses(logits / np.exp(log_t), truth).mean())

    ends = np.log(np.array(TEMPERATURES))
    found = minimize_scalar(loss, bounds=tuple(ends), method="bounded", options={"xatol": 1e-7})
    return float(np.exp(min([found.x, *ends], key=loss)))


def cross_validated_temperature(
    logits: np.ndarray, truth: np.ndarray, folds: np.ndarray, groups: np.ndarray | None = None
) -> Temperature:
    """Return the temperature of the rows, and what the temperatures of the other folds achieve.

    Args:
        logits: float [row, label].
        truth: int64 [row], indices of the labels.
        folds: int64 [row], the fold of each row.
        groups: int64 [row]; rows of one group count once.
    """
    logits = logits.astype(np.float64)
    scaled, by_fold = np.empty_like(logits), []
    for fold in np.unique(folds):
        test = folds == fold
        by_fold.append(fitted_temperature(logits[~test], truth[~test]))
        scaled[test] = logits[test] / by_fold[-1]
    before, after = label_losses(logits, truth), label_losses(scaled, truth)
    lowered = before - after
    if groups is not None:
        _, unit = np.unique(groups, return_inverse=True)
        lowered = np.bincount(unit, lowered) / np.bincount(unit)
    confidence = np.exp(log_softmax(scaled)).max(1)
    right = scaled.argmax(1) == truth
    return Temperature(
        fitted_temperature(logits, truth),
        tuple(by_fold),
        float(before.mean()),
        float(after.mean()),
        mean_of(lowered),
        calibration_error(confidence, right, bins_of(confidence)),
    )
