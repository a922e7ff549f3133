"""Scores of the models' own heads on the rows of a list: no head is trained, so none has folds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from explorer.analysis.measures import softmax
from explorer.lists.calibration import Calibration, calibration, cross_validated_temperature
from explorer.lists.comparison import (
    counted_once,
    difference_interval,
    f1_bootstrap,
    f1_of_labels,
    holm,
    sign_flip,
)
from explorer.lists.heads import AskedHeads, OwnHead
from explorer.lists.judge import ERROR_RATE, LabelledResult, Scored, mean_accuracy
from explorer.lists.labelled import Labels, folds
from explorer.lists.multilabel import JudgedSets, LabelSets, SetScores, exchange_test, set_scores
from explorer.lists.rows import TextList
from explorer.lists.scored import Truth, pearson, pearson_interval, spearman, spearman_interval
from explorer.lists.seen import copies_of_training, on_cards
from explorer.models.run import read_only
from explorer.models.specs import ONE_LABEL

NEARLY_ALL = 0.95
"""Accuracy from which on a head that may have seen the rows is said to be right on nearly all."""
CONTROLS: tuple[str, ...] = ("majority", "tfidf")
"""Classifiers that every head is compared with, besides the regression on its own features."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadScores:
    """Scores of one model's own head on the rows whose label it knows."""

    head: OwnHead
    rows: np.ndarray
    """bool [row]: the rows whose label the head knows. The others are not scored."""
    labels: tuple[str, ...]
    """The labels of the list that the head knows, sorted."""
    probabilities: np.ndarray
    """float64 [row, output of the head]"""
    predicted: np.ndarray
    """int64 [row], indices of the head's outputs."""
    right: np.ndarray
    """bool [row]; False where the label is unknown to the head."""
    accuracy: Scored
    """With Wilson's interval."""
    macro_f1: Scored
    """Mean F1 of ``labels``, with the interval of a bootstrap, see ``f1_bootstrap``."""
    confusion: np.ndarray
    """int64 [true, predicted]: both by ``labels``, and a last column for all other predictions."""
    calibration: Calibration

    @property
    def confidence(self) -> np.ndarray:
        """The probability of each row's predicted label: float64 [row]."""
        return self.probabilities[np.arange(len(self.predicted)), self.predicted]


@dataclass(frozen=True, slots=True)
class HeadDuel:
    """Two classifiers on the rows whose labels both know."""

    first: str
    second: str
    """A model whose own head it is, ``majority``, ``tfidf``, or a model whose frozen features."""
    n_rows: int
    difference: Scored
    """Accuracy of the first less that of the second, with the paired interval."""
    only_first: int
    """Rows that only the first has right."""
    only_second: int
    p_value: float
    """McNemar's exact test; with groups the exact test that exchanges both in whole groups."""
    corrected: float
    """The p value after Holm's correction for all comparisons of its kind."""

    @property
    def better_and_worse(self) -> tuple[str, str]:
        """The two, the one that is right on more rows first."""
        is_ahead = self.only_first > self.only_second
        return (self.first, self.second) if is_ahead else (self.second, self.first)


