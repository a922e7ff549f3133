"""Soft predictions of teacher and student, the losses of the recipe, and a student trained live."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from explorer.analysis.records import Records
from explorer.inference.ask import Ask
from explorer.inference.runs import call_on_model, get_run, stream_live_distillation
from explorer.library import refusals
from explorer.library.family import Family, asked
from explorer.library.results import Result
from explorer.models.choice.family import pair_of
from explorer.refusal import Refusal
from explorer.views.notebook import Sketch

if TYPE_CHECKING:
    import numpy as np

    from explorer.analysis.distillation.live import LiveReport, LiveSettings
    from explorer.analysis.distillation.losses import PairLogits, SentenceLosses
    from explorer.analysis.distillation.soft import AgreementAtLarge, SoftPair
    from explorer.models.run import Run
    from explorer.models.specs import ModelSpec

TOP_K = 10
"""Tokens of each model's list at a mask; both lists are joined."""
WATCHED_WORDS = 8
"""Words of a sentence whose probabilities are followed while a student is trained."""
MEASURES = ("kl_teacher_student", "kl_student_teacher", "js", "entropy_teacher", "entropy_student")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Distillation(Result):
    """Teacher's and student's soft predictions at each mask, and the losses of the text."""

    temperature: float
    models: tuple[str, str]
    """The columns of teacher and student."""
    positions: tuple[int, ...]
    masks: "tuple[SoftPair, ...]"
    """Per mask: tokens, both probabilities of each, divergences in nats."""
    losses: "SentenceLosses"

    COLUMNS: ClassVar = ("mask", "token", "teacher", "student")
    SKETCH: ClassVar = Sketch("bars", "token", "student", panels="mask")
    BAR: ClassVar = "student"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/distillation``.

        Per mask the union of both top 10 lists, with probabilities over the full vocabulary, and
        the divergences in nats. The losses as the recipe has them: ``ce`` and ``cos`` are averaged
        over all tokens. ``cos`` is null where the models' widths differ. ``mlm`` is always null,
        because no text says which word stood behind a [MASK]; the page knows it where a word was
        clicked. ``total`` leaves out what is null, and ``total_is_of`` lists its parts.
        """
        from explorer.analysis.distillation.triple_loss import WEIGHTS

        masks = [
            {"position": position, **_mask(pair)}
            for position, pair in zip(self.positions, self.masks, strict=True)
        ]
        known = [name for name in ("mlm", "cos") if getattr(self.losses, name) is not None]
        losses = {
            "ce": float(self.losses.ce[0]),
            "mlm": self.losses.mlm,
            "cos": self.losses.cos,
            "total": self.losses.total(0, WEIGHTS),
            "total_is_of": ["ce", *known],
        }
        answer = {"temperature": self.temperature, "masks": masks, "losses": losses}
        return answer | {"weights": dict(WEIGHTS)}

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each mask and token, with both probabilities."""
        return [
            (mask, token, float(teacher), float(student))
            for mask, pair in enumerate(self.masks)
            for token, teacher, student in zip(pair.tokens, pair.teacher, pair.student, strict=True)
        ]

    def figure(self) -> Any:  # noqa: ANN401 - go.Figure
        """Return a Plotly figure of both models' probabilities at each mask."""
        from explorer.views.notebook import sketch

        rows = [
            (model, mask, token, value)
            for mask, token, teacher, student in self.rows()
            for model, value in zip(self.models, (teacher, student), strict=True)
        ]
        how = Sketch("bars", "token", "probability", panels="model mask")
        return sketch(
            Records(("model", "mask", "token", "probability"), rows), how, self.model_columns
        )


