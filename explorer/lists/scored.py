"""Rows with a score: a ridge regression on frozen features, with a word baseline and a control."""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from explorer.analysis.digits import counted, enumerated
from explorer.analysis.measures import Z
from explorer.lists.comparison import counted_once
from explorer.lists.judge import ERROR_RATE, NearCopies, Scored, copies_between
from explorer.lists.labelled import FOLDS, INNER_FOLDS, MIN_ROWS, SEED, Split
from explorer.lists.roles import BadRows
from explorer.lists.rows import TextList
from explorer.models.run import read_only
from explorer.models.tokens import SEPARATOR
from explorer.refusal import Sentence

PENALTIES = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)
"""Values of scikit-learn's alpha, of which each fold chooses one on its training rows."""
COUNTED = 0.55
"""Share of the rows that count for the interval of a correlation: the folds have training rows in
common, so that their errors depend on each other. Counted as independent rows, they cover the mean
correlation of the five regressions in 84 to 89% of simulated lists of 40 rows."""
SHUFFLES = 5
"""Random orders of the scores that the control is the mean of."""
BASELINE = "words"
"""Key of the regression on the words of a row."""
WORD = re.compile(r"\w+")
FEW_SCORES = Sentence("few-scores", "{rows} with a score; at least {least} are needed.")
ONE_SCORE = Sentence("equal-scores", "All scores are {score}: there is nothing to predict.")
FEW_GROUPS = Sentence(
    "few-groups", "The rows are in {groups}; {least} are needed, because a group stays in one fold."
)
NO_WORDS = (
    "No model's predictions are significantly closer to the order of your scores than chance, as "
    "far as {n} rows can show."
)
WORDS_DO = (
    "The words of a row may do as well: no model is significantly better than the same regression "
    "on {words}, as far as {n} rows can show."
)
ONE_IS_BEST = (
    "{best} is the best of these models for your scores on {n} rows: the others are significantly "
    "worse."
)
SOME_ARE = (
    "{best} {are} significantly better than the same regression on {words}; {n} rows are too few "
    "to tell more."
)
OVERLAP, LENGTHS = "the overlap of the two texts' words", "the number and length of its words"


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """Scores of the rows of a list, and which rows stay together."""

    scores: np.ndarray
    """float64 [row]"""
    groups: np.ndarray | None = None
    """int64 [row]: rows of one group are on one side of every split; None: each is its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """Predictions of one regression for every row, each made without that row."""

    values: np.ndarray
    """float64 [row]"""
    penalties: tuple[float, ...]
    """The alpha that each fold chose."""


@dataclass(frozen=True, slots=True)
class Correlations:
    """Agreement of predictions with the scores."""

    spearman: Scored
    """Rank correlation; nan where all predictions are equal."""
    pearson: Scored
    control: float
    """Mean Spearman correlation of the same regression on the same rows in which the scores are
    shuffled, each time with the shuffled scores."""


@dataclass(frozen=True, slots=True)
class CorrelationDuel:
    """Two regressions by their rank correlations with the same scores."""

    first: str
    second: str
    difference: float
    """Spearman of the first minus that of the second."""
    p_value: float
    """Two-sided, by the z test for two correlations with one variable (Meng et al. 1992)."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredResult:
    """Predictions of all regressions on the same folds: models, then the words."""

    truth: Truth
    predicted: Mapping[str, Predicted]
    correlations: Mapping[str, Correlations]
    duels: tuple[CorrelationDuel, ...]
    advice: str
    recommended: tuple[str, ...]
    """The models that may be recommended; empty where none is."""


def counted_rows(truth: Truth) -> float:
    """Return the number of rows that count for the interval of a correlation."""
    return COUNTED * counted_once(len(truth.scores), truth.groups)


def scored_copies(texts: Sequence[str], truth: Truth) -> NearCopies:
    """Count the rows with a near-copy in another fold."""
    splits = splits_of(FOLDS, len(texts), truth.groups)
    return copies_between(texts, splits, truth.scores)


def truth_of(texts: TextList) -> Truth:
    """Return the scores and the groups of a list; a row without a group is its own.

    Raises:
        BadRows: there are too few rows or groups, or all scores are equal.
    """
    scores = np.array([row.score for row in texts.rows], np.float64)
    if len(scores) < MIN_ROWS:
        rows = counted(len(scores), "row")
        raise BadRows(FEW_SCORES.format(rows=rows, least=MIN_ROWS))
    if np.ptp(scores) == 0:
        raise BadRows(ONE_SCORE.format(score=f"{scores[0]:g}"))
    if not any(row.group for row in texts.rows):
        return Truth(read_only(scores))
    units: dict[object, int] = {}
    groups = [units.setdefault(row.group or row.number, len(units)) for row in texts.rows]
    if len(units) < FOLDS:
        raise BadRows(FEW_GROUPS.format(groups=counted(len(units), "group"), least=FOLDS))
    return Truth(read_only(scores), read_only(np.array(groups, np.int64)))


