"""Answers of three task heads: sentence pairs, sentiment, questions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from explorer import assets
from explorer.inference.ask import Ask
from explorer.inference.runs import answer_of_model, call_on_model, gather, get_run
from explorer.library import refusals, strings
from explorer.library.family import Family, asked, checked_text
from explorer.library.results import AttributionResult, Result, attribution_fields
from explorer.models.specs import ModelSpec
from explorer.models.tokens import SEPARATOR, BadText, clean_text, plain_text
from explorer.refusal import Refusal, joined
from explorer.views.notebook import Sketch

if TYPE_CHECKING:
    from explorer.analysis.tasks.pairs import PairAccuracy, PairOrders, SentencePair
    from explorer.analysis.tasks.tuned import AnswerSpans, WordSentiment

Answer = TypeVar("Answer")
Specs = dict[str, ModelSpec]


@dataclass(frozen=True, slots=True)
class PairAnswer:
    """One model's sentence-pair prediction, or why there is none."""

    model: str
    objective: str | None
    """``nsp``: does the second follow? ``sop``: are they in order? None without such training."""
    trained: bool
    probability_in_order: float | None
    probability_swapped: float | None
    note: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairAnswers(Result):
    """Each model's prediction for two sentences, as given and swapped."""

    models: tuple[PairAnswer, ...]

    COLUMNS: ClassVar = PairAnswer.__slots__
    SKETCH: ClassVar = Sketch("bars", "objective", "probability_in_order")
    BAR: ClassVar = "probability_in_order"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/pair``.

        Per model its ``objective``: "nsp" (does the second follow?), "sop" (are they in order?) or
        null. ``trained`` says whether the checkpoint holds such a head. The probability of yes for
        both orders is null without it. A ``note`` says how good the head is, or why there is none.
        """
        return {"models": [dict(zip(self.COLUMNS, row, strict=True)) for row in self.rows()]}

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model."""
        return [tuple(getattr(answer, name) for name in self.COLUMNS) for answer in self.models]


def pair(first: str, second: str, family: Family | str = "mini") -> PairAnswers:
    """Return each model's sentence-pair prediction for two sentences, as given and swapped.

    Args:
        first: The first sentence.
        second: The second sentence.
        family: What ``load`` returned, or the name of a family.

    Returns:
        ``models``: each one's ``objective`` ("nsp", "sop" or None) and, if its head is trained, the
        probabilities of the pair as given and swapped.

    Raises:
        Refusal: a sentence is empty or too long.

    Example:
        >>> pair = explorer.pair("She poured the tea.", "It was hot.")
        >>> [model.objective for model in pair.models]
        ['nsp', None, 'sop']
    """
    from explorer.analysis.tasks.pairs import SentencePair

    with asked(family) as models:
        sentences = [
            " ".join(plain_text(checked_text(sentence, name)).replace(SEPARATOR, " ").split())
            for name, sentence in (("first", first), ("second", second))
        ]
        if not all(any(map(str.isalnum, sentence)) for sentence in sentences):
            raise Refusal(refusals.BAD_PAIR)
        asked_pair = SentencePair(sentences[0], sentences[1], sentences[1])
        ask = models.ask()
        return PairAnswers(
            tuple(_pair_answer(spec, asked_pair, ask) for spec in models.specs.values())
        )


def head_is_there(spec: ModelSpec, ask: Ask) -> bool:
    """Return whether the checkpoint holds a pair head."""
    from explorer.models.task_heads.classifiers import has_pair_head

    return call_on_model(has_pair_head, spec, ask)


def skill_of(spec: ModelSpec) -> "PairAccuracy | None":
    """Return how many held-out pairs the model's head classifies correctly, if measured."""
    from explorer.analysis.tasks.pairs import pair_accuracy

    return (
        pair_accuracy(assets.results(), spec.name, spec.kind.pair.objective)
        if spec.kind.pair
        else None
    )


def ask_heads(
    specs: Mapping[str, ModelSpec], pair: "SentencePair", ask: Ask
) -> "dict[str, PairOrders]":
    """Compute each head's answers in the three orders; cached runs are used."""
    from explorer.analysis.tasks.pairs import ORDERS, pair_orders

    jobs = [
        partial(_logits, spec, replace(ask, text=pair.text(order)))
        for spec in specs.values()
        for order in ORDERS
    ]
    logits = iter(gather(jobs))
    return {key: pair_orders(np.stack([next(logits) for _ in ORDERS])) for key in specs}


def _logits(spec: ModelSpec, ask: Ask) -> np.ndarray:
    from explorer.models.task_heads.classifiers import pair_logits

    return call_on_model(pair_logits, spec, ask, get_run(spec, ask).hidden_states[-1, 0])


