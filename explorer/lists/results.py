"""Results of a whole list of texts: one for each kind, advice, and disagreement row by row."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explorer.lists.bias import CrowsScore, Sides, crows_score, sides_of, unmodified_scores
from explorer.lists.head_scores import (
    HeadScoresResult,
    HeadsResult,
    labelled_heads,
    scored_heads,
)
from explorer.lists.heads import AskedHeads
from explorer.lists.judge import (
    Advice,
    LabelledResult,
    NearCopies,
    Scored,
    accuracy,
    advice,
    gain,
    labelled_result,
    mean_accuracy,
    near_copies,
)
from explorer.lists.labelled import (
    WORDS,
    Cost,
    Judged,
    Labels,
    bag_cost,
    best_layers,
    judged,
    labels_of,
    learning_curve,
    majority,
    usable,
)
from explorer.lists.masked import MaskedAnswers, MaskedBlock, MaskedSummary, masked_summary
from explorer.lists.multilabel import MultilabelList
from explorer.lists.roles import MAX_CLASSES, BadRows
from explorer.lists.rows import TextList
from explorer.lists.scored import BASELINE as WORDS_KEY
from explorer.lists.scored import (
    SHUFFLES,
    ScoredResult,
    scored_copies,
    scored_steps,
    truth_of,
    word_features,
    words_name,
)
from explorer.lists.sentences import (
    PairsSummary,
    SentenceScore,
    SentencesSummary,
    pairs_summary,
    sentences_summary,
)
from explorer.lists.stereoset import BlankScore, StereoScore, stereo_scores
from explorer.lists.tagged import TaggedList
from explorer.models.run import read_only

UNTRAINED = (
    "Nothing is learnt from these rows, so that the own heads are not compared with frozen "
    "features or a bag of words, and no temperature is fitted. {why}"
)
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
    too_long: str = "leave_out"
    """One of ``cut.WAYS``: what becomes of a labelled or scored row of over 512 tokens."""
    precision: str = "float32"
    """One of ``rule.PRECISIONS``; "fast": masked rows, sentences and pairs run in bfloat16."""
    curves: bool = True
    """True: labelled rows get a learning curve and a curve over layers."""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By column names for the labels of its own head, in the order of the head's outputs."""


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
    sides: Sides
    unmodified: Mapping[str, np.ndarray]
    """By model float64 [pair, 2]: log-likelihoods of the tokens that both sentences have, see
    ``unmodified_scores``; nats."""
    crows: Mapping[str, CrowsScore]
    """By model the scores of CrowS-Pairs, in their definition; empty for other lists."""
    blanks: Mapping[str, Sequence[BlankScore | None]] = field(default_factory=dict)
    """By model the scores of the words at BLANK; None of a row without one. Empty without any."""
    stereo: Mapping[str, StereoScore] = field(default_factory=dict)
    """By model the scores of StereoSet, in their definition; empty for other lists."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Accuracy of one model's features from a number of training rows."""

    n_rows: int
    accuracy: Scored


@dataclass(frozen=True, slots=True)
class BestLayer:
    """Accuracy of one model's features where each fold chooses the layer on its training rows."""

    accuracy: Scored
    layers: tuple[int, ...]
    """The layer that each fold chose; 0 is the embeddings."""
    gain: Scored
    """The accuracy less that of the asked layer, with the paired interval on the same rows."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledList:
    """Labelled rows through all models, beside two baselines."""

    texts: TextList
    labels: Mapping[str, str]
    pooling: str
    layers: Mapping[str, int]
    """By model the layer whose features are judged; 0 is the embeddings."""
    result: LabelledResult
    learning: Mapping[str, tuple[CurvePoint, ...]]
    """By model the accuracy from fewer training rows; the last point is the table's."""
    by_layer: Mapping[str, tuple[float, ...]]
    """By model the accuracy of each layer's features, from the embeddings on. The best of these was
    read on the rows that it is chosen by: ``best_layer`` is not."""
    best_layer: Mapping[str, "BestLayer"]
    """By model what the layer reaches that each fold chose on its training rows."""
    costs: Mapping[str, Cost]
    """By model, and of TF-IDF, measured on these rows."""
    advice: Advice
    copies: NearCopies
    heads: HeadsResult = field(default_factory=HeadsResult)
    """The models' own heads on the same rows."""
    untrained: str = ""
    """The sentence why no classifier learns from the rows, of which then only the models' own
    heads are scored; empty where classifiers do."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredList:
    """Rows with a score through all models, next to a regression on their words."""

    texts: TextList
    labels: Mapping[str, str]
    pooling: str
    layers: Mapping[str, int]
    """By model the layer whose features are judged; 0 is the embeddings."""
    result: ScoredResult
    costs: Mapping[str, Cost]
    """By model, measured on these rows."""
    copies: NearCopies
    heads: HeadScoresResult = field(default_factory=HeadScoresResult)
    """The models' own heads on the same rows."""