def splits_of(n_folds: int, n_rows: int, groups: np.ndarray | None) -> list[Split]:
    """Return the (training rows, test rows) of shuffled folds; groups stay together."""
    from sklearn.model_selection import GroupKFold, KFold

    kind = KFold if groups is None else GroupKFold
    kfold = kind(n_folds, shuffle=True, random_state=SEED)
    return list(kfold.split(np.zeros(n_rows), groups=groups))


def ridge_predictions(
    features: np.ndarray, truth: Truth, check: Callable[[], None] = lambda: None
) -> Predicted:
    """Return out-of-fold predictions; each fold chooses its penalty on its training rows only.

    Args:
        features: float [row, d], standardized by the training rows of each split.
        truth: Scores and groups of the rows.
        check: Called before each training; what it raises ends all.
    """
    values, penalties = np.empty(len(truth.scores)), []
    for train, test in splits_of(FOLDS, len(truth.scores), truth.groups):
        groups = None if truth.groups is None else truth.groups[train]
        n_inner = INNER_FOLDS if groups is None else min(INNER_FOLDS, len(np.unique(groups)))
        errors = np.zeros(len(PENALTIES))
        for inner_train, inner_test in (
            splits_of(n_inner, len(train), groups) if n_inner > 1 else []
        ):
            check()
            split = (train[inner_train], train[inner_test])
            found = _ridge(features, truth.scores, split, PENALTIES)
            errors += ((found - truth.scores[split[1]]) ** 2).mean(1)
        penalty = PENALTIES[int(np.argmin(errors))]
        check()
        penalties.append(penalty)
        values[test] = _ridge(features, truth.scores, (train, test), (penalty,))[0]
    return Predicted(read_only(values), tuple(penalties))


def _ridge(
    features: np.ndarray, scores: np.ndarray, split: Split, penalties: Sequence[float]
) -> np.ndarray:
    """Return the predictions of a split's test rows by penalty: float64 [penalty, test row].

    w = (X'X + alpha)^-1 X'y by one singular value decomposition of the standardized rows.
    """
    train, test = split
    rows = features[train].astype(np.float64)
    middle, spread = rows.mean(0), rows.std(0)
    spread[spread == 0] = 1.0
    left, sizes, right = np.linalg.svd((rows - middle) / spread, full_matrices=False)
    asked = (features[test] - middle) / spread @ right.T
    mean = scores[train].mean()
    turned = left.T @ (scores[train] - mean)
    return np.array([mean + asked @ (sizes / (sizes**2 + a) * turned) for a in penalties])


def word_features(texts: Sequence[str]) -> np.ndarray:
    """Return what the words of two texts have in common, float64 [row, 4].

    Of the different words in lower case: the share of those of both that are in both (Jaccard), the
    share of each text's that are in the other, and the difference of the two numbers of words. A
    row of one text has its number of words and of letters, and their mean lengths.
    """
    return np.array([_overlap(text) for text in texts], np.float64)


def words_name(texts: TextList) -> str:
    """Return what the features of ``word_features`` are called in a sentence."""
    return OVERLAP if "second" in texts.columns else LENGTHS


def _overlap(text: str) -> tuple[float, float, float, float]:
    first, *others = (WORD.findall(part.lower()) for part in text.split(SEPARATOR))
    if not others:
        n_letters = sum(map(len, first))
        return len(first), len(text), n_letters / max(1, len(first)), len(set(first))
    a, b = set(first), set(others[0])
    both = len(a & b)
    shares = both / max(1, len(a | b)), both / max(1, len(a)), both / max(1, len(b))
    return *shares, float(len(first) - len(others[0]))


def scored_steps(
    features: Mapping[str, np.ndarray],
    truth: Truth,
    names: Mapping[str, str],
    check: Callable[[], None] = lambda: None,
) -> Generator[None, None, ScoredResult]:
    """Train all regressions, and yield after each.

    Args:
        features: By model, and of ``BASELINE``, float [row, d].
        truth: Scores and groups of the rows.
        names: By key what a sentence calls it.
        check: Called before each training; what it raises ends all.
    """
    predicted, correlations = {}, {}
    orders = [
        np.random.default_rng(seed).permutation(len(truth.scores)) for seed in range(SHUFFLES)
    ]
    for key, of_model in features.items():
        predicted[key] = ridge_predictions(of_model, truth, check)
        yield
        controls = []
        for order in orders:
            shuffled = Truth(truth.scores[order], truth.groups)
            found = ridge_predictions(of_model, shuffled, check)
            controls.append(spearman(found.values, shuffled.scores))
            yield
        correlations[key] = correlated(predicted[key].values, truth, float(np.mean(controls)))
    duels = tuple(correlation_duel(predicted, truth, pair) for pair in combinations(features, 2))
    return ScoredResult(
        truth,
        predicted,
        correlations,
        duels,
        *_advice(truth, predicted, correlations, duels, names),
    )


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    """Return the rank correlation, ranks of equals averaged; nan where all of one are equal."""
    from scipy.stats import rankdata

    return pearson(rankdata(first), rankdata(second))


