"""Results of a whole list of texts: one for each kind, advice, and disagreement row by row."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.digits import enumerated
from explorer.analysis.texts.comparison import mcnemar
from explorer.analysis.texts.labelled import (
    BASELINES,
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
    TIE,
    PairsSummary,
    SentenceScore,
    SentencesSummary,
    pairs_summary,
    sentences_summary,
)
from explorer.models.run import read_only

ERROR_RATE = 0.01
"""Chance of any advice where there is no difference, shared equally by all comparisons."""
NOTHING = (
    "No model is significantly better than always answering the most frequent label, as far as "
    "{n} rows can show."
)
BAG = (
    "A bag of words may do as well: no model is significantly better than TF-IDF with the same "
    "regression, as far as {n} rows can show."
)
BEST = (
    "{best} is the best of these models for your labels: the others are significantly worse on "
    "{n} rows."
)
ALONE = "{best} is significantly better than a bag of words on {n} rows; no other model was read."
TIED = (
    "{best}{highest} is significantly better than a bag of words; between it and {rivals} there is "
    "no difference that {n} rows can show."
)
HIGHEST = " scores highest and"
POOLINGS: tuple[str, ...] = ("mean", "cls")
"""Mean over all tokens of a text, [CLS] and [SEP] included; or the first token alone."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Sentence for the reader, and the models that it names."""

    sentence: str
    models: tuple[str, ...]
    """The models that may be recommended; empty where none is."""


def advice(result: LabelledResult, names: Mapping[str, str]) -> Advice:
    """Return what the scores allow to say.

    A difference counts if McNemar's exact test on the out-of-fold predictions stays below 1% after
    division by the number of comparisons: each model with two baselines and with each other.
    """
    n_rows, models = len(result.labels.truth), result.models
    n_compared = len(result.differences) or 1
    beaten = {
        (better, worse)
        for better, worse, p_value in _ordered(result)
        if p_value * n_compared < ERROR_RATE
    }
    learned = [key for key in models if (key, "majority") in beaten]
    useful = [key for key in learned if (key, "tfidf") in beaten]
    if not learned:
        return Advice(NOTHING.format(n=f"{n_rows:,}"), ())
    if not useful:
        return Advice(BAG.format(n=f"{n_rows:,}"), ())
    scores = {key: result.accuracy[key].value for key in models}
    best = max(useful, key=scores.__getitem__)
    rivals = [key for key in models if key != best and (best, key) not in beaten]
    # A model that is not useful may score higher: its differences from TF-IDF go both ways.
    is_highest = all(scores[key] < scores[best] for key in models if key != best)
    template = TIED if rivals else BEST if len(models) > 1 else ALONE
    sentence = template.format(
        best=names[best],
        highest=HIGHEST * is_highest,
        rivals=enumerated(names[key] for key in rivals),
        n=f"{n_rows:,}",
    )
    return Advice(sentence, (best, *(key for key in rivals if key in useful)))


def _ordered(result: LabelledResult) -> list[tuple[str, str, float]]:
    """Return (better, worse, p value) of each two classifiers."""
    rows = []
    for each in result.differences:
        p_value = mcnemar(each.only_first, each.only_second)
        pair = (each.first, each.second)
        better, worse = pair if each.only_first > each.only_second else pair[::-1]
        rows.append((better, worse, p_value))
    return rows


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
