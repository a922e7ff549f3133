"""Fine-tuned classifiers next to frozen features and baselines, on the same held-out rows."""

import math
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.digits import counted, enumerated
from explorer.lists.comparison import f1_interval, macro_f1_of, sign_flip
from explorer.lists.judge import ERROR_RATE, MOST_FREQUENT, Scored, mean_accuracy
from explorer.lists.labelled import MIN_ROWS, Labels, Split, folds, usable
from explorer.lists.roles import BadRows
from explorer.lists.rows import TextList
from explorer.models.specs import ModelSpec
from explorer.refusal import Refusal, Sentence

if TYPE_CHECKING:
    from explorer.models.tuning.training import Curves

FEW = 120
"""Rows below which five folds test each row; from here on a quarter is held out."""
HELD_OUT = 4
"""Folds of which the first is held out where there are many rows."""
EARLY = 6
"""Folds of the training rows of which the first is for early stopping."""
TUNED, FROZEN = "tuned", "frozen"
BAG, GUESS = "tfidf", "majority"
ONE_CLASS = Sentence(
    "tuning-one-label",
    "Fine-tuning needs rows with two labels, and all of these rows have the label “{label}”.",
)
TOO_FEW = Sentence(
    "tuning-few-rows",
    "Fine-tuning needs at least {least} rows with a label, and this list has {rows}.",
)
NO_LABELS = Sentence(
    "tuning-columns",
    "Fine-tuning needs rows with one label each: name the columns of the text and of the label.",
)
NOTHING = (
    "Fine-tune none of them: no classifier is significantly better than {guess}, as far as {rows} "
    "can show."
)
SAME = "Fine-tuning makes no difference that {rows} can show: {instead}."
BAG_DOES = "a bag of words may do as well as any of these models"
FROZEN_DO = "{name} may do as well, and need no training of the encoder"
WORSE = (
    "Fine-tune none of them: the frozen features of {names} are significantly better than the same "
    "model fine-tuned."
)
NEITHER = (
    "Fine-tune none of them: none is significantly better than both its frozen features and a bag "
    "of words, as far as {rows} can show."
)
TUNE = (
    "Fine-tune {best}: on {rows} it is right significantly more often than its frozen features and "
    "a bag of words{rivals}."
)
TUNE_SMALLEST = (
    "Fine-tune {best}, the smallest of {names}: each is significantly better than its frozen "
    "features and a bag of words, and {rows} are too few to tell them apart{rivals}."
)
UNTOLD = "; these rows are too few to tell it from {names}"
UNTOLD_ALL = ", or from {names}"
FROZEN_NAME = "the frozen features of {label}"
TUNED_NAME = "fine-tuned {label}"
OTHER_NAMES = {BAG: "a bag of words", GUESS: MOST_FREQUENT}
Key = tuple[str, str]
"""Kind of a classifier (``tuned``, ``frozen``, ``tfidf``, ``majority``) and its column, if any."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Rows of a fine-tuning: what is trained on, what stops the training, and what is tested."""

    splits: tuple[Split, ...]
    """(Training rows, test rows) of each fold; frozen features and TF-IDF learn from the same."""
    early: tuple[Split, ...]
    """Of each fold's training rows: (those that are trained on, those for early stopping)."""

    @property
    def tested(self) -> np.ndarray:
        """The rows that are tested, sorted: int64 [test row]."""
        return np.sort(np.concatenate([test for _, test in self.splits]))

    @property
    def has_folds(self) -> bool:
        """True if every row is tested in one of the folds."""
        return len(self.splits) > 1


def enough(texts: TextList) -> TextList:
    """Return the labelled rows whose label is on enough rows.

    Raises:
        BadRows: the rows have no labels, one label only, or are too few.
    """
    if texts.kind != "labelled":
        raise BadRows(NO_LABELS)
    labels = {row.label for row in texts.rows}
    if len(labels) == 1:
        raise BadRows(ONE_CLASS.format(label=next(iter(labels))))
    if len(texts.rows) < MIN_ROWS:
        rows = counted(len(texts.rows), "row")
        raise BadRows(TOO_FEW.format(least=MIN_ROWS, rows=rows))
    return usable(texts)


def plan_of(labels: Labels) -> Plan:
    """Return the stratified split of labelled rows, or five folds where they are few.

    Rows of one group stay together, also where rows for early stopping are chosen.
    """
    few = len(labels.truth) < FEW
    splits = folds(labels) if few else folds(labels, HELD_OUT)[:1]
    return Plan(tuple(splits), tuple(_early(labels, train) for train, _ in splits))


def _early(labels: Labels, train: np.ndarray) -> Split:
    """Return the rows to train on and those for early stopping, of the training rows of a fold."""
    with warnings.catch_warnings():
        # A label on fewer rows than folds is not in each of them, and need not be.
        warnings.simplefilter("ignore", UserWarning)
        inner = folds(labels.part(train), EARLY)
    if not inner:  # all rows are of one group
        return train, train
    return train[inner[0][0]], train[inner[0][1]]


