"""Rows of a list's result by how far the models are apart, and which of them each has right."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from explorer.lists.multilabel import MultilabelList
from explorer.lists.results import (
    LabelledList,
    ListResult,
    MaskedList,
    PairList,
    ScoredList,
    SentenceList,
    UnjudgedList,
)
from explorer.lists.sentences import TIE
from explorer.lists.tagged import TaggedList


def distances(result: ListResult) -> np.ndarray:
    """Return how far the models are apart on each row: float64 [row], 0 for a single model.

    Masked rows: mean Jensen-Shannon divergence of two models that have a word in common, in nats;
    nan where no two have. Sentences: nats a word by PLL-word-l2r, each model's measured from its
    own mean over the list. Pairs: range of the margins in nats. Rows with a score: range of the
    predicted scores. Labelled rows: different predictions of the models, less one, see
    ``predictions_of``; with several labels, the labels that some models give and others do not;
    tagged rows: words with different tags.
    """
    if isinstance(result, MaskedList):
        return _means(list(result.divergence.values()), len(result.texts.rows))
    if isinstance(result, SentenceList):
        return _range([values - values.mean() for values in per_word(result).values()])
    if isinstance(result, PairList):
        return _range(list(result.margins.values()))
    if isinstance(result, UnjudgedList):
        return np.zeros(len(result.texts.rows))  # no row has a prediction
    if isinstance(result, ScoredList):
        return _range([result.result.predicted[key].values for key in result.labels])
    if isinstance(result, MultilabelList):
        sets = [result.result.judged[key].predicted for key in result.result.models]
        return np.ptp(np.array(sets).astype(np.float64), 0).sum(1)
    if isinstance(result, TaggedList):
        every = [each.tags for each in result.heads.scores.values()]
        return np.array([_n_apart(tags) for tags in zip(*every, strict=True)], np.float64)
    rows = zip(*predictions_of(result).values(), strict=True)
    return np.array([len(set(row)) - 1 for row in rows], np.float64)


def _n_apart(tags: Sequence[Sequence[str]]) -> int:
    """Return how many words have different tags by some models."""
    return sum(len(set(of_word)) > 1 for of_word in zip(*tags, strict=True))


def predictions_of(result: LabelledList) -> dict[str, tuple[str, ...]]:
    """Return by model the label of each row: that of its own head, else that by its features.

    A label of the head that is one of the list's has the list's name.
    """
    names = result.result.labels.names
    found = {
        key: tuple(names[label] for label in result.result.judged[key].predicted)
        for key in result.result.models
    }
    for key, each in result.heads.scores.items():
        yours = {place: name for name, place in each.head.places.items()}
        labels = [yours.get(place, label) for place, label in enumerate(each.head.labels)]
        found[key] = tuple(labels[place] for place in each.predicted)
    return found


def mean_distances(result: SentenceList) -> dict[tuple[str, str], float]:
    """Return how far each two models are apart on sentences, in nats a word by PLL-word-l2r.

    It is the mean over the sentences that all can read of the absolute difference of both models'
    values, each measured from the model's own mean over these sentences.
    """
    unknown = [[score.n_unknown for score in scores] for scores in result.scores.values()]
    values = {key: each[~np.any(unknown, 0)] for key, each in per_word(result).items()}
    centred = {key: each - each.mean() for key, each in values.items()}
    return {
        (a, b): float(np.abs(centred[a] - centred[b]).mean()) for a, b in combinations(centred, 2)
    }


def by_disagreement(result: ListResult) -> np.ndarray:
    """Return the indices of the rows, those first on which the models disagree most.

    Rows that some models have right and others wrong are before all others of pairs; of labelled
    rows on which all agree, those that all have wrong are first. Equal rows keep their order.
    """
    apart, right = distances(result), right_of(result)
    hits = np.array(list(right.values()))
    first = np.zeros(len(apart), dtype=bool)
    if isinstance(result, PairList) and len(hits):
        first = np.any(hits, 0) & ~np.all(hits, 0)
    if isinstance(result, LabelledList | MultilabelList | TaggedList) and len(hits):
        return np.lexsort((hits.sum(0), -apart))
    return np.lexsort((-np.nan_to_num(apart, nan=-1.0), ~first))


def right_of(result: ListResult) -> dict[str, np.ndarray]:
    """Return for each model which rows it has right, bool [row]; empty where nothing says so.

    Of labelled rows, a model's own head decides where it is scored.
    """
    if isinstance(result, MaskedList):
        has_answers = has_truth(result).any()
        return {key: each.right() for key, each in result.answers.items()} if has_answers else {}
    if isinstance(result, PairList):
        return {key: margin > TIE for key, margin in result.margins.items()}
    if isinstance(result, LabelledList):
        judged, truth = result.result.judged, result.result.labels.truth
        heads = {key: each.right for key, each in result.heads.scores.items()}
        return {key: judged[key].predicted == truth for key in result.result.models} | heads
    if isinstance(result, TaggedList):
        return {key: each.right for key, each in result.heads.scores.items()}
    if isinstance(result, MultilabelList):
        several, sets = result.result.judged, result.result.sets.truth
        return {key: (several[key].predicted == sets).all(1) for key in result.result.models}
    return {}


def has_truth(result: ListResult) -> np.ndarray:
    """Return which rows have something to be right about: bool [row].

    They are masked rows with an answer, and pairs that every model can read.
    """
    if isinstance(result, MaskedList):
        return np.array([bool(row.answer) for row in result.texts.rows])
    if isinstance(result, PairList):
        unknown = [
            [s.n_unknown for s in each]
            for side in (result.good, result.bad)
            for each in side.values()
        ]
        return ~np.any(unknown, 0)
    judged = LabelledList | MultilabelList | TaggedList
    return np.full(len(result.texts.rows), isinstance(result, judged))


def per_word(result: SentenceList) -> Mapping[str, np.ndarray]:
    """Return each model's PLL-word-l2r a word: float64 [row], in nats."""
    return {
        key: np.array([score.pll_word_l2r / max(1, score.n_words) for score in scores])
        for key, scores in result.scores.items()
    }


def _means(values: list[np.ndarray], n_rows: int) -> np.ndarray:
    """Return the mean of the values that are known: float64 [row], nan where none is."""
    known = [each for each in values if not np.isnan(each).any()]
    return np.mean(known, axis=0) if known else np.full(n_rows, np.nan if values else 0.0)


def _range(values: list[np.ndarray]) -> np.ndarray:
    return np.ptp(np.array(values), axis=0)