@dataclass(frozen=True, slots=True, eq=False)
class UnjudgedList:
    """Rows with a label or a score of a list that ended early: none has a prediction yet."""

    texts: TextList
    labels: Mapping[str, str]
    pooling: str


@dataclass(frozen=True, slots=True, eq=False)
class EncodedList:
    """Features of a list's rows by all models."""

    features: Mapping[str, np.ndarray]
    """By model float32 [row, layer + 1, d_model]."""
    costs: Mapping[str, Cost]
    heads: AskedHeads = field(default_factory=AskedHeads)
    """The models' own heads that were asked too, and why others were not."""
    logits: Mapping[str, np.ndarray] = field(default_factory=dict)
    """By model of these float32 [row, output]."""


ListResult = (
    MaskedList
    | SentenceList
    | PairList
    | LabelledList
    | MultilabelList
    | ScoredList
    | TaggedList
    | UnjudgedList
)


def is_untrained(result: ListResult) -> bool:
    """Return whether labels are there and no classifier learns from the rows."""
    return isinstance(result, LabelledList) and bool(result.untrained)


def masked_list(texts: TextList, labels: Mapping[str, str], block: MaskedBlock) -> MaskedList:
    """Return the result of masked rows from the answers to all of them."""
    summary = masked_summary(block.answers, texts.rows)
    return MaskedList(texts, labels, block.answers, block.divergence, summary)


def sentence_list(
    texts: TextList, labels: Mapping[str, str], scores: Mapping[str, Sequence[SentenceScore]]
) -> SentenceList:
    """Return the result of plain sentences from their scores by model."""
    return SentenceList(texts, labels, scores, sentences_summary(scores))


def pair_list(
    texts: TextList,
    labels: Mapping[str, str],
    scores: Mapping[str, Sequence[Sequence[Any]]],
    score: str,
) -> PairList:
    """Return the result of pairs from each row's scores: of both sentences, and of a blank."""
    blanks = {
        key: tuple(sides[2] if sides[2:] else None for sides in rows)
        for key, rows in scores.items()
        if any(row.blank for row in texts.rows)
    }
    scores = {key: [sides[:2] for sides in rows] for key, rows in scores.items()}
    good = {key: tuple(sides[0] for sides in rows) for key, rows in scores.items()}
    bad = {key: tuple(sides[1] for sides in rows) for key, rows in scores.items()}
    margins = {
        key: read_only(np.array([g.value(score) - b.value(score) for g, b in rows]))
        for key, rows in scores.items()
    }
    unknown = {
        key: np.array([g.n_unknown + b.n_unknown > 0 for g, b in rows])
        for key, rows in scores.items()
    }
    summary = pairs_summary(margins, [row.group for row in texts.rows], unknown)
    unmodified = {
        key: read_only(np.array([unmodified_scores(g, b) for g, b in rows]).reshape(-1, 2))
        for key, rows in scores.items()
    }
    sides, directions = sides_of(texts), [row.direction for row in texts.rows]
    crows = {key: crows_score(each, directions) for key, each in unmodified.items()}
    return PairList(
        *(texts, labels, score, good, bad, margins, summary, sides, unmodified),
        crows if sides.is_crows else {},
        blanks,
        stereo_scores(blanks, [row.term for row in texts.rows]),
    )


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
        BadRows: too few rows, or one label alone, can be used, and no model's own head is asked.
    """
    from threadpoolctl import threadpool_limits

    try:
        usable(texts)
    except BadRows as refusal:
        if not encoded.heads.heads:
            raise
        return _by_own_heads(texts, labels, encoded, options.pooling, str(refusal))
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
    logits = {key: of_model[is_kept] for key, of_model in encoded.logits.items()}
    layers = {key: options.layer % of_model.shape[1] for key, of_model in features.items()}
    asked, words = labels_of(kept), [row.read for row in kept.rows]
    judged_by, curves = {}, {}
    has_curves = options.curves and len(asked.names) <= MAX_CLASSES
    n_steps = 1 + sum(each.shape[1] + 1 if has_curves else 1 for each in features.values())
    steps = iter(range(1, n_steps + 1))
    yield 0, n_steps
    for key, of_model in features.items():
        model = _model_steps(of_model, asked, layers[key], has_curves, check)
        while key not in judged_by:
            try:
                next(model)
            except StopIteration as end:
                judged_by[key], curves[key] = end.value
            yield next(steps), n_steps
    judged_by["tfidf"] = judged(words, asked, WORDS, check)
    yield next(steps), n_steps
    judged_by["majority"] = majority(asked.truth)
    costs = {**encoded.costs, "tfidf": bag_cost(words, asked.truth, judged_by["tfidf"].choices)}
    result = labelled_result(asked, judged_by)
    return LabelledList(
        kept,
        labels,
        options.pooling,
        layers,
        result,
        {key: each[0] for key, each in curves.items() if each},
        {key: each[1] for key, each in curves.items() if each},
        {key: each[2] for key, each in curves.items() if each},
        costs,
        advice(result, labels, costs),
        near_copies(words, asked),
        labelled_heads(encoded.heads, logits, kept, result),
    )


def _by_own_heads(
    texts: TextList, labels: Mapping[str, str], encoded: EncodedList, pooling: str, refusal: str
) -> LabelledList:
    """Return the scores of the models' own heads on rows that no classifier can learn from."""
    asked = labels_of(texts)
    result = labelled_result(asked, {"majority": majority(asked.truth)})
    return LabelledList(
        *(texts, labels, pooling, {}, result, {}, {}, {}, {}),
        Advice(UNTRAINED.format(why=refusal), ()),
        NearCopies(0, 0),
        labelled_heads(encoded.heads, encoded.logits, texts, result),
        refusal,
    )


