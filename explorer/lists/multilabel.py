"""Rows with any number of labels: a logistic regression for each label on frozen features."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.digits import counted
from explorer.lists import labelled
from explorer.lists.comparison import counted_once, wilson
from explorer.lists.judge import (
    EVERY_LABEL,
    Advice,
    Candidates,
    NearCopies,
    Scored,
    copies_between,
    recommended,
)
from explorer.lists.labelled import (
    BASELINES,
    FEATURES,
    FEW_ROWS,
    FOLDS,
    INNER_FOLDS,
    MIN_ROWS,
    WORDS,
    Choice,
    Cost,
    Recipe,
    Split,
    fitted,
    has_words,
    log_loss,
)
from explorer.lists.roles import MAX_CLASSES, BadRows
from explorer.lists.rows import TextList
from explorer.lists.scored import splits_of
from explorer.models.run import read_only
from explorer.refusal import Sentence

if TYPE_CHECKING:
    from explorer.lists.head_scores import HeadSetsResult
    from explorer.lists.results import EncodedList, TextsOptions

LEAST = 10
"""Rows, or groups, that must have a label, and must lack it, for the label to be judged."""
SHUFFLES = 1
"""Random orders of the rows' labels that the control is the mean of. Each takes as long as the
classifiers themselves: for 200 rows with 20 labels, three models and a bag of words, half a minute
of one core, and twice that where other programs share it."""
COUNTED = 0.7
"""Share of the rows that count for the interval of an F1 of classifiers from five folds, which have
training rows in common. In simulations of 40 and of 120 rows all rows would cover in 85 to 97% of
cases."""
SPREAD = 0.5
"""Weight of each of four further rows that an interval counts: every label is found, given in vain,
missed, and rightly not given. So no interval has a width of 0."""
DRAWS, DRAWN_AT_ONCE = 4_999, 500
"""Random exchanges of two classifiers' predictions for the test of a difference."""
NO_LABELS = Sentence(
    "no-label-judged",
    "No label can be judged: {least} rows, or groups, must have a label and {least} must lack it. "
    "“{label}” is on {n} of {rows}.",
)


@dataclass(frozen=True, slots=True, eq=False)
class LabelSets:
    """Labels of rows that may have any number of them, and which rows stay together."""

    names: tuple[str, ...]
    """The labels that are judged, sorted."""
    truth: np.ndarray
    """bool [row, label]"""
    groups: np.ndarray | None = None
    """int64 [row]; None: every row is its own group."""
    omitted: tuple[tuple[str, int], ...] = ()
    """The labels that are not judged, with the number of their rows."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSets:
    """Predictions of one classifier for every row, each made without that row."""

    predicted: np.ndarray
    """bool [row, label]"""
    choices: tuple[Choice, ...] = ()
    """The setting that each fold chose; none for a constant."""


@dataclass(frozen=True, slots=True)
class SetScores:
    """Scores of one classifier."""

    macro: Scored
    """Mean over the labels of F1 = 2 TP / (2 TP + FP + FN)."""
    micro: Scored
    """F1 of the decisions on all labels together."""
    by_label: tuple[Scored, ...]
    control: float = float("nan")
    """Mean macro F1 of the same procedure on rows whose labels are exchanged; nan of a constant."""


@dataclass(frozen=True, slots=True)
class SetDifference:
    """Macro F1 of the first classifier minus that of the second, on the same rows."""

    first: str
    second: str
    macro: float
    p_value: float
    """Two-sided, by randomly exchanging both predictions of whole rows or groups (Yeh 2000)."""


@dataclass(frozen=True, slots=True, eq=False)
class MultilabelResult:
    """Scores of all classifiers on the same rows and folds: models, then baselines."""

    sets: LabelSets
    judged: Mapping[str, JudgedSets]
    scores: Mapping[str, SetScores]
    differences: tuple[SetDifference, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """The classifiers that are no baselines."""
        return tuple(key for key in self.judged if key not in BASELINES)


@dataclass(frozen=True, slots=True, eq=False)
class MultilabelList:
    """Rows with any number of labels through all models, next to two baselines."""

    texts: TextList
    labels: Mapping[str, str]
    pooling: str
    layers: Mapping[str, int]
    """By model the layer whose features are judged; 0 is the embeddings."""
    result: MultilabelResult
    costs: Mapping[str, Cost]
    """By model, measured on these rows."""
    advice: Advice
    copies: NearCopies
    heads: "HeadSetsResult"
    """The models' own heads on the same rows."""


