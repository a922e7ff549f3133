"""Labelled rows: a logistic regression on frozen features, with two baselines, on equal folds."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.digits import counted
from explorer.lists.roles import MAX_LABELS, MIN_CLASSES, BadRows, LeftOut
from explorer.lists.rows import TextList
from explorer.models.run import read_only
from explorer.refusal import Sentence

FOLDS, INNER_FOLDS = 5, 3
MIN_ROWS = 40
STRENGTHS = (0.0001, 0.001, 0.01, 0.1, 1.0)
"""Values of scikit-learn's C, of which each fold chooses one on its training rows."""
WORDS_STRENGTH = 100.0
"""Factor of C for TF-IDF."""
PATTERNS: tuple[str, ...] = (r"(?u)\b\w\w+\b", r"(?u)\w+|[^\w\s]")
"""Patterns of a word for TF-IDF, of which each fold chooses one on its training rows:
scikit-learn's default, words of two letters or more; or every word and every sign."""
MAX_ITERATIONS = 200
FEWEST = 16
"""Smallest training set of the learning curve; each next one has twice as many rows."""
REPEATS = 3
"""Random training sets of each size and fold in the learning curve."""
SEED = 0
BASELINES: tuple[str, ...] = ("tfidf", "majority")
"""TF-IDF of words with the same regression; and always the most frequent label."""
RARE_LABEL = Sentence(
    "row-rare-label",
    "Its label “{label}” is on {n} of {all} rows; {least} are needed for {least} folds.",
)
RARE_IN_GROUPS = Sentence(
    "row-label-in-few-groups",
    "The rows of its label “{label}” are in {groups}; {least} are needed, because a group stays "
    "together in one of {least} folds.",
)
ONE_LABEL = Sentence(
    "one-usable-label",
    "All rows that can be used have the label “{label}”: there is nothing to tell apart.",
)
MANY_LABELS = Sentence(
    "too-many-labels", "There are {n} different labels; at most {most} are compared."
)
SAME_LABEL = Sentence(
    "same-label",
    "All rows have the label “{label}”: there is nothing to tell apart. Add rows with another "
    "label, or read them as sentences.",
)
FEW_ROWS = Sentence(
    "few-rows", "{rows}; at least {least} are needed. Add rows, or read them as sentences."
)
FEW_USABLE = Sentence(
    "few-usable-rows",
    "{n} of {rows} can be used, and at least {least} are needed. Row {number}: {reason}",
)


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Labels of the rows of a list, as numbers, and which rows stay together."""

    names: tuple[str, ...]
    """Sorted."""
    truth: np.ndarray
    """int64 [row], indices of ``names``."""
    groups: np.ndarray | None = None
    """int64 [row]: rows of one group are never on both sides of a split; None: every row may be
    separated from every other."""

    def part(self, rows: np.ndarray) -> "Labels":
        """Return the labels and groups of some rows."""
        groups = None if self.groups is None else self.groups[rows]
        return Labels(self.names, self.truth[rows], groups)

    def least(self) -> int:
        """Return the smallest number of groups, or of rows without groups, that have one label."""
        rows = np.arange(len(self.truth)) if self.groups is None else self.groups
        return min(len(np.unique(rows[self.truth == label])) for label in np.unique(self.truth))


@dataclass(frozen=True, slots=True)
class Choice:
    """Setting of a classifier that was chosen on training rows."""

    strength: float
    """scikit-learn's C."""
    way: str
    """The pattern of a word for TF-IDF; empty for features."""
    loss: float
    """Mean log-loss over the inner folds, in nats a row; nan without any."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Predictions of one classifier for every row, each made without that row."""

    predicted: np.ndarray
    """int64 [row]"""
    choices: tuple[Choice, ...] = ()
    """The setting that each fold chose; none for a constant."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Preparation of the input, in one of several ways, for the same logistic regression."""

    ways: tuple[str, ...]
    prepares: Callable[[str], Any]
    """Unfitted transformer of scikit-learn by way."""
    factor: float = 1.0
    """Factor of C."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a classifier; the regression on the features of an encoder is not counted."""

    ms_per_row: float
    megabytes: float


Split = tuple[np.ndarray, np.ndarray]
Check = Callable[[], None]