def scored_list_steps(
    texts: TextList,
    labels: Mapping[str, str],
    encoded: EncodedList,
    options: TextsOptions,
    check: Callable[[], None] = lambda: None,
) -> Generator[tuple[int, int], None, ScoredList]:
    """Train the regressions of rows with a score one after another, and return their results.

    Yields (steps done, all steps). ``check`` is called before each training; what it raises ends
    all.

    Raises:
        BadRows: too few rows can be used, or all have one score.
    """
    from threadpoolctl import threadpool_limits

    truth, each = truth_of(texts), encoded.features
    layers = {key: options.layer % of_model.shape[1] for key, of_model in each.items()}
    features = {key: of_model[:, layers[key]] for key, of_model in each.items()}
    words = [row.read for row in texts.rows]
    features[WORDS_KEY] = word_features(words)
    names = {**labels, WORDS_KEY: words_name(texts)}
    n_steps, n_done = len(features) * (1 + SHUFFLES), 0
    with threadpool_limits(1, user_api="blas"):
        steps = scored_steps(features, truth, names, check)
        while True:
            yield n_done, n_steps
            try:
                next(steps)
            except StopIteration as end:
                result = end.value
                break
            n_done += 1
    copies = scored_copies(words, truth)
    heads = scored_heads(encoded.heads, encoded.logits, truth)
    return ScoredList(texts, labels, options.pooling, layers, result, encoded.costs, copies, heads)


Curves = tuple[tuple[CurvePoint, ...], tuple[float, ...], BestLayer]


def _model_steps(
    features: np.ndarray, labels: Labels, layer: int, with_curves: bool, check: Callable[[], None]
) -> Generator[None, None, tuple[Judged, Curves | None]]:
    """Judge one model, and return its learning curve, each layer's accuracy and the best layer's.

    Yields after each training of a layer.
    """
    if not with_curves:
        return judged(features[:, layer], labels, check=check), None
    by_layer = []
    for place in range(features.shape[1]):
        by_layer.append(judged(features[:, place], labels, check=check))
        yield
    curve = learning_curve(features[:, layer], labels, by_layer[layer], check)
    learning = tuple(CurvePoint(size, mean_accuracy(right, labels)) for size, right in curve)
    of_layers = tuple(float((each.predicted == labels.truth).mean()) for each in by_layer)
    best, chosen = best_layers(by_layer, labels)
    layered = BestLayer(accuracy(best, labels), chosen, gain(labels, best, by_layer[layer]))
    return by_layer[layer], (learning, of_layers, layered)
