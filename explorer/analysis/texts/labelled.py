"""Labelled rows: a logistic regression on frozen features, beside two baselines, on equal folds."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.texts.comparison import (
    bootstrap_weights,
    percentile_interval,
    resampled_accuracy,
    resampled_macro_f1,
)
from explorer.analysis.texts.rows import MAX_CLASSES, MIN_CLASSES, BadRows, LeftOut, TextList
from explorer.models.run import read_only

FOLDS, INNER_FOLDS = 5, 3
MIN_ROWS = 40
STRENGTHS = (0.0001, 0.001, 0.01, 0.1, 1.0)
"""Values of scikit-learn's C, of which each fold chooses one on its training rows."""
WORDS_STRENGTH = 100.0
"""Factor of C for TF-IDF."""
MAX_ITERATIONS = 200
FEWEST = 16
"""Smallest training set of the learning curve; each next one has twice as many rows."""
SEED = 0
BASELINES: tuple[str, ...] = ("tfidf", "majority")
"""TF-IDF of words with the same regression; and always the most frequent label."""
RARE_LABEL = "Its label “{label}” is on {n} of {all} rows; {least} are needed for {least} folds."
ONE_LABEL = "All rows that can be used have the label “{label}”: there is nothing to tell apart."
MANY_LABELS = "There are {n} different labels; at most {most} are compared."
FEW_ROWS = (
    "{n} rows with labels can be used; {least} are needed. Add rows, or read them as sentences."
)
Regression = Any
"""Unfitted pipeline of scikit-learn."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Labels of the rows of a list, as numbers."""

    names: tuple[str, ...]
    """Sorted."""
    truth: np.ndarray
    """int64 [row], indices of ``names``."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Predictions of one classifier for every row, each made without that row."""

    predicted: np.ndarray
    """int64 [row]"""
    strengths: tuple[float, ...]
    """The C that each fold chose."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Score with its 95% bootstrap interval over the rows' out-of-fold predictions."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a classifier; the regression on the features of an encoder is not counted."""

    ms_per_row: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class Difference:
    """Accuracy of the first classifier minus that of the second, resampled by the same rows."""

    first: str
    second: str
    accuracy: Scored
    macro_f1: Scored
    only_first: int
    """Rows that only the first has right."""
    only_second: int


@dataclass(frozen=True, slots=True, eq=False)
class LabelledResult:
    """Scores of all classifiers on the same rows and folds: models, then baselines."""

    labels: Labels
    judged: Mapping[str, Judged]
    accuracy: Mapping[str, Scored]
    macro_f1: Mapping[str, Scored]
    differences: tuple[Difference, ...]
    confusion: Mapping[str, np.ndarray]
    """By classifier int64 [true, predicted]."""
    all_wrong: tuple[int, ...]
    """Indices of the rows that every model has wrong, baselines not counted."""

    @property
    def models(self) -> tuple[str, ...]:
        """The classifiers that are no baselines."""
        return tuple(key for key in self.judged if key not in BASELINES)


def usable(texts: TextList) -> TextList:
    """Return the rows whose label is on enough rows for every fold.

    Raises:
        BadRows: one label is left, there are too many, or too few rows.
    """
    counts: dict[str, int] = {}
    for row in texts.rows:
        counts[row.label] = counts.get(row.label, 0) + 1
    rare = [
        LeftOut(
            row.number,
            RARE_LABEL.format(
                label=row.label, n=counts[row.label], all=len(texts.rows), least=FOLDS
            ),
        )
        for row in texts.rows
        if counts[row.label] < FOLDS
    ]
    kept = [label for label, count in counts.items() if count >= FOLDS]
    n_rows = sum(counts[label] for label in kept)
    if len(kept) > MAX_CLASSES:
        raise BadRows(MANY_LABELS.format(n=len(kept), most=MAX_CLASSES))
    if len(kept) == 1:
        raise BadRows(ONE_LABEL.format(label=kept[0]))
    if n_rows < MIN_ROWS or len(kept) < MIN_CLASSES:
        raise BadRows(FEW_ROWS.format(n=n_rows, least=MIN_ROWS))
    return texts.without(rare)


def labels_of(texts: TextList) -> Labels:
    """Return the labels of a list as numbers."""
    names = sorted({row.label for row in texts.rows})
    places = {name: place for place, name in enumerate(names)}
    truth = np.array([places[row.label] for row in texts.rows], np.int64)
    return Labels(tuple(names), read_only(truth))


