"""Scores of classifiers on labelled rows, with intervals, what they recommend, and near-copies."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from explorer.analysis.digits import enumerated
from explorer.lists.comparison import (
    counted_once,
    difference_interval,
    f1_interval,
    macro_f1_of,
    sign_flip,
    wilson,
)
from explorer.lists.labelled import BASELINES, Cost, Judged, Labels, Split, folds
from explorer.models.run import read_only
from explorer.models.tokens import SEPARATOR

COPY = 0.5
"""Two rows are near-copies if they share at least this part of the words that either has."""
WORD = re.compile(r"\w+")
COUNTED = 0.5
"""Share of the rows that count for the interval of a difference."""
INFLATION = 0.7
"""Excess variance of an accuracy from five folds where nothing is learnt: the folds have training
rows in common, so that the errors of rows depend on each other. Simulated, it is 0.4 to 0.8 there
and falls to 0 as the accuracy rises to 100%."""
ERROR_RATE = 0.01
"""Chance of any advice where there is no difference, shared equally by all comparisons."""
FASTER = 0.8
"""A model is called faster than another if it needs at most this share of its time."""
NOTHING = "No model is significantly better than {guess}, as far as {n} rows can show."
MOST_FREQUENT = "always answering the most frequent label"
EVERY_LABEL = "always giving every label"
BAG = (
    "A bag of words may do as well: no model is significantly better than TF-IDF with the same "
    "regression, as far as {n} rows can show."
)
BEST = (
    "{best} is the best of these models for your labels: the others are significantly worse on "
    "{n} rows."
)
ALONE = "{best} is significantly better than a bag of words on {n} rows; no other model was read."
ALIKE = "{best} are significantly better than a bag of words; {n} rows are too few to tell {which}."
OPEN = (
    "{best} is significantly better than a bag of words; {n} rows are too few to tell it from "
    "{rivals}."
)
TAKE = " Take {smallest}: it is the smallest{fastest}."
BOTH = " and the fastest"
FASTEST = "; {name} is the fastest"
BELOW = (
    "{names} {are} right less often than always answering the most frequent label: what was learnt "
    "from the other rows misleads. This happens where rows that resemble each other have different "
    "labels (keep such rows together by a group), or by chance where there is nothing to learn."
)


@dataclass(frozen=True, slots=True)
class Scored:
    """Score with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """Accuracy of the first classifier minus that of the second, on the same rows."""

    first: str
    second: str
    accuracy: Scored
    macro_f1: float
    only_first: int
    """Rows that only the first has right."""
    only_second: int
    p_value: float
    """McNemar's exact test; with groups the exact test that exchanges both in whole groups."""


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

    @property
    def below_guessing(self) -> tuple[str, ...]:
        """The classifiers whose interval is below always answering the most frequent label."""
        guess = np.bincount(self.labels.truth).max() / len(self.labels.truth)
        return tuple(key for key, score in self.accuracy.items() if score.high < guess)


def labelled_result(labels: Labels, by_classifier: Mapping[str, Judged]) -> LabelledResult:
    """Return the scores, their intervals and their differences from out-of-fold predictions."""
    truth = labels.truth
    right = {key: each.predicted == truth for key, each in by_classifier.items()}
    f1 = {key: f1_scored(each, labels) for key, each in by_classifier.items()}
    models = [hits for key, hits in right.items() if key not in BASELINES]
    return LabelledResult(
        labels,
        by_classifier,
        {key: accuracy(by_classifier[key], labels) for key in by_classifier},
        f1,
        tuple(_difference(labels, right, f1, pair) for pair in combinations(by_classifier, 2)),
        {key: confusion(labels, each) for key, each in by_classifier.items()},
        tuple(int(i) for i in np.flatnonzero(~np.any(models, 0))) if models else (),
    )


def accuracy(classifier: Judged, labels: Labels) -> Scored:
    """Return the share of right rows, with its interval; see ``mean_accuracy``."""
    right = classifier.predicted == labels.truth
    return mean_accuracy(right, labels, is_trained=bool(classifier.choices))