def usable(texts: TextList) -> TextList:
    """Return the rows whose label is on enough rows, or in enough groups, for every fold.

    Raises:
        BadRows: one label is left, there are too many, or too few rows.
    """
    units: dict[str, set[object]] = {}
    for row in texts.rows:
        units.setdefault(row.label, set()).add(row.group or row.number)
    counts = {label: len(found) for label, found in units.items()}
    if len(units) == 1:
        raise BadRows(SAME_LABEL.format(label=next(iter(units))))
    template = RARE_IN_GROUPS if any(row.group for row in texts.rows) else RARE_LABEL
    rare = [
        LeftOut(
            row.number,
            template.format(
                label=row.label,
                n=counts[row.label],
                groups=counted(counts[row.label], "group"),
                all=len(texts.rows),
                least=FOLDS,
            ),
        )
        for row in texts.rows
        if counts[row.label] < FOLDS
    ]
    kept = [label for label, count in counts.items() if count >= FOLDS]
    n_rows = len(texts.rows) - len(rare)
    if len(kept) > MAX_LABELS:
        raise BadRows(MANY_LABELS.format(n=len(kept), most=MAX_LABELS))
    if len(kept) == 1 and len(texts.rows) >= MIN_ROWS:
        raise BadRows(ONE_LABEL.format(label=kept[0]))
    if n_rows < MIN_ROWS or len(kept) < MIN_CLASSES:
        rows = counted(len(texts.rows), "labelled row")
        if len(texts.rows) < MIN_ROWS or not rare:
            raise BadRows(FEW_ROWS.format(rows=rows, least=MIN_ROWS))
        first = {"number": rare[0].number, "reason": rare[0].reason}
        raise BadRows(FEW_USABLE.format(n=f"{n_rows:,}", rows=rows, least=MIN_ROWS, **first))
    return texts.without(rare)


def labels_of(texts: TextList) -> Labels:
    """Return the labels and the groups of a list as numbers; a row without a group is its own."""
    names = sorted({row.label for row in texts.rows})
    places = {name: place for place, name in enumerate(names)}
    truth = np.array([places[row.label] for row in texts.rows], np.int64)
    if not any(row.group for row in texts.rows):
        return Labels(tuple(names), read_only(truth))
    units: dict[object, int] = {}
    groups = [units.setdefault(row.group or row.number, len(units)) for row in texts.rows]
    return Labels(tuple(names), read_only(truth), read_only(np.array(groups, np.int64)))


def scaled(_way: str = "") -> Any:  # noqa: ANN401 - scikit-learn is imported only here
    """Return an unfitted scaler of features."""
    from sklearn.preprocessing import StandardScaler

    return StandardScaler()


def bag_of_words(pattern: str) -> Any:  # noqa: ANN401 - scikit-learn is imported only here
    """Return an unfitted TF-IDF of the words that match a pattern."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(token_pattern=pattern, sublinear_tf=True)


FEATURES = Recipe(("",), scaled)
"""Standardized features of an encoder."""
WORDS = Recipe(PATTERNS, bag_of_words, WORDS_STRENGTH)
"""TF-IDF. Its rows have length 1, not that of standardized features: C is larger throughout."""


def folds(labels: Labels, n: int = FOLDS) -> list[Split]:
    """Return the (training rows, test rows) of n stratified folds, the same for everybody."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    kind = StratifiedKFold if labels.groups is None else StratifiedGroupKFold
    return _splits(kind(n, shuffle=True, random_state=SEED), labels)


def inner_folds(labels: Labels) -> list[Split]:
    """Return the splits of training rows on which a setting is chosen: three, two or none.

    They are stratified unless a label is on one row, or in one group, only.
    """
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    n = min(INNER_FOLDS, labels.least())
    if n > 1:
        kind = StratifiedKFold if labels.groups is None else StratifiedGroupKFold
        return _splits(kind(n, shuffle=True, random_state=SEED), labels)
    if labels.groups is None:
        return _splits(KFold(INNER_FOLDS, shuffle=True, random_state=SEED), labels)
    n_groups = len(np.unique(labels.groups))
    return _splits(GroupKFold(min(INNER_FOLDS, n_groups)), labels) if n_groups > 1 else []