def folds(truth: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the (training rows, test rows) of five stratified folds, the same for everybody."""
    from sklearn.model_selection import StratifiedKFold

    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    return list(splits.split(np.zeros(len(truth)), truth))


def regression(strength: float) -> Regression:
    """Return standardized features with a logistic regression."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=MAX_ITERATIONS))


def bag_of_words(strength: float) -> Regression:
    """Return TF-IDF of words with the same logistic regression."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    words = TfidfVectorizer(token_pattern=r"(?u)\S+", sublinear_tf=True)
    # Rows of TF-IDF have length 1, not that of standardized features: C is larger throughout.
    return make_pipeline(
        words, LogisticRegression(C=WORDS_STRENGTH * strength, max_iter=MAX_ITERATIONS)
    )


def judged(
    inputs: Sequence[str] | np.ndarray,
    truth: np.ndarray,
    make: Callable[[float], Regression] = regression,
) -> Judged:
    """Return out-of-fold predictions; each fold chooses its penalty on its training rows alone."""
    data, predicted, strengths = _array(inputs), np.empty(len(truth), np.int64), []
    for train, test in folds(truth):
        strength = chosen_strength(data[train], truth[train], make)
        strengths.append(strength)
        predicted[test] = make(strength).fit(data[train], truth[train]).predict(data[test])
    return Judged(read_only(predicted), tuple(strengths))


def chosen_strength(
    data: np.ndarray, truth: np.ndarray, make: Callable[[float], Regression]
) -> float:
    """Return the C with the best mean accuracy over three inner folds; the smallest of equals."""
    from sklearn.model_selection import StratifiedKFold

    n_inner = min(INNER_FOLDS, int(np.bincount(truth)[np.unique(truth)].min()))
    splits = list(
        StratifiedKFold(n_inner, shuffle=True, random_state=SEED).split(np.zeros(len(truth)), truth)
    )
    means = [
        np.mean(
            [
                (
                    make(strength).fit(data[train], truth[train]).predict(data[test]) == truth[test]
                ).mean()
                for train, test in splits
            ]
        )
        for strength in STRENGTHS
    ]
    return STRENGTHS[int(np.argmax(means))]


def bag_cost(texts: Sequence[str], truth: np.ndarray, strength: float) -> Cost:
    """Measure what a prediction from TF-IDF costs, and the size of its words and weights."""
    data = _array(texts)
    words, classifier = bag_of_words(strength).fit(data, truth).named_steps.values()
    begun = time.thread_time()
    classifier.predict(words.transform(data))
    seconds = time.thread_time() - begun
    n_bytes = sum(len(word.encode()) for word in words.vocabulary_)
    n_bytes += words.idf_.nbytes + classifier.coef_.nbytes
    return Cost(1e3 * seconds / len(data), n_bytes / 1e6)


def majority(truth: np.ndarray) -> Judged:
    """Return the most frequent label of each fold's training rows as its predictions."""
    predicted = np.empty(len(truth), np.int64)
    for train, test in folds(truth):
        predicted[test] = np.bincount(truth[train]).argmax()
    return Judged(read_only(predicted), ())


def labelled_result(labels: Labels, by_classifier: Mapping[str, Judged]) -> LabelledResult:
    """Return the scores, their intervals and their differences from out-of-fold predictions."""
    truth, weights = labels.truth, bootstrap_weights(len(labels.truth))
    right = {key: each.predicted == truth for key, each in by_classifier.items()}
    accuracy = {key: resampled_accuracy(hits, weights) for key, hits in right.items()}
    f1 = {k: resampled_macro_f1(truth, j.predicted, weights) for k, j in by_classifier.items()}
    whole = np.ones((1, len(truth)), np.float32)
    whole_f1 = {
        key: float(resampled_macro_f1(truth, each.predicted, whole)[0])
        for key, each in by_classifier.items()
    }
    keys = list(by_classifier)
    differences = [
        Difference(
            a,
            b,
            _scored(right[a].mean() - right[b].mean(), accuracy[a] - accuracy[b]),
            _scored(whole_f1[a] - whole_f1[b], f1[a] - f1[b]),
            int((right[a] & ~right[b]).sum()),
            int((right[b] & ~right[a]).sum()),
        )
        for place, a in enumerate(keys)
        for b in keys[place + 1 :]
    ]
    models = [hits for key, hits in right.items() if key not in BASELINES]
    return LabelledResult(
        labels,
        by_classifier,
        {key: _scored(right[key].mean(), accuracy[key]) for key in keys},
        {key: _scored(whole_f1[key], f1[key]) for key in keys},
        tuple(differences),
        {key: confusion(labels, each) for key, each in by_classifier.items()},
        tuple(int(i) for i in np.flatnonzero(~np.any(models, 0))) if models else (),
    )


def confusion(labels: Labels, classifier: Judged) -> np.ndarray:
    """Return how often each label is predicted for each true one: int64 [true, predicted]."""
    n = len(labels.names)
    return read_only(
        np.bincount(labels.truth * n + classifier.predicted, minlength=n * n).reshape(n, n)
    )


def learning_curve(
    features: np.ndarray, truth: np.ndarray, strengths: Sequence[float]
) -> Iterator[tuple[int, float]]:
    """Yield (training rows, accuracy) for 16, 32, 64 ... rows of each fold, and all of them.

    Each fold keeps its test rows and its penalty and learns from the first rows of its training
    rows in a random order, the same for every model.
    """
    splits = folds(truth)
    order = np.random.default_rng(SEED)
    shuffled = [order.permutation(train) for train, _ in splits]
    most = min(map(len, shuffled))
    for size in (*_doubling(most), most):
        right = [
            _right_from(features, truth, (train[:size], test), strength)
            for train, (_, test), strength in zip(shuffled, splits, strengths, strict=True)
        ]
        yield size, float(np.concatenate(right).mean())


def layer_accuracy(features: np.ndarray, truth: np.ndarray, strengths: Sequence[float]) -> float:
    """Return the out-of-fold accuracy of one layer's features with given penalties."""
    right = [
        _right_from(features, truth, split, strength)
        for split, strength in zip(folds(truth), strengths, strict=True)
    ]
    return float(np.concatenate(right).mean())


def _doubling(most: int) -> Iterator[int]:
    size = FEWEST
    while size < most:
        yield size
        size *= 2


def _right_from(
    features: np.ndarray, truth: np.ndarray, split: tuple[np.ndarray, np.ndarray], strength: float
) -> np.ndarray:
    """Return which test rows are right after training on one split."""
    train, test = split
    if len(np.unique(truth[train])) == 1:
        return truth[test] == truth[train][0]
    return (
        regression(strength).fit(features[train], truth[train]).predict(features[test])
        == truth[test]
    )


def _array(inputs: Sequence[str] | np.ndarray) -> np.ndarray:
    return inputs if isinstance(inputs, np.ndarray) else np.array(inputs, object)


def _scored(value: float, resampled: np.ndarray) -> Scored:
    return Scored(float(value), *percentile_interval(resampled))
