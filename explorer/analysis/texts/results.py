"""Results of a whole list of texts, one for each kind."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.texts.advice import Advice, advice
from explorer.analysis.texts.labelled import (
    Cost,
    LabelledResult,
    Regression,
    bag_cost,
    bag_of_words,
    judged,
    labelled_result,
    labels_of,
    layer_accuracy,
    learning_curve,
    majority,
    regression,
    usable,
)
from explorer.analysis.texts.masked import MaskedAnswers, MaskedBlock, MaskedSummary, masked_summary
from explorer.analysis.texts.rows import TextList
from explorer.analysis.texts.sentences import (
    PairsSummary,
    SentenceScore,
    SentencesSummary,
    pairs_summary,
    sentences_summary,
)
from explorer.models.run import read_only

POOLINGS: tuple[str, ...] = ("mean", "cls")
"""Mean over all tokens of a text, [CLS] and [SEP] included; or the first token alone."""


@dataclass(frozen=True, slots=True)
class TextsOptions:
    """Options of a question about a list."""

    pooling: str = "mean"
    """Features of labelled rows: "mean" of all tokens' states, or "cls", the first token's."""
    layer: int = -1
    """Layer of these features: 0 is the embeddings, -1 the last layer."""
    score: str = "pll"
    """Score that pairs are judged by: "pll" or "pll_word_l2r"."""
    curves: bool = True
    """True: labelled rows get a learning curve and a curve over layers."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskedList:
    """Masked rows through all models."""

    texts: TextList
    labels: Mapping[str, str]
    """Label of each model, by its key."""
    answers: Mapping[str, MaskedAnswers]
    divergence: Mapping[tuple[str, str], np.ndarray]
    """float64 [row], see ``MaskedBlock``."""
    summary: MaskedSummary


@dataclass(frozen=True, slots=True, eq=False)
class SentenceList:
    """Plain sentences through all models."""

    texts: TextList
    labels: Mapping[str, str]
    scores: Mapping[str, Sequence[SentenceScore]]
    summary: SentencesSummary


@dataclass(frozen=True, slots=True, eq=False)
class PairList:
    """Pairs of sentences through all models."""

    texts: TextList
    labels: Mapping[str, str]
    score: str
    """The score that the pairs are judged by: ``pll`` or ``pll_word_l2r``."""
    good: Mapping[str, Sequence[SentenceScore]]
    bad: Mapping[str, Sequence[SentenceScore]]
    margins: Mapping[str, np.ndarray]
    """By model float64 [pair]: score of the good sentence minus that of the bad one, in nats."""
    summary: PairsSummary


@dataclass(frozen=True, slots=True, eq=False)
class LabelledList:
    """Labelled rows through all models, beside two baselines."""

    texts: TextList
    labels: Mapping[str, str]
    pooling: str
    layers: Mapping[str, int]
    """By model the layer whose features are judged; 0 is the embeddings."""
    result: LabelledResult
    learning: Mapping[str, tuple[tuple[int, float], ...]]
    """By model (training rows, accuracy)."""
    by_layer: Mapping[str, tuple[float, ...]]
    """By model the accuracy of each layer's features, from the embeddings on."""
    costs: Mapping[str, Cost]
    """By model, and of TF-IDF, measured on these rows."""
    advice: Advice


@dataclass(frozen=True, slots=True, eq=False)
class EncodedList:
    """Features of a list's rows by all models."""

    features: Mapping[str, np.ndarray]
    """By model float32 [row, layer + 1, d_model]."""
    costs: Mapping[str, Cost]


ListResult = MaskedList | SentenceList | PairList | LabelledList


def masked_list(texts: TextList, labels: Mapping[str, str], block: MaskedBlock) -> MaskedList:
    """Return the result of masked rows from the answers to all of them."""
    has_answer = np.array([bool(row.answer) for row in texts.rows])
    groups = [row.group for row in texts.rows]
    summary = masked_summary(block.answers, has_answer, groups)
    return MaskedList(texts, labels, block.answers, block.divergence, summary)


