"""Disagreement of the models on each row of a list, and which of them have it right."""

from collections.abc import Mapping

import numpy as np

from explorer.analysis.texts.labelled import BASELINES
from explorer.analysis.texts.results import (
    LabelledList,
    ListResult,
    MaskedList,
    PairList,
    SentenceList,
)
from explorer.analysis.texts.sentences import TIE


def distances(result: ListResult) -> np.ndarray:
    """Return how far the models are apart on each row: float64 [row], 0 for one model alone.

    Masked rows: mean Jensen-Shannon divergence of two models, in nats. Sentences: nats a word by
    PLL-word-l2r, each model's measured from its own mean over the list. Pairs: range of the
    margins in nats. Labelled rows: different predictions of the models, less one.
    """
    if isinstance(result, MaskedList):
        return _means(list(result.divergence.values()), len(result.texts.rows))
    if isinstance(result, SentenceList):
        return _range([values - values.mean() for values in per_word(result).values()])
    if isinstance(result, PairList):
        return _range(list(result.margins.values()))
    predicted = [each.predicted for key, each in result.result.judged.items() if _is_model(key)]
    different = [len(set(row)) - 1 for row in zip(*predicted, strict=True)]
    return np.array(different, np.float64)


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
    if isinstance(result, LabelledList) and len(hits):
        return np.lexsort((hits.sum(0), -apart))
    return np.lexsort((-apart, ~first))


def right_of(result: ListResult) -> dict[str, np.ndarray]:
    """Return for each model which rows it has right, bool [row]; empty where nothing says so."""
    if isinstance(result, MaskedList):
        has_answers = has_truth(result).any()
        return {key: each.right() for key, each in result.answers.items()} if has_answers else {}
    if isinstance(result, PairList):
        return {key: margin > TIE for key, margin in result.margins.items()}
    if isinstance(result, LabelledList):
        judged, truth = result.result.judged, result.result.labels.truth
        return {key: each.predicted == truth for key, each in judged.items() if _is_model(key)}
    return {}


def has_truth(result: ListResult) -> np.ndarray:
    """Return which rows have something to be right about: bool [row]."""
    if isinstance(result, MaskedList):
        return np.array([bool(row.answer) for row in result.texts.rows])
    return np.full(len(result.texts.rows), not isinstance(result, SentenceList))


def per_word(result: SentenceList) -> Mapping[str, np.ndarray]:
    """Return each model's PLL-word-l2r a word: float64 [row], in nats."""
    return {
        key: np.array([score.pll_word_l2r / max(1, score.n_words) for score in scores])
        for key, scores in result.scores.items()
    }


def _is_model(key: str) -> bool:
    return key not in BASELINES


def _means(values: list[np.ndarray], n_rows: int) -> np.ndarray:
    return np.mean(values, axis=0) if values else np.zeros(n_rows)


def _range(values: list[np.ndarray]) -> np.ndarray:
    return np.ptp(np.array(values), axis=0)