def distillation(
    text: str,
    family: Family | str = "mini",
    temperature: float = 2.0,
    teacher: str = "",
    student: str = "",
) -> Distillation:
    """Return teacher's and student's soft predictions at each [MASK], and the recipe's losses.

    Args:
        text: The text, with at least one [MASK]; every one is compared.
        family: What ``load`` returned, or the name of a family.
        temperature: Divides the logits, from 0.05 to 20; 1 leaves the models as they are.
        teacher: The column of the teacher; empty: BERT, or a model whose student is there, or the
            first of two models with one vocabulary. Any two that are compared must have one.
        student: The column of the student; empty: the same for DistilBERT.

    Returns:
        ``masks``: by mask both models' soft probabilities, divergences and entropies in nats.
        ``losses``: the terms of the recipe's loss (Sanh et al. 2019).

    Raises:
        Refusal: there is no mask, the temperature is out of range, a model is not available, or the
            two have no common vocabulary.

    Example:
        >>> round(explorer.distillation("The capital of France is [MASK].").masks[0].js, 3)
        0.005
    """
    from explorer.analysis.distillation.losses import sentence_losses
    from explorer.analysis.distillation.soft import check_temperature, soft_pair

    with asked(family) as models:
        temperature = check_temperature(temperature)
        keys = _chosen_pair(models, teacher, student)
        pair = pair_logits(models.ask(text), keys=keys)
        positions = pair.teacher.tokens.mask_positions
        if not positions:
            raise Refusal(refusals.NO_MASK_TO_COMPARE)
        return Distillation(
            temperature,
            keys,
            positions,
            tuple(
                soft_pair(pair.teacher, pair.student, i, temperature, TOP_K)
                for i in range(len(positions))
            ),
            sentence_losses(pair, temperatures=(temperature,)),
        )


def run_of(key: str, ask: Ask, text: str) -> "Run":
    """Return the run of one model of the family on a text.

    Raises:
        ModelUnavailable: the weights are not available. BadText: the text cannot be run.
    """
    from explorer.models.forward import NO_HEAD
    from explorer.models.hub import ModelUnavailable

    spec = ask.specs[key]
    if not spec.has_head:
        raise ModelUnavailable(spec, NO_HEAD)
    return get_run(spec, replace(ask, text=text))


def _chosen_pair(models: Family, teacher: str, student: str) -> tuple[str, str]:
    """Return the columns of teacher and student; those not named are found by ``pair_of``.

    Raises:
        Refusal: there is no such column, or no pair.
    """
    for name in (teacher, student):
        if name:
            models.spec(name)
    chosen = pair_of(models.specs, teacher, student)
    if chosen is None:
        raise Refusal(refusals.NO_PAIR)
    if chosen[0] == chosen[1]:
        raise Refusal(refusals.ONE_OF_PAIR.format(name=chosen[0]))
    return chosen


def pair_logits(
    ask: Ask, text: str | None = None, keys: tuple[str, str] | None = None
) -> "PairLogits":
    """Run teacher and student on a text, with the head's logits at every token.

    ``keys`` are their columns; None: those of ``pair_of``.

    Raises:
        Refusal: the family has no such pair.
        ModelUnavailable: one of them is not available. BadText: the text cannot be run.
    """
    from explorer.analysis.distillation.losses import PairLogits
    from explorer.models.forward import state_logits

    def both(key: str) -> "tuple[Run, np.ndarray]":
        run = run_of(key, ask, ask.text if text is None else text)
        return run, call_on_model(state_logits, run.spec, ask, run.hidden_states[-1])

    keys = keys or pair_of(ask.specs)
    if keys is None:
        raise Refusal(refusals.NO_PAIR)
    (teacher, teacher_logits), (student, student_logits) = map(both, keys)
    return PairLogits(teacher, student, teacher_logits, student_logits)


@dataclass(frozen=True, slots=True, eq=False)
class WordLosses:
    """Losses of a text whose masked word may be known."""

    losses: "SentenceLosses"
    teacher: "Run"
    n_masks: int
    answer: int
    """Token id of the masked word; -1 where it is unknown or no single token."""


