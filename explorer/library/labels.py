"""Answers of heads that label a text or its words, in any checkpoint that brings one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from explorer.inference.ask import Ask
from explorer.inference.runs import answer_of_model, gather
from explorer.library import refusals, strings
from explorer.library.family import Family, asked, checked_text, is_index
from explorer.library.results import AttributionResult, Result, attribution_fields
from explorer.models.choice.labels import LabelNames, with_labels
from explorer.models.specs import ModelSpec
from explorer.models.tokens import clean_text, split_words
from explorer.refusal import Refusal, joined
from explorer.views.notebook import Sketch

if TYPE_CHECKING:
    from explorer.analysis.tasks.entities import WordTags
    from explorer.analysis.tasks.labels import LabelAttribution, LabelValues

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labels(Result):
    """Each model's value of each of its labels for a text."""

    text: str
    """The text as it was read."""
    family: str
    models: "Mapping[str, LabelValues]"
    missing: Mapping[str, str]
    """By model key: why a model has no value."""

    COLUMNS: ClassVar = ("model", "rank", "label", "value", "problem")
    SKETCH: ClassVar = Sketch("bars", "label", "value")
    BAR: ClassVar = "value"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/classify``.

        Per model its ``labels`` by falling ``value``. ``problem`` says what a value is:
        "single_label_classification" (probabilities that add up to 1), "multi_label_classification"
        (a probability for each label) or "regression" (a score). ``missing`` says which models
        bring no such head.
        """
        models = [
            {
                "model": key,
                "problem": labelled.problem,
                "labels": [
                    {"label": labelled.labels[place], "value": float(labelled.values[place])}
                    for place in labelled.order
                ],
            }
            for key, labelled in self.models.items()
        ]
        answer = {"text": self.text, "family": self.family, "models": models}
        return answer | {"missing": dict(self.missing)}

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model and label; ranks count from 1."""
        return [
            (key, rank, labelled.labels[place], float(labelled.values[place]), labelled.problem)
            for key, labelled in self.models.items()
            for rank, place in enumerate(labelled.order, 1)
        ]

    def sentences(self) -> tuple[str, ...]:
        """Say which labels the models share, where they have not all the same ones."""
        return strings.labels_shared(
            {key: labelled.labels for key, labelled in self.models.items()}
        )


def classify(text: str, family: Family | str = "mini", labels: LabelNames | None = None) -> Labels:
    """Return the value that each model's classifier gives to each of its labels for a text.

    The head is the one that the checkpoint was fine-tuned with, whatever its labels are, or else
    the sentiment adapter next to it. ``problem_type`` in its config.json decides how the outputs
    are read. A softmax gives probabilities that add up to 1. A sigmoid of each label is for texts
    that may have several labels. A score is unchanged, also if there is only one label.

    Args:
        text: The text; ``A [SEP] B`` is a pair, as in natural language inference.
        family: What ``load`` returned, or the name of a family.
        labels: Names for a head's labels, by column and in the order of its outputs:
            {"bert": ["negative", "positive"]}. The names, not the numbers, say which labels of two
            models are the same.

    Returns:
        Each model's ``labels`` and ``values``, float64 [label], and ``top``, the label with the
        largest value.

    Raises:
        Refusal: the text is empty or too long, no model has such a head, or the names do not fit.

    Example:
        >>> explorer.classify("A gorgeous, witty film.").models["bert"].top
        'positive'
    """
    from explorer.analysis.tasks.labels import text_labels

    with asked(family) as models:
        ask = models.ask(text)
        answers, missing = ask_each(
            with_labels(models.specs, labels), ask, text_labels, clean_text(ask.text)
        )
        return Labels(clean_text(ask.text), models.name, answers, missing)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Entities(Result):
    """Spans of a text that each model's token classifier labels."""

    text: str
    """The text as it was read."""
    family: str
    models: "Mapping[str, WordTags]"
    missing: Mapping[str, str]
    """By model key: why a model has no answer."""

    COLUMNS: ClassVar = (
        *("model", "label", "text", "start", "end", "first", "last", "score", "is_whole"),
    )
    SKETCH: ClassVar = Sketch("bars", "text", "score")
    BAR: ClassVar = "score"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/entities``.

        Per model the ``words``, their ``tags`` (of the first token of each) and ``probabilities``,
        and the ``entities`` that the tags make. An entity has its ``label``, its ``text``,
        ``start`` and ``end`` in characters, and ``first`` and ``last`` in words from 0. ``score``
        is the mean probability of its tags, and ``is_whole`` is false where these break their
        scheme. ``missing`` says which models bring no such head.
        """
        models = [
            {
                "model": key,
                "words": list(tagged.words),
                "tags": list(tagged.tags),
                "probabilities": tagged.probabilities.tolist(),
                "entities": [
                    dict(zip(self.COLUMNS[1:], row[1:], strict=True))
                    for row in self.rows()
                    if row[0] == key
                ],
            }
            for key, tagged in self.models.items()
        ]
        answer = {"text": self.text, "family": self.family, "models": models}
        return answer | {"missing": dict(self.missing)}

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model and span."""
        return [
            (
                *(key, e.label, self.text[e.start : e.end], e.start, e.end),
                *(e.first, e.last, e.score, e.is_whole),
            )
            for key, tagged in self.models.items()
            for e in tagged.entities
        ]