def mean_accuracy(right: np.ndarray, labels: Labels, is_trained: bool = True) -> Scored:
    """Return the mean share of right rows, with Wilson's interval for the rows that count.

    Rows of one group count once (unequal groups: fewer). For a classifier that is trained fold by
    fold the number is divided by 1 + 0.7 (1 - s)^2, where s is the accuracy above always answering
    the most frequent label, as a share of what is possible. The interval then covers the accuracy
    of these five trained classifiers on further rows of the same kind in 95% of cases, not that of
    another training.

    Example: 60 of 60 rows are right in 100% [94.0%, 100%], whatever was trained.
    """
    value = float(right.mean())
    return Scored(value, *wilson(value, _counted(labels, value, is_trained)))


def f1_scored(classifier: Judged, labels: Labels) -> Scored:
    """Return the macro F1 with its interval, for as many rows as count for the accuracy."""
    counts = confusion(labels, classifier)
    value = float(np.trace(counts) / counts.sum())
    n = _counted(labels, value, bool(classifier.choices))
    return Scored(macro_f1_of(counts), *f1_interval(counts, n))


def _counted(labels: Labels, value: float, is_trained: bool) -> float:
    """Return the number of rows that count for the interval of an accuracy."""
    n = counted_once(len(labels.truth), labels.groups)
    guess = float(np.bincount(labels.truth).max() / len(labels.truth))
    skill = max(0.0, value - guess) / (1 - guess) if guess < 1 else 1.0
    return n / (1 + INFLATION * (1 - skill) ** 2) if is_trained else n


def _difference(
    labels: Labels, right: Mapping[str, np.ndarray], f1: Mapping[str, Scored], pair: tuple[str, str]
) -> Difference:
    a, b = pair
    only = int((right[a] & ~right[b]).sum()), int((right[b] & ~right[a]).sum())
    n = len(labels.truth)
    counts = COUNTED * counted_once(n, labels.groups)
    interval = difference_interval(only[0] / n, only[1] / n, counts)
    scored = Scored((only[0] - only[1]) / n, *interval)
    p_value = sign_flip(right[a].astype(int) - right[b], labels.groups)
    return Difference(a, b, scored, f1[a].value - f1[b].value, *only, p_value)


def gain(labels: Labels, first: Judged, second: Judged) -> Scored:
    """Return the accuracy of the first less that of the second, with its paired 95% interval."""
    right = [each.predicted == labels.truth for each in (first, second)]
    n = len(labels.truth)
    only_first, only_second = (float((a & ~b).sum()) / n for a, b in (right, right[::-1]))
    counts = COUNTED * counted_once(n, labels.groups)
    interval = difference_interval(only_first, only_second, counts)
    return Scored(only_first - only_second, *interval)


def confusion(labels: Labels, classifier: Judged) -> np.ndarray:
    """Return how often each label is predicted for each true one: int64 [true, predicted]."""
    n = len(labels.names)
    return read_only(
        np.bincount(labels.truth * n + classifier.predicted, minlength=n * n).reshape(n, n)
    )


@dataclass(frozen=True, slots=True)
class Advice:
    """Sentence for the reader, and the models that it names."""

    sentence: str
    models: tuple[str, ...]
    """The models that may be recommended; empty where none is."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Classifiers of which some may be recommended, and how they compare."""

    models: tuple[str, ...]
    values: Mapping[str, float]
    """By classifier its score."""
    compared: Sequence[tuple[str, str, float, float]]
    """First and second classifier, by how much the first is better, and the p value."""
    n_rows: int
    guess: str
    """Words for what the baseline ``majority`` does."""


def advice(
    result: LabelledResult, names: Mapping[str, str], costs: Mapping[str, Cost] | None = None
) -> Advice:
    """Return what the accuracies allow to say; see ``recommended``."""
    compared = [
        (each.first, each.second, float(each.only_first - each.only_second), each.p_value)
        for each in result.differences
    ]
    values = {key: each.value for key, each in result.accuracy.items()}
    n_rows = len(result.labels.truth)
    found = Candidates(result.models, values, compared, n_rows, MOST_FREQUENT)
    return recommended(found, names, costs)