def word_losses(ask: Ask, text: str, keys: tuple[str, str], mask: int, word: str) -> WordLosses:
    """Return the recipe's losses on a text; ``word`` is what was masked at ``mask``, if known.

    Raises:
        ModelUnavailable: a model is not available. BadText: the text cannot be run.
    """
    from explorer.analysis.distillation.losses import sentence_losses
    from explorer.analysis.distillation.soft import piece_id

    pair = pair_logits(ask, text, keys)
    answer = piece_id(pair.teacher, word) if word else -1
    losses = sentence_losses(pair, (*(None,) * mask, answer if answer >= 0 else None))
    return WordLosses(losses, pair.teacher, len(pair.student.tokens.mask_positions), answer)


@dataclass(frozen=True, slots=True, eq=False)
class SentencesAgreement:
    """Agreement of teacher and student over sentences of one mask each."""

    agreement: "AgreementAtLarge"
    vocabulary: tuple[str, ...]
    specs: "tuple[ModelSpec, ModelSpec]"


def sentences_agreement(
    ask: Ask, keys: tuple[str, str], sentences: Sequence[Mapping[str, str]]
) -> Generator[int, None, SentencesAgreement]:
    """Compare two models on every sentence; yield how many are done, and return the agreement.

    Raises:
        NotAPair: the two have no common vocabulary. ModelUnavailable: one is not available.
    """
    import numpy as np

    from explorer.analysis.distillation.soft import agreement_at_large, check_pair, piece_id

    runs: list[tuple[Run, Run]] = []
    for sentence in sentences:
        teacher, student = (run_of(key, ask, sentence["text"]) for key in keys)
        check_pair(teacher, student)
        runs.append((teacher, student))
        yield len(runs)
    before, after = (
        np.stack([run.mask_logits[0] for run in side]) for side in zip(*runs, strict=True)
    )
    answers = [
        piece_id(pair[0], sentence["answer"])
        for pair, sentence in zip(runs, sentences, strict=True)
    ]
    teacher, student = runs[0]
    return SentencesAgreement(
        agreement_at_large(before, after, np.array(answers)),
        teacher.vocabulary,
        (teacher.spec, student.spec),
    )


@dataclass(frozen=True, slots=True, eq=False)
class LiveRun:
    """Reports of a student so far, and the words of the sentence that it is watched at."""

    reports: "tuple[LiveReport, ...]"
    words: tuple[str, ...]
    teacher: "np.ndarray"
    """The teacher's probabilities of the words."""


def live_distillation(
    ask: Ask, key: str, mask: int, settings: "LiveSettings"
) -> "Iterator[LiveRun | None]":
    """Train a student of a teacher, watched at one mask of the text of ``ask``.

    It yields all reports so far after each, and None after a step without a report.
    """
    from explorer.analysis.distillation.live import WatchedSentence
    from explorer.analysis.distillation.soft import top_ids
    from explorer.analysis.measures import softmax
    from explorer.models.tokens import spelling_of

    run = run_of(key, ask, ask.text)
    logits, position = run.mask_logits[mask], run.tokens.mask_positions[mask]
    ids = top_ids(logits, WATCHED_WORDS)
    watched = WatchedSentence(run.tokens.ids, position, tuple(int(i) for i in ids))
    spelling = spelling_of(run.vocabulary)
    words = tuple(spelling.word(run.vocabulary[i]) for i in ids)
    live_run = LiveRun((), words, softmax(logits, settings.temperature)[ids])
    for report in stream_live_distillation(run.spec, ask, settings, watched):
        if report is not None:
            live_run = replace(live_run, reports=(*live_run.reports, report))
        yield None if report is None else live_run


def _mask(pair: "SoftPair") -> dict[str, Any]:
    return {
        "tokens": list(pair.tokens),
        "teacher": pair.teacher.tolist(),
        "student": pair.student.tolist(),
        **{name: getattr(pair, name) for name in MEASURES},
    }