@dataclass(frozen=True, slots=True, eq=False)
class SeedRun:
    """One training of one model, with its predictions of the fold's test rows."""

    seed: int
    fold: int
    curves: "Curves"
    seconds: float
    predicted: np.ndarray
    """int64 [test row of the fold]"""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Predictions of one classifier for all tested rows, and what they cost."""

    key: Key
    label: str
    """Name of the model; empty for a classifier without one."""
    predicted: np.ndarray
    """int64 [seed, test row]; without chance there is one seed."""
    seconds: float = 0.0
    """Seconds of one training, for all folds together; of frozen features with their passes."""
    ms_per_row: float = 0.0
    """Milliseconds to predict a row."""
    megabytes: float = 0.0
    """Size of its weights."""

    @property
    def name(self) -> str:
        """Its name in a sentence."""
        names = {TUNED: TUNED_NAME, FROZEN: FROZEN_NAME} | OTHER_NAMES
        return names[self.key[0]].format(label=self.label)


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Score of one classifier on the tested rows."""

    answers: Answers
    accuracy: Scored
    """Mean over seeds; the interval is for further rows, not for another training."""
    macro_f1: Scored
    """Of the predictions of all seeds together."""
    by_seed: tuple[float, ...]
    """Accuracy of each seed."""
    gained: float
    """Accuracy above always answering the most frequent label."""

    @property
    def per_second(self) -> float:
        """Points of accuracy above guessing for each second of training; nan without any."""
        seconds = self.answers.seconds
        return 100 * self.gained / seconds if seconds else float("nan")

    @property
    def per_megabyte(self) -> float:
        """Points of accuracy above guessing for each megabyte of weights; nan without any."""
        megabytes = self.answers.megabytes
        return 100 * self.gained / megabytes if megabytes else float("nan")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Mean accuracy of the first classifier minus that of the second, on the same rows."""

    first: Key
    second: Key
    difference: float
    p_value: float
    """Exact test that exchanges both in each row, or in each whole group."""


@dataclass(frozen=True, slots=True, eq=False)
class TuningScores:
    """Scores of all classifiers on the tested rows, and what they allow to say."""

    standings: Mapping[Key, Standing]
    comparisons: tuple[Comparison, ...]
    advice: str
    advised: tuple[str, ...]
    """Columns that the advice says to fine-tune; empty where it says so of none."""


@dataclass(frozen=True, slots=True)
class TuningOptions:
    """Options of a fine-tuning."""

    method: str = "full"
    epochs: int = 0
    """Most passes over the training rows; 0: the usual number for so many rows."""
    seeds: int = 3
    rate: float = 0.0
    """Peak learning rate; 0: the usual one of the method and the width of each encoder."""


@dataclass(frozen=True, slots=True, eq=False)
class Live:
    """The training that runs now."""

    column: str
    seed: int
    fold: int
    curves: "Curves"
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class TuningProgress:
    """Steps done of all, and the courses of the trainings so far."""

    done: int
    total: int
    runs: Mapping[str, tuple[SeedRun, ...]]
    """By column the trainings that are done."""
    labels: Mapping[str, str]
    """Name of each model, by its column."""
    peak_bytes: Mapping[str, int | None]
    """By column the peak memory of a step, once it is known."""
    trainings: int
    """Trainings of each column, of all seeds and folds."""
    live: Live | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BestModel:
    """The classifier of a column that is kept: of the first fold's seeds the best one."""

    spec: ModelSpec
    network: Any
    """A network of transformers, without LoRA."""
    tokenizer: Any
    run: SeedRun
    """Its training; of one that was stopped, what there was of it."""

    @property
    def quality(self) -> tuple[float, float]:
        """Its accuracy on the rows for early stopping, and minus its loss: what it is chosen by.

        Both are minus infinity before the end of an epoch.
        """
        curves = self.run.curves
        if not curves.epochs:
            return -math.inf, -math.inf
        best = curves.epochs[curves.best]
        return best.accuracy, -best.loss


@dataclass(frozen=True, slots=True, eq=False)
class TuningResult:
    """Fine-tuned models, their courses and scores."""

    texts: TextList
    names: tuple[str, ...]
    """The labels, sorted."""
    options: TuningOptions
    plan: Plan
    labels: Mapping[str, str]
    """Name of each model, by its column."""
    rates: Mapping[str, float]
    """By column the peak learning rate."""
    runs: Mapping[str, tuple[SeedRun, ...]]
    seeds: int
    """Seeds that every column has finished, which the scores are of."""
    peak_bytes: Mapping[str, int | None]
    """By column: weights, gradients, optimizer and states of a step on the longest rows."""
    scores: TuningScores | None
    """None before every column has finished one seed."""
    best: Mapping[str, BestModel]
    missing: Mapping[str, Refusal]
    """By column the reason why it is not fine-tuned."""