def entities(
    text: str, family: Family | str = "mini", labels: LabelNames | None = None
) -> Entities:
    """Return the spans of a text that each model's token classifier labels, such as names.

    A word has the tag of its first token (Devlin et al. 2019, section 5.3). The tags of the schemes
    BIO, BIOES and BILOU are joined by the rule of conlleval; ``is_whole`` is False where they break
    their scheme. Tags without prefixes are joined where there is a tag O, and else are spans of
    one word each, such as parts of speech. ``score`` is the mean probability of a span's tags.

    Args:
        text: The text.
        family: What ``load`` returned, or the name of a family. The bundled and published models
            have no such head: name columns that have one.
        labels: Names for a head's tags, by column and in the order of its outputs:
            {"bert": ["O", "B-PER", "I-PER"]}.

    Returns:
        Each model's ``words``, ``tags``, ``probabilities``, float64 [word], and ``entities``:
        ``start`` and ``end`` are characters, half-open; ``first`` and ``last`` are words from 0,
        both included. Models without such a head are in ``missing``, with the reason.

    Raises:
        Refusal: the text is empty or too long, or the names do not fit.

    Example:
        >>> explorer.entities("Anna Berg lives in Paris.").missing["bert"]
        'mini-BERT brings no head that labels tokens.'
    """
    from explorer.analysis.tasks.entities import text_tags

    with asked(family) as models:
        ask, specs = models.ask(text), with_labels(models.specs, labels)
        answers, missing = ask_each(
            specs, ask, text_tags, clean_text(ask.text), none_is_answer=True
        )
        return Entities(clean_text(ask.text), models.name, answers, missing)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelAttributions(AttributionResult):
    """The words that each model's label is read from, by two methods."""

    text: str
    family: str
    models: "Mapping[str, LabelAttribution]"
    missing: Mapping[str, str]
    word: int = -1
    """Word whose label is attributed, from 0; -1: the label is the text's."""

    COLUMNS: ClassVar = (
        *("model", "label", "word", "integrated_gradients", "leave_one_out", "baseline"),
    )
    SKETCH: ClassVar = Sketch("bars", "word", "integrated_gradients")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/attribute`` with a label.

        With a label, the attributed ``value`` is the ``label``'s log-odds, or a score, and
        ``leave_one_out`` removes each word in turn. With a word, it is the log-odds of that word's
        label at its first token, and ``leave_one_out`` masks each word in turn.
        """
        models = [
            {
                "model": key,
                "label": attribution.label,
                "value": attribution.value,
                **attribution_fields(attribution),
            }
            for key, attribution in self.models.items()
        ]
        answer = {"text": self.text, "family": self.family, "models": models}
        of_word = {"word": self.word} if self.word >= 0 else {}
        return answer | of_word | {"missing": dict(self.missing)}


def attribute_label(text: str, family: Family | str, label: str, word: int) -> LabelAttributions:
    """Return which words of a text each model's label is read from: ``attribute`` with a label.

    The label is the text's where ``word`` is -1, and else that word's.

    Raises:
        Refusal: no model has such a label, there is no such word, or the text is empty or too long.
    """
    from explorer.analysis.tasks.labels import PREDICTED

    with asked(family) as models:
        ask = models.ask(text)
        segment, n_words = clean_text(ask.text), len(split_words(clean_text(ask.text)))
        if not is_index(word, n_words) and (word != -1 or isinstance(word, bool)):
            raise Refusal(refusals.BAD_LABELLED_WORD.format(last=n_words - 1))
        label = checked_text(label, "label").strip() or PREDICTED
        attributions, missing = why_label(models.specs, ask, segment, label, int(word))
        return LabelAttributions(segment, models.name, attributions, missing, int(word))


def why_label(
    specs: Mapping[str, ModelSpec], ask: Ask, text: str, label: str, word: int = -1
) -> "tuple[dict[str, LabelAttribution], dict[str, str]]":
    """Return the attribution of a text's or a word's label by each model that has it.

    Returns:
        The attributions, and why the other models have none.

    Raises:
        Refusal: no model has such a label, or the text cannot be read.
    """
    from explorer.analysis.tasks.entities import word_attribution
    from explorer.analysis.tasks.labels import PREDICTED, label_attribution

    task = "classes" if word < 0 else "tokens"
    others: dict[str, str] = {}
    for key, spec in specs.items():
        known = labels_of(spec, task)
        if known and label != PREDICTED and label not in known:
            others[key] = refusals.no_such_label(spec.label, label, known)
    specs = {key: spec for key, spec in specs.items() if key not in others}
    if not specs:
        raise Refusal(joined(others.values()))
    if word < 0:
        attributions, missing = ask_each(specs, ask, label_attribution, text, label)
    else:
        attributions, missing = ask_each(specs, ask, word_attribution, text, word, label)
    return attributions, {**others, **missing}


def labels_of(spec: ModelSpec, task: str = "classes") -> tuple[str, ...]:
    """Return the labels of a model's classifier of texts or of tokens; none where it has none."""
    from explorer.analysis.spans import label_names
    from explorer.models.task_heads.adapters import NotTuned, head_for

    try:
        labels = head_for(spec, task)[1].labels
    except NotTuned:
        return ()
    return label_names(labels) if task == "tokens" else labels