def recommended(
    found: Candidates, names: Mapping[str, str], costs: Mapping[str, Cost] | None = None
) -> Advice:
    """Return which model is best, as far as the rows can show.

    A difference counts if the test on the out-of-fold predictions stays below 1% after division by
    the number of comparisons: each model with two baselines and with each other.
    """
    n_rows, models, beaten = f"{found.n_rows:,}", found.models, _beaten(found)
    learned = [key for key in models if (key, "majority") in beaten]
    useful = [key for key in learned if (key, "tfidf") in beaten]
    if not learned:
        return Advice(NOTHING.format(guess=found.guess, n=n_rows), ())
    if not useful:
        return Advice(BAG.format(n=n_rows), ())
    best = max(useful, key=lambda key: found.values[key])
    rivals = [key for key in models if key != best and (best, key) not in beaten]
    taken = [key for key in models if key == best or (key in rivals and key in useful)]
    if len(taken) > 1:
        which = "them apart"
        others = [names[key] for key in rivals if key not in taken]
        which += f", or from {enumerated(others)}" * bool(others)
        sentence = ALIKE.format(best=enumerated(names[key] for key in taken), n=n_rows, which=which)
        sentence += _cheapest(taken, names, costs or {})
    elif rivals:
        sentence = OPEN.format(
            best=names[best], rivals=enumerated(names[key] for key in rivals), n=n_rows
        )
    else:
        sentence = (BEST if len(models) > 1 else ALONE).format(best=names[best], n=n_rows)
    return Advice(sentence, tuple(taken))


def _beaten(found: Candidates) -> set[tuple[str, str]]:
    """Return the (better, worse) classifiers that differ significantly."""
    return {
        (first, second) if better > 0 else (second, first)
        for first, second, better, p_value in found.compared
        if p_value * len(found.compared) < ERROR_RATE
    }


def _cheapest(keys: Sequence[str], names: Mapping[str, str], costs: Mapping[str, Cost]) -> str:
    """Say which of equally good models to take: the smallest; empty where no size differs."""
    known = sorted((costs[key].megabytes, key) for key in keys if key in costs)
    if len(known) < len(keys) or known[0][0] == known[1][0]:
        return ""
    smallest = known[0][1]
    times = sorted((costs[key].ms_per_row, key) for key in keys)
    is_ahead, fastest = times[0][0] <= FASTER * times[1][0], times[0][1]
    said = ""
    if is_ahead:
        said = BOTH if fastest == smallest else FASTEST.format(name=names[fastest])
    return TAKE.format(smallest=names[smallest], fastest=said)


def below_guessing(result: LabelledResult, names: Mapping[str, str]) -> str:
    """Return why classifiers are worse than guessing; empty where none is."""
    keys = result.below_guessing
    said = BELOW.format(
        names=enumerated(names[key] for key in keys), are="is" if len(keys) == 1 else "are"
    )
    return said if keys else ""


@dataclass(frozen=True, slots=True)
class NearCopies:
    """Rows that have a near-copy among the rows which they are judged by training on."""

    n: int
    n_other_label: int
    """The number of these rows that have one with another label."""


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, signs left out; the text itself without any."""
    return frozenset(WORD.findall(text.replace(SEPARATOR, " ").lower()) or [text.strip()])


def near_copies(texts: Sequence[str], labels: Labels) -> NearCopies:
    """Count the labelled rows with a near-copy in another fold; see ``copies_between``."""
    return copies_between(texts, folds(labels), labels.truth)


def copies_between(texts: Sequence[str], splits: Sequence[Split], truth: np.ndarray) -> NearCopies:
    """Count the rows with a near-copy in another fold, whose regression has therefore seen it.

    Near-copies share half or more of the different words that either has (Jaccard 1901), whatever
    their order, case and signs. Rows of one group are in one fold.

    Args:
        texts: The rows.
        splits: The (training rows, test rows) of each fold.
        truth: The label or the score of each row.
    """
    from scipy.sparse import csr_array

    words: dict[str, int] = {}
    rows = [[words.setdefault(word, len(words)) for word in words_of(text)] for text in texts]
    sizes = np.array([len(row) for row in rows])
    ends = np.concatenate([[0], np.cumsum(sizes)])
    ones = np.ones(ends[-1], np.int64)
    occurs = csr_array((ones, np.concatenate(rows), ends), shape=(len(rows), len(words)))
    shared = (occurs @ occurs.T).tocoo()
    fold = np.empty(len(rows), np.int64)
    for place, (_, test) in enumerate(splits):
        fold[test] = place
    row, other = shared.coords
    either = sizes[row] + sizes[other] - shared.data
    is_copy = (shared.data >= COPY * either) & (fold[row] != fold[other])
    is_other = is_copy & (truth[row] != truth[other])
    return NearCopies(len(np.unique(row[is_copy])), len(np.unique(row[is_other])))