def sets_of(texts: TextList) -> LabelSets:
    """Return the labels of a list that can be judged, and its groups; a row alone is its own.

    Raises:
        BadRows: there are too few rows, or no label is on enough of them.
    """
    rows = texts.rows
    if len(rows) < MIN_ROWS:
        raise BadRows(FEW_ROWS.format(rows=counted(len(rows), "labelled row"), least=MIN_ROWS))
    units: dict[object, int] = {}
    groups = np.array([units.setdefault(row.group or row.number, len(units)) for row in rows])
    counts: dict[str, int] = {}
    of_label: dict[str, set[int]] = {}
    for row, unit in zip(rows, groups.tolist(), strict=True):
        for label in row.labels:
            counts[label] = counts.get(label, 0) + 1
            of_label.setdefault(label, set()).add(unit)
    able = [
        label
        for label in counts
        if len(of_label[label]) >= LEAST
        and len({unit for row, unit in zip(rows, groups, strict=True) if label not in row.labels})
        >= LEAST
    ]
    kept = sorted(sorted(able, key=lambda label: -counts[label])[:MAX_CLASSES])
    if not kept:
        label = max(counts, key=lambda each: counts[each], default="")
        said = {"label": label, "n": f"{counts.get(label, 0):,}", "rows": f"{len(rows):,}"}
        raise BadRows(NO_LABELS.format(least=LEAST, **said))
    truth = np.array([[label in row.labels for label in kept] for row in rows])
    omitted = tuple((label, n) for label, n in sorted(counts.items()) if label not in kept)
    is_grouped = any(row.group for row in rows)
    return LabelSets(
        tuple(kept), read_only(truth), read_only(groups) if is_grouped else None, omitted
    )


def judged_sets(
    inputs: Sequence[str] | np.ndarray,
    sets: LabelSets,
    recipe: Recipe = FEATURES,
    check: Callable[[], None] = lambda: None,
) -> JudgedSets:
    """Return out-of-fold predictions; each fold chooses one C for all labels on its training rows.

    It is the C with the smallest log-loss, the mean over the inner folds and the labels. A label is
    given where its probability is above one half.

    Args:
        inputs: Texts, or features float [row, d].
        sets: Labels and groups of the rows.
        recipe: Preparation of the inputs.
        check: Called before each training; what it raises ends all.
    """
    data = inputs if isinstance(inputs, np.ndarray) else np.array(inputs, object)
    predicted, choices = np.zeros(sets.truth.shape, bool), []
    for train, test in splits_of(FOLDS, len(data), sets.groups):
        groups = None if sets.groups is None else sets.groups[train]
        n_inner = INNER_FOLDS if groups is None else min(INNER_FOLDS, len(np.unique(groups)))
        inner = [(train[a], train[b]) for a, b in splits_of(n_inner, len(train), groups)]
        losses = np.array(
            [
                [_losses(data, sets.truth, split, (recipe, way), check) for split in inner]
                for way in recipe.ways
            ]
        ).mean(1)
        best, place = divmod(int(np.argmin(losses.T)), len(recipe.ways))
        choice = Choice(labelled.STRENGTHS[best], recipe.ways[place], float(losses.min()))
        choices.append(choice)
        check()
        strength = recipe.factor * choice.strength
        (found,) = _probabilities(data, sets.truth, (train, test), (recipe, choice.way), [strength])
        for label, (shares, classes) in enumerate(found):
            predicted[test, label] = classes[shares.argmax(1)]
    return JudgedSets(read_only(predicted), tuple(choices))


Shares = tuple[np.ndarray, np.ndarray]
"""Probabilities float64 [row, class] and the classes."""


def _losses(
    data: np.ndarray,
    truth: np.ndarray,
    split: Split,
    how: tuple[Recipe, str],
    check: Callable[[], None],
) -> list[float]:
    """Return the mean log-loss over the labels by C; infinity where training rows have no word."""
    check()
    recipe, way = how
    if way and not has_words(data[split[0]], way):
        return [np.inf] * len(labelled.STRENGTHS)
    strengths = [recipe.factor * C for C in labelled.STRENGTHS]
    return [
        float(
            np.mean([log_loss(*each, truth[split[1], label]) for label, each in enumerate(found)])
        )
        for found in _probabilities(data, truth, split, how, strengths)
    ]


def _probabilities(
    data: np.ndarray,
    truth: np.ndarray,
    split: Split,
    how: tuple[Recipe, str],
    strengths: Sequence[float],
) -> list[list[Shares]]:
    """Return by C and label the probabilities of a split's test rows."""
    (recipe, way), (train, test) = how, split
    prepares = recipe.prepares(way)
    learned, asked = prepares.fit_transform(data[train]), prepares.transform(data[test])

    def of(label: int, strength: float) -> Shares:
        model: Any = fitted(learned, truth[train, label], strength)
        return model.predict_proba(asked), model.classes_

    return [[of(label, strength) for label in range(truth.shape[1])] for strength in strengths]