def _splits(kfold: Any, labels: Labels) -> list[Split]:  # noqa: ANN401 - of scikit-learn
    found = kfold.split(np.zeros(len(labels.truth)), labels.truth, labels.groups)
    return [(train, test) for train, test in found if len(train) and len(test)]


def judged(
    inputs: Sequence[str] | np.ndarray,
    labels: Labels,
    recipe: Recipe = FEATURES,
    check: Check = lambda: None,
    splits: Sequence[Split] | None = None,
) -> Judged:
    """Return out-of-fold predictions; each fold chooses its setting on its training rows only.

    Args:
        inputs: Texts, or features float [row, d].
        labels: Labels and groups of the rows.
        recipe: Preparation of the inputs.
        check: Called before each training; what it raises ends all.
        splits: Training rows and test rows of each fold; None: those of ``folds``. A row that no
            fold tests is predicted as -1.
    """
    data, predicted, choices = _array(inputs), np.full(len(labels.truth), -1, np.int64), []
    for train, test in folds(labels) if splits is None else splits:
        choice = chosen(data[train], labels.part(train), recipe, check)
        choices.append(choice)
        predicted[test] = _predicted(data, labels.truth, (train, test), recipe, choice)
    return Judged(read_only(predicted), tuple(choices))


def chosen(
    data: np.ndarray, labels: Labels, recipe: Recipe = FEATURES, check: Check = lambda: None
) -> Choice:
    """Return the C and the way with the smallest mean log-loss over the inner folds.

    Accuracies of few rows are often equal, log-losses are not, so the choice does not depend on
    rounding. Without inner folds it is the middle C.
    """
    splits = inner_folds(labels)
    if not splits:
        return Choice(STRENGTHS[len(STRENGTHS) // 2], recipe.ways[-1], float("nan"))
    by_way = []
    for way in recipe.ways:
        rows = []
        for split in splits:
            check()
            rows.append(_losses(data, labels.truth, split, recipe, way))
        by_way.append(np.mean(rows, axis=0))
    means = np.array(by_way).T  # the smallest C first, with all its ways
    best, place = divmod(int(np.argmin(means)), len(recipe.ways))
    return Choice(STRENGTHS[best], recipe.ways[place], float(means.min()))


def _losses(
    data: np.ndarray, truth: np.ndarray, split: Split, recipe: Recipe, way: str
) -> list[float]:
    """Return the log-loss by C; infinity where the training rows have no word of this way."""
    train, test = split
    if way and not has_words(data[train], way):
        return [np.inf] * len(STRENGTHS)
    prepares = recipe.prepares(way)
    learned, asked = prepares.fit_transform(data[train]), prepares.transform(data[test])
    models = (fitted(learned, truth[train], recipe.factor * C) for C in STRENGTHS)
    return [log_loss(model.predict_proba(asked), model.classes_, truth[test]) for model in models]


def has_words(texts: Sequence[str] | np.ndarray, pattern: str) -> bool:
    """Return whether any text has a word of a pattern."""
    return any(re.search(pattern, text.lower()) for text in texts)


def log_loss(probabilities: np.ndarray, classes: np.ndarray, truth: np.ndarray) -> float:
    """Return the mean of -ln P(true label), in nats.

    As in scikit-learn, probabilities are at least 2.2e-16; a label that was not in training has
    this one.

    Args:
        probabilities: float64 [row, class].
        classes: int64 [class], sorted.
        truth: int64 [row].
    """
    place = np.minimum(np.searchsorted(classes, truth), len(classes) - 1)
    found = probabilities[np.arange(len(truth)), place]
    found = np.where(classes[place] == truth, found, 0.0)
    return float(-np.log(np.clip(found, np.finfo(np.float64).eps, 1.0)).mean())


def _predicted(
    data: np.ndarray, truth: np.ndarray, split: Split, recipe: Recipe, choice: Choice
) -> np.ndarray:
    """Return the predictions of a split's test rows: int64 [test row]."""
    train, test = split
    prepares = recipe.prepares(choice.way)
    learned = prepares.fit_transform(data[train])
    model = fitted(learned, truth[train], recipe.factor * choice.strength)
    return np.asarray(model.predict(prepares.transform(data[test])))


def fitted(data: Any, truth: np.ndarray, strength: float) -> Any:  # noqa: ANN401 - of scikit-learn
    """Return a trained logistic regression; with one label only, that label for every row."""
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(truth)) == 1:
        return DummyClassifier(strategy="most_frequent").fit(data, truth)
    return LogisticRegression(C=strength, max_iter=MAX_ITERATIONS).fit(data, truth)


def bag_cost(texts: Sequence[str], truth: np.ndarray, choices: Sequence[Choice]) -> Cost:
    """Measure what a prediction from TF-IDF costs, and the size of its words and weights.

    Of the settings that the folds chose, it is that of the largest C.
    """
    data, choice = _array(texts), max(choices, key=lambda each: each.strength)
    words = bag_of_words(choice.way)
    classifier = fitted(words.fit_transform(data), truth, WORDS_STRENGTH * choice.strength)
    begun = time.thread_time()
    classifier.predict(words.transform(data))
    seconds = time.thread_time() - begun
    n_bytes = sum(len(word.encode()) for word in words.vocabulary_)
    n_bytes += words.idf_.nbytes + classifier.coef_.nbytes
    return Cost(1e3 * seconds / len(data), n_bytes / 1e6)


def majority(truth: np.ndarray) -> Judged:
    """Return the most frequent label of the list as the prediction for every row.

    A constant needs no training. Chosen fold by fold it would be the less frequent label of each
    test part, so that balanced rows would put it below guessing.
    """
    return Judged(read_only(np.full(len(truth), np.bincount(truth).argmax(), np.int64)))


def learning_curve(
    features: np.ndarray, labels: Labels, whole: Judged, check: Check = lambda: None
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (training rows, how often each row is right) for 16, 32, 64 ... rows, and all of them.

    Each fold keeps its test rows and learns from the first of its training rows in a random order,
    the same for every model, in which each label keeps its share. There are three orders. C is
    chosen on these rows only. The last point is that of all training rows, which are drawn once.

    Args:
        features: float [row, d].
        labels: Labels and groups of the rows.
        whole: What was judged from all training rows: the end of the curve.
        check: Called before each training; what it raises ends all.
    """
    splits, order = folds(labels), np.random.default_rng(SEED)
    shuffled = [
        (train[_evenly(labels.truth[train], order)], test)
        for train, test in splits
        for _ in range(REPEATS)
    ]
    most = min(len(train) for train, _ in splits)
    for size in _doubling(most):
        right = np.zeros(len(labels.truth))
        for train, test in shuffled:
            rows = train[:size]
            choice = chosen(features[rows], labels.part(rows), FEATURES, check)
            found = _predicted(features, labels.truth, (rows, test), FEATURES, choice)
            right[test] += (found == labels.truth[test]) / REPEATS
        yield size, right
    yield most, (whole.predicted == labels.truth).astype(np.float64)


def _evenly(truth: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return a random order of rows in whose first rows each label has its share of all."""
    order = generator.permutation(len(truth))
    places = np.empty(len(truth))
    for label in np.unique(truth):
        rows = order[truth[order] == label]
        places[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
    return order[np.argsort(places[order], kind="stable")]


def _doubling(most: int) -> Iterator[int]:
    size = FEWEST
    while size < most:
        yield size
        size *= 2


def best_layers(by_layer: Sequence[Judged], labels: Labels) -> tuple[Judged, tuple[int, ...]]:
    """Return out-of-fold predictions from the layer that each fold chose, and these layers.

    The layer is the one with the smallest mean log-loss over the inner folds; the lowest of
    equals. The test rows have no part in the choice, as they have in the best of the layers' own
    accuracies.
    """
    predicted, layers = np.empty(len(labels.truth), np.int64), []
    choices = []
    for fold, (_, test) in enumerate(folds(labels)):
        losses = np.nan_to_num([each.choices[fold].loss for each in by_layer], nan=np.inf)
        layer = int(np.argmin(losses))
        layers.append(layer)
        choices.append(by_layer[layer].choices[fold])
        predicted[test] = by_layer[layer].predicted[test]
    return Judged(read_only(predicted), tuple(choices)), tuple(layers)


def _array(inputs: Sequence[str] | np.ndarray) -> np.ndarray:
    return inputs if isinstance(inputs, np.ndarray) else np.array(inputs, object)