@dataclass(frozen=True, slots=True)
class HeadVerdict:
    """Result of all tests of the heads, at an error rate of 1% for all of them together."""

    learned: tuple[str, ...] = ()
    """The heads that are better than always answering the most frequent label."""
    best: tuple[str, ...] = ()
    """The head that is right most often, and those that the rows cannot tell from it; empty where
    none has learned."""
    unsure: tuple[str, ...] = ()
    """Heads that have not learned, and that the rows cannot tell from the best either."""
    is_sole: bool = False
    """True where all other heads are significantly worse than the best."""
    words: int = 0
    """1 where a bag of words is significantly better than the best head, -1 where it is worse, or
    where none learns from the rows."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadsResult:
    """Scores of the models' own heads, and how they compare."""

    asked: AskedHeads = field(default_factory=AskedHeads)
    scores: Mapping[str, HeadScores] = field(default_factory=dict)
    """By model."""
    same_rows: Mapping[str, Scored] = field(default_factory=dict)
    """Accuracy of the regressions and the baselines on the rows that all heads can be scored on."""
    duels: tuple[HeadDuel, ...] = ()
    """Each two heads."""
    against: tuple[HeadDuel, ...] = ()
    """Each head against the most frequent label, TF-IDF and the regression on its own features."""
    verdict: HeadVerdict = field(default_factory=HeadVerdict)
    on_cards: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """By model the data sets that its card names and whose form the list has: see ``seen``."""
    copies: int = 0
    """Rows that are word for word in the training rows of SST-2; 0 for a few of many."""

    @property
    def as_if_seen(self) -> tuple[str, ...]:
        """The heads that are right on nearly all rows of a list of which many are in SST-2."""
        return tuple(
            key
            for key, each in self.scores.items()
            if self.copies and each.accuracy.value >= NEARLY_ALL
        )


def labelled_heads(
    asked: AskedHeads, logits: Mapping[str, np.ndarray], texts: TextList, result: LabelledResult
) -> HeadsResult:
    """Return the scores of the heads on labelled rows.

    Args:
        asked: The heads.
        logits: By model float32 [row, output].
        texts: The rows.
        result: The regressions on the same rows.
    """
    labels = result.labels
    if not asked.heads:
        return HeadsResult(asked)
    is_learnt = any(each.choices for each in result.judged.values())
    scores = {
        key: head_scores(head, logits[key], labels, is_learnt) for key, head in asked.heads.items()
    }
    rows = np.all([each.rows for each in scores.values()], 0)
    others = {key: each.predicted == labels.truth for key, each in result.judged.items()}
    same = {
        key: mean_accuracy(right[rows], labels.part(rows), bool(result.judged[key].choices))
        for key, right in others.items()
        if rows.any()
    }
    pairs = [
        (a, b, scores[a].rows & scores[b].rows, scores[a].right, scores[b].right)
        for a, b in combinations(scores, 2)
    ]
    against = [
        (key, other, each.rows, each.right, others[other])
        for key, each in scores.items()
        for other in (*CONTROLS, key)
        if other in others
    ]
    duels, controls = _duels(pairs, labels), _duels(against, labels)
    return HeadsResult(
        *(asked, scores, same, duels, controls),
        verdict(scores, duels, controls),
        on_cards(asked.data, texts),
        copies_of_training(texts),
    )


def head_scores(
    head: OwnHead, logits: np.ndarray, labels: Labels, fits_temperature: bool = True
) -> HeadScores:
    """Return the scores of one head on labelled rows.

    The prediction is the label with the largest output, also of a head whose labels do not exclude
    each other. Rows whose label the head does not know are left out.

    Args:
        head: The head, with the output of each label of the list.
        logits: float [row, output].
        labels: Labels and groups of the rows.
        fits_temperature: False where the rows are too few, or of one label alone, for folds.
    """
    from scipy.special import expit

    exact = logits.astype(np.float64)
    probabilities = softmax(exact) if head.problem == ONE_LABEL else expit(exact)
    place = np.array([head.places.get(name, -1) for name in labels.names], np.int64)
    truth, predicted = place[labels.truth], exact.argmax(1)
    rows, right = truth >= 0, (truth >= 0) & (truth == predicted)
    known, part = tuple(name for name in labels.names if name in head.places), labels.part(rows)
    counts = _confusion(head, known, truth[rows], predicted[rows])
    counted = counted_once(int(rows.sum()), part.groups)
    f1 = Scored(float(np.nanmean(f1_of_labels(counts))), *f1_bootstrap(counts, counted))
    temperature = None
    if fits_temperature and head.problem == ONE_LABEL:
        fold = fold_of(labels)[rows]
        temperature = cross_validated_temperature(exact[rows], truth[rows], fold, part.groups)
    confidence = probabilities[np.arange(len(predicted)), predicted]
    return HeadScores(
        head,
        read_only(rows),
        known,
        read_only(probabilities),
        read_only(predicted),
        read_only(right),
        mean_accuracy(right[rows], part, is_trained=False),
        f1,
        counts,
        calibration(confidence[rows], right[rows], part.groups, temperature),
    )