def ask_each(
    specs: Mapping[str, ModelSpec],
    ask: Ask,
    job: Callable[..., Answer],
    *question: object,
    none_is_answer: bool = False,
) -> tuple[dict[str, Answer], dict[str, str]]:
    """Return the answers of the models that have one, and why the others have none.

    Args:
        specs: The models.
        ask: Device and precision.
        job: What each model is asked.
        question: Further arguments of the job.
        none_is_answer: True where no model need have such a head.

    Raises:
        Refusal: no model has one; the message holds each reason once.
    """
    from explorer.models.task_heads.adapters import NotTuned

    jobs = [partial(_answer_or_refusal, job, spec, ask, *question) for spec in specs.values()]
    answers = dict(zip(specs, gather(jobs), strict=True))
    refused = {key: said for key, said in answers.items() if isinstance(said, Refusal)}
    missing = {key: str(said) for key, said in refused.items()}
    lack_heads = all(isinstance(said, NotTuned) for said in refused.values())
    if len(missing) == len(answers) and not (none_is_answer and lack_heads):
        raise Refusal(joined(dict.fromkeys(missing.values())))
    return {k: said for k, said in answers.items() if not isinstance(said, Refusal)}, missing


def _answer_or_refusal(
    job: Callable[..., Answer], spec: ModelSpec, ask: Ask, *question: object
) -> Answer | Refusal:
    try:
        return answer_of_model(job, spec, ask, *question)
    except Refusal as refusal:
        return refusal