def sentence_list(
    texts: TextList, labels: Mapping[str, str], scores: Mapping[str, Sequence[SentenceScore]]
) -> SentenceList:
    """Return the result of plain sentences from their scores by model."""
    return SentenceList(texts, labels, scores, sentences_summary(scores))


def pair_list(
    texts: TextList,
    labels: Mapping[str, str],
    scores: Mapping[str, Sequence[Sequence[SentenceScore]]],
    score: str,
) -> PairList:
    """Return the result of pairs from the scores of both sentences by model and row."""
    good = {key: tuple(sides[0] for sides in rows) for key, rows in scores.items()}
    bad = {key: tuple(sides[1] for sides in rows) for key, rows in scores.items()}
    margins = {
        key: read_only(np.array([g.value(score) - b.value(score) for g, b in rows]))
        for key, rows in scores.items()
    }
    summary = pairs_summary(margins, [row.group for row in texts.rows])
    return PairList(texts, labels, score, good, bad, margins, summary)


def labelled_steps(
    texts: TextList,
    labels: Mapping[str, str],
    encoded: EncodedList,
    options: TextsOptions,
    check: Callable[[], None] = lambda: None,
) -> Generator[tuple[int, int], None, LabelledList]:
    """Train the classifiers of labelled rows one after another, and return their scores.

    Yields (steps done, all steps). ``check`` is called before each training; what it raises ends
    all.

    Raises:
        BadRows: too few rows, or one label alone, can be used.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):  # small matrices: threads would cost four times it
        return (yield from _trained(texts, labels, encoded, options, check))


def _trained(
    texts: TextList,
    labels: Mapping[str, str],
    encoded: EncodedList,
    options: TextsOptions,
    check: Callable[[], None],
) -> Generator[tuple[int, int], None, LabelledList]:
    kept = usable(texts)
    numbers = {row.number for row in kept.rows}
    is_kept = np.array([row.number in numbers for row in texts.rows])
    features = {key: of_model[is_kept] for key, of_model in encoded.features.items()}
    layers = {key: options.layer % of_model.shape[1] for key, of_model in features.items()}
    truth, words = labels_of(kept).truth, [row.text for row in kept.rows]
    judged_by, learning, by_layer = {}, {}, {}
    n_steps = len(features) * (1 + options.curves) + 1
    steps = iter(range(1, n_steps + 1))
    yield 0, n_steps
    for key, of_model in features.items():
        judged_by[key] = judged(of_model[:, layers[key]], truth, checked(regression, check))
        yield next(steps), n_steps
        if options.curves:
            learning[key], by_layer[key] = _curves(
                of_model, layers[key], truth, judged_by[key].strengths, check
            )
            yield next(steps), n_steps
    judged_by["tfidf"] = judged(words, truth, checked(bag_of_words, check))
    yield next(steps), n_steps
    judged_by["majority"] = majority(truth)
    costs = dict(encoded.costs)
    costs["tfidf"] = bag_cost(words, truth, max(judged_by["tfidf"].strengths))
    result = labelled_result(labels_of(kept), judged_by)
    sentence = advice(result, labels)
    return LabelledList(
        kept, labels, options.pooling, layers, result, learning, by_layer, costs, sentence
    )


def checked(
    make: Callable[[float], Regression], check: Callable[[], None]
) -> Callable[[float], Regression]:
    """Return a maker of regressions that calls ``check`` before each."""

    def made(strength: float) -> Regression:
        check()
        return make(strength)

    return made


def _curves(
    features: np.ndarray,
    layer: int,
    truth: np.ndarray,
    strengths: Sequence[float],
    check: Callable[[], None],
) -> tuple[tuple[tuple[int, float], ...], tuple[float, ...]]:
    """Return a model's learning curve, and the accuracy of each layer's features."""
    learning, layers = [], []
    for point in learning_curve(features[:, layer], truth, strengths):
        check()
        learning.append(point)
    for place in range(features.shape[1]):
        check()
        layers.append(layer_accuracy(features[:, place], truth, strengths))
    return tuple(learning), tuple(layers)