def fold_of(labels: Labels) -> np.ndarray:
    """Return the fold of each row, int64 [row], the same as those of the regressions."""
    fold = np.zeros(len(labels.truth), np.int64)
    for number, (_, test) in enumerate(folds(labels)):
        fold[test] = number
    return fold


def _confusion(
    head: OwnHead, known: Sequence[str], truth: np.ndarray, predicted: np.ndarray
) -> np.ndarray:
    """Return int64 [true, predicted]; the last column has what is no label of the list."""
    n = len(known)
    of_output = np.full(len(head.labels), n)
    of_output[[head.places[name] for name in known]] = np.arange(n)
    flat = of_output[truth] * (n + 1) + of_output[predicted]
    return read_only(np.bincount(flat, minlength=n * (n + 1)).reshape(n, n + 1))


Rights = tuple[str, str, np.ndarray, np.ndarray, np.ndarray]
"""Two classifiers, the rows on which they are compared, and which each has right: bool [row]."""


def _duels(pairs: Sequence[Rights], labels: Labels) -> tuple[HeadDuel, ...]:
    """Compare two classifiers each, with p values corrected for the number of pairs."""
    compared = [
        _compared(right[rows], other[rows], labels.part(rows)) for *_, rows, right, other in pairs
    ]
    corrected = holm([p_value for *_, p_value in compared])
    return tuple(
        HeadDuel(first, second, int(rows.sum()), *each, p_value)
        for (first, second, rows, *_), each, p_value in zip(pairs, compared, corrected, strict=True)
    )


def _compared(
    first: np.ndarray, second: np.ndarray, labels: Labels
) -> tuple[Scored, int, int, float]:
    """Return the difference of two accuracies, the rows that only one has right, and p."""
    only = int((first & ~second).sum()), int((second & ~first).sum())
    n = len(first)
    if not n:
        return Scored(0.0, -1.0, 1.0), *only, 1.0
    counts = counted_once(n, labels.groups)
    interval = difference_interval(only[0] / n, only[1] / n, counts)
    p_value = sign_flip(first.astype(int) - second, labels.groups)
    return Scored((only[0] - only[1]) / n, *interval), *only, p_value


def verdict(
    scores: Mapping[str, HeadScores], duels: Sequence[HeadDuel], against: Sequence[HeadDuel]
) -> HeadVerdict:
    """Return what the tests say of the heads, corrected for all of them together by Holm."""
    tests = [*duels, *(each for each in against if each.second in CONTROLS)]
    sure = [
        each.better_and_worse
        for each, p_value in zip(tests, holm([each.p_value for each in tests]), strict=True)
        if p_value < ERROR_RATE
    ]
    learned = tuple(key for key in scores if (key, "majority") in sure)
    if not learned:
        return HeadVerdict()
    best = max(learned, key=lambda key: scores[key].accuracy.value)
    rivals = [key for key in scores if key != best and (best, key) not in sure]
    taken = tuple(key for key in learned if key == best or key in rivals)
    is_tested = any(each.second == "tfidf" for each in tests)
    words = int(("tfidf", best) in sure) if is_tested and (best, "tfidf") not in sure else -1
    unsure = tuple(key for key in rivals if key not in taken)
    return HeadVerdict(learned, taken, unsure, not rivals, words)


@dataclass(frozen=True, slots=True, eq=False)
class HeadSets:
    """Scores of one model's own head on rows with several labels, by the labels that it knows."""

    head: OwnHead
    labels: tuple[str, ...]
    predicted: np.ndarray
    """bool [row, label]: probability above one half."""
    scores: SetScores
    calibration: Calibration
    """Of the probability of each label on each row."""