def every_label(sets: LabelSets) -> JudgedSets:
    """Return every label for every row: of all constants the one with the largest F1."""
    return JudgedSets(read_only(np.ones(sets.truth.shape, bool)))


def set_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the macro F1 of bool [row, label], as scikit-learn: 0 of a label that nothing has."""
    hits, sizes = (truth & predicted).sum(0), truth.sum(0) + predicted.sum(0)
    return float((2 * hits / np.maximum(1, sizes)).mean())


def set_scores(sets: LabelSets, judged: JudgedSets, control: float = float("nan")) -> SetScores:
    """Return macro and micro F1 with intervals, see ``set_f1_interval``, and F1 by label."""
    hits = (sets.truth & judged.predicted).astype(np.int64)
    sizes = sets.truth.astype(np.int64) + judged.predicted
    n = counted_once(len(hits), sets.groups) * (COUNTED if judged.choices else 1.0)

    def scored(own: np.ndarray, size: np.ndarray) -> Scored:
        value = float((2 * own.sum(0) / np.maximum(1, size.sum(0))).mean())
        return Scored(value, *set_f1_interval(own, size, n))

    by_label = [scored(hits[:, [i]], sizes[:, [i]]) for i in range(len(sets.names))]
    micro = scored(hits.sum(1, keepdims=True), sizes.sum(1, keepdims=True))
    return SetScores(scored(hits, sizes), micro, tuple(by_label), control)


def set_f1_interval(hits: np.ndarray, sizes: np.ndarray, n: float) -> tuple[float, float]:
    """Return the 95% interval of the mean over the columns of F1 = 2 sum(hits) / sum(sizes).

    It is Wilson's, for as many rows as would give a share of this value the variance that the delta
    method gives the mean. Four further rows of weight one half are counted for the variance, so
    that no interval has a width of 0. Simulated with three and six labels it covers 94 to 98% on
    average at 40 rows and at 200.

    Args:
        hits: int [row, column], the labels that are rightly given.
        sizes: int [row, column], the labels of the row plus those given.
        n: The number of rows that count; it may be a fraction.
    """
    value = float((2 * hits.sum(0) / np.maximum(1, sizes.sum(0))).mean())
    unit = np.maximum(1.0, sizes.mean(0) / 2)  # the labels of a row, where columns are together
    own = np.vstack([hits, np.outer([1, 0, 0, 0], unit)])
    size = np.vstack([sizes, np.outer([2, 1, 1, 0], unit)])
    weights = np.concatenate([np.ones(len(hits)), np.full(4, SPREAD)])
    weights /= weights.sum()
    means = weights @ size
    by_column = 2 * (weights @ own) / means
    influence = ((2 * own - by_column * size) / means).mean(1)
    variance = weights @ influence**2 - (weights @ influence) ** 2
    middle = by_column.mean()
    return wilson(value, float(n * middle * (1 - middle) / variance))


def exchange_test(sets: LabelSets, first: np.ndarray, second: np.ndarray) -> float:
    """Compute the two-sided p value of a difference in macro F1 (Yeh 2000).

    Both predictions of a row, or of all rows of a group, are exchanged at random, and the share of
    exchanges whose difference is as far from 0 as the one found is counted, itself among them.

    Args:
        sets: Labels and groups of the rows.
        first: bool [row, label], one classifier's predictions.
        second: The other's.
    """
    hits = [sets.truth & first, sets.truth & second]
    return exchanged_f1(hits, [first, second], sets.truth.sum(0), sets.groups)


def exchanged_f1(
    hits: Sequence[np.ndarray],
    given: Sequence[np.ndarray],
    has: np.ndarray,
    groups: np.ndarray | None,
) -> float:
    """Compute the p value of ``exchange_test`` from counts: the mean F1 over their columns.

    Args:
        hits: Of both classifiers [row, column], what is rightly given.
        given: Of both [row, column], what is given.
        has: Number [column] of all that should be given.
        groups: int64 [row], the group of each row; None: every row is its own.
    """
    _, unit = np.unique(np.arange(len(given[0])) if groups is None else groups, return_inverse=True)
    n_units = int(unit.max()) + 1

    def together(values: np.ndarray) -> np.ndarray:
        sums = np.zeros((n_units, values.shape[1]))
        np.add.at(sums, unit, values)
        return sums

    hits, given = [together(each) for each in hits], [together(each) for each in given]

    def apart(swaps: np.ndarray) -> np.ndarray:
        moved, more = swaps @ (hits[1] - hits[0]), swaps @ (given[1] - given[0])
        f1 = [
            2
            * (hits[side].sum(0) + sign * moved)
            / np.maximum(1, has + given[side].sum(0) + sign * more)
            for side, sign in ((0, 1), (1, -1))
        ]
        return np.asarray((f1[0] - f1[1]).mean(1))

    found = abs(float(apart(np.zeros((1, n_units)))[0])) - 1e-12
    generator, n_far, left = np.random.default_rng(0), 1, DRAWS
    while left:
        n = min(left, DRAWN_AT_ONCE)
        swaps = generator.integers(0, 2, (n, n_units)).astype(float)
        n_far += int((np.abs(apart(swaps)) >= found).sum())
        left -= n
    return n_far / (DRAWS + 1)


def multilabel_steps(
    texts: TextList,
    labels: Mapping[str, str],
    encoded: "EncodedList",
    options: "TextsOptions",
    check: Callable[[], None] = lambda: None,
) -> Generator[tuple[int, int], None, MultilabelList]:
    """Train the classifiers of rows with several labels one after another, and return the scores.

    Yields (steps done, all steps). ``check`` is called before each training; what it raises ends
    all.

    Raises:
        BadRows: no label is on enough rows.
    """
    from threadpoolctl import threadpool_limits

    from explorer.lists.head_scores import multilabel_heads

    sets, each = sets_of(texts), encoded.features
    layers = {key: options.layer % of_model.shape[1] for key, of_model in each.items()}
    words = [row.read for row in texts.rows]
    inputs: dict[str, tuple[Any, Recipe]] = {
        key: (of_model[:, layers[key]], FEATURES) for key, of_model in each.items()
    }
    inputs["tfidf"] = (words, WORDS)
    with threadpool_limits(1, user_api="blas"):
        result = yield from _trained(sets, inputs, check)
    return MultilabelList(
        texts,
        labels,
        options.pooling,
        layers,
        result,
        encoded.costs,
        multilabel_advice(result, labels, encoded.costs),
        copies_between(words, splits_of(FOLDS, len(words), sets.groups), _numbers(sets.truth)),
        multilabel_heads(encoded.heads, encoded.logits, sets),
    )


def _trained(
    sets: LabelSets, inputs: Mapping[str, tuple[Any, Recipe]], check: Callable[[], None]
) -> Generator[tuple[int, int], None, MultilabelResult]:
    """Return the scores of each input, and of the same with the labels of rows exchanged."""
    n_rows, n_done, n_steps = len(sets.truth), 0, len(inputs) * (1 + SHUFFLES)
    orders = [np.random.default_rng(seed).permutation(n_rows) for seed in range(SHUFFLES)]
    judged, scores = {}, {}
    for key, (data, recipe) in inputs.items():
        yield n_done, n_steps
        judged[key] = judged_sets(data, sets, recipe, check)
        controls = []
        for order in orders:
            n_done += 1
            yield n_done, n_steps
            mixed = LabelSets(sets.names, sets.truth[order], sets.groups)
            found = judged_sets(data, mixed, recipe, check)
            controls.append(set_f1(mixed.truth, found.predicted))
        n_done += 1
        scores[key] = set_scores(sets, judged[key], float(np.mean(controls)))
    yield n_done, n_steps
    judged["majority"] = every_label(sets)
    scores["majority"] = set_scores(sets, judged["majority"])
    return multilabel_result(sets, judged, scores)


def _numbers(truth: np.ndarray) -> np.ndarray:
    """Return a number for each different set of labels: int64 [row]."""
    return np.asarray(np.unique(truth, axis=0, return_inverse=True)[1]).reshape(-1)


def multilabel_result(
    sets: LabelSets, judged: Mapping[str, JudgedSets], scores: Mapping[str, SetScores]
) -> MultilabelResult:
    """Return the scores with the comparison of each two classifiers."""
    differences = tuple(
        SetDifference(
            a,
            b,
            scores[a].macro.value - scores[b].macro.value,
            exchange_test(sets, judged[a].predicted, judged[b].predicted),
        )
        for a, b in combinations(judged, 2)
    )
    return MultilabelResult(sets, judged, scores, differences)


def multilabel_advice(
    result: MultilabelResult, names: Mapping[str, str], costs: Mapping[str, Cost] | None = None
) -> Advice:
    """Return what the macro F1 allows to say; see ``recommended``."""
    compared = [(each.first, each.second, each.macro, each.p_value) for each in result.differences]
    values = {key: each.macro.value for key, each in result.scores.items()}
    found = Candidates(result.models, values, compared, len(result.sets.truth), EVERY_LABEL)
    return recommended(found, names, costs)