def tuning_scores(labels: Labels, plan: Plan, found: Sequence[Answers]) -> TuningScores:
    """Return scores with intervals, comparisons of each two classifiers, and one sentence.

    Args:
        labels: Labels and groups of all rows.
        plan: The rows that were tested.
        found: Every classifier's predictions; ``majority`` is one of them.
    """
    tested = labels.part(plan.tested)
    guess = next(each for each in found if each.key[0] == GUESS)
    base = float((guess.predicted == tested.truth).mean())
    standings = {each.key: _standing(each, tested, plan.has_folds, base) for each in found}
    compared = tuple(_compared(tested, pair) for pair in combinations(found, 2))
    advised, sentence = _advice(standings, compared, len(tested.truth))
    return TuningScores(standings, compared, sentence, advised)


def _standing(answers: Answers, tested: Labels, has_folds: bool, base: float) -> Standing:
    right = answers.predicted == tested.truth
    is_trained = has_folds and answers.key[0] != GUESS
    accuracy = mean_accuracy(right.mean(0), tested, is_trained)
    n = len(tested.names)
    cells = np.bincount((tested.truth * n + answers.predicted).ravel(), minlength=n * n)
    counts = cells.reshape(n, n)
    shares = counts / len(right)
    low, high = f1_interval(shares, len(tested.truth))
    f1 = Scored(macro_f1_of(counts), low, high)
    by_seed = tuple(float(value) for value in right.mean(1))
    return Standing(answers, accuracy, f1, by_seed, accuracy.value - base)


def _compared(tested: Labels, pair: tuple[Answers, Answers]) -> Comparison:
    first, second = pair
    right = [each.predicted == tested.truth for each in pair]
    # Counts over seeds have one unit: those of one are multiplied by the other's seeds.
    n = [len(each) for each in right]
    difference = right[0].sum(0) * n[1] - right[1].sum(0) * n[0]
    groups = np.arange(len(tested.truth)) if tested.groups is None else tested.groups
    mean = float(difference.mean() / (n[0] * n[1]))
    return Comparison(first.key, second.key, mean, sign_flip(difference, groups))


def _advice(
    standings: Mapping[Key, Standing], compared: Sequence[Comparison], n: int
) -> tuple[tuple[str, ...], str]:
    """Return the columns to fine-tune, and the sentence.

    A difference counts if its test stays below 1% after division by the number of comparisons. A
    model is to be fine-tuned if it is then better than its own frozen features, TF-IDF and always
    answering the most frequent label.
    """
    rows = counted(n, "held-out row")
    beaten = {
        (each.first, each.second) if each.difference > 0 else (each.second, each.first)
        for each in compared
        if each.p_value * len(compared) < ERROR_RATE
    }
    if all((key, (GUESS, "")) not in beaten for key in standings):
        return (), NOTHING.format(guess=MOST_FREQUENT, rows=rows)
    useful = [key for key in _helped(standings, beaten) if (key, (BAG, "")) in beaten]
    if not useful:
        return (), _none(standings, beaten, rows)
    best = max(useful, key=lambda key: standings[key].accuracy.value)
    rivals = [key for key in standings if key != best and (best, key) not in beaten]
    alike = [key for key in useful if key == best or key in rivals]
    others = enumerated(standings[key].answers.name for key in rivals if key not in alike)
    columns = tuple(key[1] for key in alike)
    if len(alike) == 1:
        said = UNTOLD.format(names=others) if others else ""
        return columns, TUNE.format(best=standings[best].answers.label, rows=rows, rivals=said)
    smallest = min(alike, key=lambda key: standings[key].answers.megabytes)
    names = enumerated(standings[key].answers.label for key in alike)
    said = UNTOLD_ALL.format(names=others) if others else ""
    name = standings[smallest].answers.label
    return columns, TUNE_SMALLEST.format(best=name, names=names, rows=rows, rivals=said)


Beaten = Collection[tuple[Key, Key]]
"""The (better, worse) classifiers that differ significantly."""


def _helped(standings: Mapping[Key, Standing], beaten: Beaten) -> list[Key]:
    """Return the fine-tuned models that are better than their frozen features."""
    return [key for key in standings if key[0] == TUNED and (key, (FROZEN, key[1])) in beaten]


def _none(standings: Mapping[Key, Standing], beaten: Beaten, rows: str) -> str:
    """Return why no model is to be fine-tuned, where some classifier has learned something."""
    worse = [key for key in standings if (key, (TUNED, key[1])) in beaten and key[0] == FROZEN]
    if worse and not _helped(standings, beaten):
        names = enumerated(standings[key].answers.label for key in worse)
        return WORSE.format(names=names)
    if worse or _helped(standings, beaten):
        return NEITHER.format(rows=rows)
    better = [key for key in standings if (key, (BAG, "")) in beaten and key[1]]
    if not better:
        return SAME.format(rows=rows, instead=BAG_DOES)
    best = max(better, key=lambda key: standings[key].accuracy.value)
    name = standings[FROZEN, best[1]].answers.name
    return SAME.format(rows=rows, instead=FROZEN_DO.format(name=name))