@dataclass(frozen=True, slots=True)
class SetDuel:
    """Two heads by their macro F1 over the labels that both know."""

    first: str
    second: str
    macro: float
    """Macro F1 of the first less that of the second."""
    p_value: float
    """Two-sided, by exchanging the predictions of whole rows or groups (Yeh 2000)."""
    corrected: float
    """After Holm's correction for all pairs."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadSetsResult:
    """Scores of the models' own heads on rows with several labels."""

    asked: AskedHeads = field(default_factory=AskedHeads)
    scores: Mapping[str, HeadSets] = field(default_factory=dict)
    duels: tuple[SetDuel, ...] = ()


def multilabel_heads(
    asked: AskedHeads, logits: Mapping[str, np.ndarray], sets: LabelSets
) -> HeadSetsResult:
    """Return the scores of the heads on rows with several labels.

    Args:
        asked: The heads.
        logits: By model float32 [row, output].
        sets: Labels and groups of the rows.
    """
    scores = {key: _head_sets(head, logits[key], sets) for key, head in asked.heads.items()}
    found = []
    for a, b in combinations(scores, 2):
        both = [name for name in scores[a].labels if name in scores[b].labels]
        if not both:
            continue
        part = _sets_of(sets, both)
        given = [
            each.predicted[:, [each.labels.index(name) for name in both]]
            for each in (scores[a], scores[b])
        ]
        first, second = (set_scores(part, JudgedSets(each)).macro.value for each in given)
        found.append((a, b, first - second, exchange_test(part, *given)))
    corrected = holm([p_value for *_, p_value in found])
    duels = tuple(SetDuel(*each, p) for each, p in zip(found, corrected, strict=True))
    return HeadSetsResult(asked, scores, duels)


def _sets_of(sets: LabelSets, names: Sequence[str]) -> LabelSets:
    """Return the label sets of some of the labels."""
    places = [sets.names.index(name) for name in names]
    return LabelSets(tuple(names), sets.truth[:, places], sets.groups)


def _head_sets(head: OwnHead, logits: np.ndarray, sets: LabelSets) -> HeadSets:
    from scipy.special import expit

    known = tuple(name for name in sets.names if name in head.places)
    part = _sets_of(sets, known)
    p = expit(logits.astype(np.float64))[:, [head.places[name] for name in known]]
    predicted = p > 0.5
    groups = np.arange(len(p)) if sets.groups is None else sets.groups
    return HeadSets(
        head,
        known,
        read_only(predicted),
        set_scores(part, JudgedSets(predicted)),
        calibration(p.ravel(), part.truth.ravel(), np.repeat(groups, len(known))),
    )


@dataclass(frozen=True, slots=True, eq=False)
class HeadCorrelations:
    """Agreement of the score of one model's own head with the scores of a list."""

    head: OwnHead
    values: np.ndarray
    """float64 [row], as the head gives them."""
    spearman: Scored
    pearson: Scored


@dataclass(frozen=True, slots=True, eq=False)
class HeadScoresResult:
    """Scores of the models' own heads on rows with a score."""

    asked: AskedHeads = field(default_factory=AskedHeads)
    scores: Mapping[str, HeadCorrelations] = field(default_factory=dict)


def scored_heads(
    asked: AskedHeads, logits: Mapping[str, np.ndarray], truth: Truth
) -> HeadScoresResult:
    """Return the correlations of the heads' scores with those of a list.

    Args:
        asked: The heads, each with one output.
        logits: By model float32 [row, 1].
        truth: Scores and groups of the rows.
    """
    n, scores = counted_once(len(truth.scores), truth.groups), {}
    for key, head in asked.heads.items():
        values = logits[key][:, 0].astype(np.float64)
        rank, linear = spearman(values, truth.scores), pearson(values, truth.scores)
        scores[key] = HeadCorrelations(
            head,
            read_only(values),
            Scored(rank, *spearman_interval(rank, n)),
            Scored(linear, *pearson_interval(linear, n)),
        )
    return HeadScoresResult(asked, scores)