def _pair_answer(spec: ModelSpec, pair: "SentencePair", ask: Ask) -> PairAnswer:
    from explorer.models.hub import ModelUnavailable

    written: float | None = None
    swapped: float | None = None
    try:
        trained = head_is_there(spec, ask)
        note = strings.head_said(spec, trained, skill_of(spec)).replace("\n", " ")
        if trained:
            answers = ask_heads({spec.key: spec}, pair, ask)
            written, swapped, _ = answers[spec.key].in_order.tolist()
    except ModelUnavailable as error:
        trained, note = False, str(error)
    objective = spec.kind.pair.objective if spec.kind.pair else None
    return PairAnswer(spec.key, objective, trained, written, swapped, note)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sentiment(AttributionResult):
    """Probability of positive by each tuned model, and each word's attribution."""

    models: "Mapping[str, WordSentiment]"
    missing: Mapping[str, str]

    COLUMNS: ClassVar = (
        *("model", "positive", "word", "integrated_gradients", "leave_one_out", "baseline"),
    )
    SKETCH: ClassVar = Sketch("bars", "word", "integrated_gradients")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/sentiment``.

        Per tuned model the probability of ``positive``, the ``words``, and two attributions of
        positive minus negative in logits: ``integrated_gradients`` and ``leave_one_out``. The first
        are integrated from a text of masks to the text. ``baseline`` is positive minus negative of
        the text of masks. ``completeness_error`` is how far the integrated gradients are from
        adding up. ``missing`` says which models are not tuned, and why.
        """
        models = [
            {
                "model": key,
                "positive": result.positive,
                **attribution_fields(result),
            }
            for key, result in self.models.items()
        ]
        return {"models": models, "missing": dict(self.missing)}


def sentiment(text: str, family: Family | str = "mini") -> Sentiment:
    """Return how positive each tuned model finds a text, and each word's attribution.

    Args:
        text: A sentence or a short review, at most 64 words and signs.
        family: What ``load`` returned, or the name of a family.

    Returns:
        Each model's ``difference`` of logits, positive minus negative, and its parts by word,
        float64 [word], by integrated gradients and by leave-one-out.

    Raises:
        Refusal: the text is empty or too long, or no model is tuned for the task.

    Example:
        >>> explorer.sentiment("A gorgeous film.").models["bert"].difference > 0
        True
    """
    from explorer.analysis.tasks.tuned import tuned_sentiment

    with asked(family) as models:
        ask = models.ask()
        specs, missing = _some_tuned(ask, "sst2")
        return Sentiment(
            ask_all(specs, ask, tuned_sentiment, readable(checked_text(text))), missing
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Answers(Result):
    """Each tuned model's answers to a question, as spans of a passage."""

    passage: str
    """The passage as it was read."""
    models: "Mapping[str, AnswerSpans]"
    missing: Mapping[str, str]

    COLUMNS: ClassVar = ("model", "rank", "text", "start", "end", "score")
    SKETCH: ClassVar = Sketch("bars", "text", "score")
    BAR: ClassVar = "score"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/question``.

        Per tuned model its three likeliest ``answers``: ``text``, ``start`` and ``end`` as
        characters of the passage, and ``score``, p(start) p(end). ``passage`` is the text as it was
        read; ``missing`` says which models are not tuned, and why.
        """
        names = ("text", "start", "end", "score")
        models: dict[str, list[dict[str, Any]]] = {key: [] for key in self.models}
        for key, _, *values in self.rows():
            models[key].append(dict(zip(names, values, strict=True)))
        return {
            "passage": self.passage,
            "models": [{"model": key, "answers": answers} for key, answers in models.items()],
            "missing": dict(self.missing),
        }

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model and answer."""
        return [
            (key, rank, self.passage[s.start : s.end], s.start, s.end, s.score)
            for key, result in self.models.items()
            for rank, s in enumerate(result.best, 1)
        ]


def question(question: str, passage: str, family: Family | str = "mini") -> Answers:
    """Return each tuned model's answers to a question, as spans of a passage.

    Args:
        question: The question.
        passage: The text that holds the answer; a long one is read in overlapping windows.
        family: What ``load`` returned, or the name of a family.

    Returns:
        Each model's likeliest spans, ``best``: start and end in characters of the passage, and the
        probability of the span.

    Raises:
        Refusal: question or passage is empty or too long, or no model is tuned for the task.

    Example:
        >>> passage = "The cat sat on the mat."
        >>> best = explorer.question("Who sat?", passage).models["bert"].best[0]
        >>> passage[best.start : best.end]
        'The cat'
    """
    from explorer.analysis.tasks.tuned import tuned_answer
    from explorer.models.task_heads.classifiers import read_passage

    with asked(family) as models:
        ask = models.ask()
        specs, missing = _some_tuned(ask, "squad")
        question = checked_text(question, "question")
        read_text = read_passage(checked_text(passage, "passage"))
        results = ask_all(specs, ask, tuned_answer, question, read_text)
        return Answers(read_text, results, missing)


def tuned_family(ask: Ask, task: str) -> tuple[Specs, dict[str, str]]:
    """Return a family's models with a head for the task, and why the others have none.

    The reason is a missing checkpoint, or else how to train the adapter.
    """
    from explorer.models.hub import ModelUnavailable
    from explorer.models.task_heads.adapters import NotTuned, card_of

    specs: Specs = {}
    missing: dict[str, str] = {}
    for spec in ask.specs.values():
        try:
            call_on_model(card_of, spec, ask, task)
            specs[spec.key] = spec
        except (NotTuned, ModelUnavailable) as error:
            missing[spec.key] = str(error)
    return specs, missing


def ask_all(
    specs: Mapping[str, ModelSpec],
    ask: Ask,
    compute: Callable[..., Answer],
    *question: str,
) -> dict[str, Answer]:
    """Return every model's answer to one question; cached answers run no model."""
    jobs = [partial(answer_of_model, compute, spec, ask, *question) for spec in specs.values()]
    return dict(zip(specs, gather(jobs), strict=True))


def readable(text: str) -> str:
    """Return a text as the sentiment heads read it: one segment, without [SEP].

    Raises:
        BadText: there is no word in it.
    """
    segment = " ".join(clean_text(text).replace(SEPARATOR, " ").split())
    if not any(map(str.isalnum, segment)):
        raise BadText(refusals.NO_TEXT)
    return segment


def _some_tuned(ask: Ask, task: str) -> tuple[Specs, dict[str, str]]:
    specs, missing = tuned_family(ask, task)
    if not specs:
        raise Refusal(joined(missing.values()))
    return specs, missing