def pearson(first: np.ndarray, second: np.ndarray) -> float:
    """Return the correlation of two arrays; nan where all of one are equal."""
    a, b = first - first.mean(), second - second.mean()
    size = np.sqrt((a @ a) * (b @ b))
    return float(np.clip(a @ b / size, -1.0, 1.0)) if size > 0 else float("nan")


def correlated(predicted: np.ndarray, truth: Truth, control: float) -> Correlations:
    """Return both correlations with intervals for as many rows as count, see ``COUNTED``."""
    scores, n = truth.scores, counted_rows(truth)
    rank, linear = spearman(predicted, scores), pearson(predicted, scores)
    return Correlations(
        Scored(rank, *spearman_interval(rank, n)),
        Scored(linear, *pearson_interval(linear, n)),
        control,
    )


def pearson_interval(r: float, n: float) -> tuple[float, float]:
    """Return the 95% interval of a correlation of n rows by Fisher's z.

    The standard error is 1 / sqrt(n - 3).
    """
    return _fisher(r, n, 1.0)


def spearman_interval(r: float, n: float) -> tuple[float, float]:
    """Return the 95% interval of a rank correlation of n rows by Fisher's z.

    The standard error is sqrt((1 + r^2 / 2) / (n - 3)) (Bonett and Wright 2000).
    """
    return _fisher(r, n, 1.0 + r**2 / 2)


def _fisher(r: float, n: float, factor: float) -> tuple[float, float]:
    """Return tanh(atanh r +- 1.96 sqrt(factor / (n - 3))); -1 to 1 for too few rows or nan."""
    if np.isnan(r) or n <= 3:
        return -1.0, 1.0
    middle = np.arctanh(np.clip(r, -1 + 1e-9, 1 - 1e-9))
    half = Z * np.sqrt(factor / (n - 3))
    return float(np.tanh(middle - half)), float(np.tanh(middle + half))


def correlation_duel(
    predicted: Mapping[str, Predicted], truth: Truth, pair: tuple[str, str]
) -> CorrelationDuel:
    """Compare the rank correlations of two regressions with the same scores."""
    from scipy.special import ndtr

    first, second = (predicted[key].values for key in pair)
    r = spearman(first, truth.scores), spearman(second, truth.scores)
    if np.isnan(r).any():
        return CorrelationDuel(*pair, float("nan"), 1.0)
    z = correlations_z(*r, spearman(first, second), counted_rows(truth))
    return CorrelationDuel(*pair, r[0] - r[1], float(2 * ndtr(-abs(z))))


def correlations_z(first: float, second: float, between: float, n: float) -> float:
    """Return z of the difference of two correlations with one variable (Meng et al. 1992).

    Args:
        first: Correlation of the first with the variable.
        second: That of the second.
        between: Correlation of the two.
        n: The number of rows.
    """
    if between >= 1 - 1e-9:
        return 0.0
    square = (first**2 + second**2) / 2
    f = min(1.0, (1 - between) / (2 * (1 - square)))
    h = (1 - f * square) / (1 - square)
    apart = np.arctanh(np.clip([first, second], -1 + 1e-9, 1 - 1e-9))
    return float((apart[0] - apart[1]) * np.sqrt((n - 3) / (2 * (1 - between) * h)))


def _advice(
    truth: Truth,
    predicted: Mapping[str, Predicted],
    correlations: Mapping[str, Correlations],
    duels: Sequence[CorrelationDuel],
    names: Mapping[str, str],
) -> tuple[str, tuple[str, ...]]:
    """Return what the correlations allow to say, and the models that may be recommended.

    A difference counts if its test stays below 1% after division by the number of comparisons: each
    model with no correlation, with the words and with each other model.
    """
    from scipy.special import ndtr

    models, n = [key for key in predicted if key != BASELINE], len(truth.scores)
    n_tests, counts = len(duels) + len(models), counted_rows(truth)
    beaten = {
        (each.first, each.second) if each.difference > 0 else (each.second, each.first)
        for each in duels
        if each.p_value * n_tests < ERROR_RATE
    }
    zs = {key: np.arctanh(correlations[key].spearman.value) * np.sqrt(counts - 3) for key in models}
    learned = [key for key in models if ndtr(-zs[key]) * n_tests < ERROR_RATE]
    useful = [key for key in learned if (key, BASELINE) in beaten]
    said = {"n": f"{n:,}", "words": names[BASELINE]}
    if not learned:
        return NO_WORDS.format(**said), ()
    if not useful:
        return WORDS_DO.format(**said), ()
    best = max(useful, key=lambda key: correlations[key].spearman.value)
    rivals = [key for key in models if key != best and (best, key) not in beaten]
    if not rivals and len(models) > 1:
        return ONE_IS_BEST.format(best=names[best], **said), (best,)
    taken = [key for key in models if key == best or (key in rivals and key in useful)]
    are = "is" if len(taken) == 1 else "are"
    return SOME_ARE.format(best=enumerated(names[k] for k in taken), are=are, **said), tuple(taken)
