"""Models timed on the work behind a score: the passes of one answer, at the length of its texts."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer import assets
from explorer.analysis.latency.model_choice import (
    Candidate,
    Comparison,
    Figure,
    Limits,
    NamedModel,
    VariantMeasures,
    exactly,
    measure_with_variants,
    shares_of,
    variant_measures,
)
from explorer.analysis.tasks.scores import (
    TASKS,
    PrintedScore,
    fitting_cards,
    printed_scores,
    tuned_scores,
)
from explorer.inference.ask import Ask
from explorer.inference.runs import device_of, runs_with_mlm_head
from explorer.library.latency import mean_tokens, read_sentences
from explorer.models.specs import BASE, ModelSpec, distilled_pair
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.timing.workload import MAX_LENGTH, Workload, clock_on

if TYPE_CHECKING:
    from explorer.analysis.latency.family import FamilyLatency
    from explorer.analysis.latency.faster import FasterResult
    from explorer.analysis.latency.passes import ModelOnDevice
    from explorer.analysis.latency.summary import LatencySummary

Figures = Mapping[str, Figure]
BUDGET_S = 10.0
RUN_HERE = ("right", "agreement")
"""Scores that are computed from the models' words for the bundled sentences."""
UNCOUNTED = 32
"""Length of a pass where no model is available to count the tokens of the sentences."""


@dataclass(frozen=True, slots=True)
class Work:
    """Cost of one answer of a score: forward passes of one length."""

    score: str
    workload: Workload
    passes: Mapping[str, float]
    """Mean number of passes of an answer, by model key."""
    length_of: str = ""
    """Key in ``SCORE_WORK`` of what has this length; empty: the score's own texts."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredModels:
    """Result of one measurement, with the models and the score it belongs to."""

    score: str
    """Score of the timed work; for another score no time is known."""
    family: tuple[str, ...]
    """Names of the measured models; for another family nothing is known."""
    workload: Workload
    """Timed pass; on another device or in another precision nothing is known."""
    milliseconds: Figures
    """Time of one answer, by model name."""
    shares: Mapping[str, Figures]
    """Shares by score, then model name."""
    ways: tuple[VariantMeasures, ...] = ()
    """Runtimes and precisions, if they were requested."""

    def tells(self, ask: Ask, score: str) -> bool:
        """Return whether this was measured for these models and the work of this score."""
        is_one_work = {self.score, score} <= set(RUN_HERE)
        place = (self.workload.device, self.workload.dtype)
        return (
            self.family == names_of(ask)
            and place == (device_of(ask), ask.dtype)
            and (self.score == score or is_one_work)
        )


@dataclass(frozen=True, slots=True, eq=False)
class TimingProgress:
    """Times so far, and the shares of the sentences that were run before."""

    work: Work
    shares: Mapping[str, Figures]
    """Shares by score, then model name."""
    result: "FamilyLatency | None" = None
    faster: "FasterResult | None" = None


def work_of(ask: Ask, score: str, own: tuple[ModelSpec, ...]) -> Work:
    """Return the passes behind a score: windows, phrases, or the bundled sentences."""
    cards, _ = fitting_cards(ask.specs, score) if score in TASKS else ({}, {})
    scores = {key: card["scores"][TASKS[score]] for key, card in cards.items()}
    lengths = [entry["tokens"] for entry in scores.values() if "tokens" in entry]
    length_of = "" if lengths or (own and score in RUN_HERE) else "sentences"
    if not lengths:
        lengths = [mean_tokens(spec, ask) for spec in own] or [UNCOUNTED]
        length_of = length_of if own else "nothing"
    device, length = device_of(ask), min(max(round(max(lengths)), 2), MAX_LENGTH)
    workload = Workload(length, 1, device, ask.dtype, clock=clock_on(device, "wait"))
    passes = {key: entry.get("passes", 1.0) for key, entry in scores.items()}
    return Work(score, workload, passes, length_of)


def shares_here(
    own: tuple[ModelSpec, ...], ask: Ask
) -> Generator[int, None, dict[str, dict[str, Figure]]]:
    """Run models on the bundled sentences; yield how many are done, and return their shares."""
    words: dict[str, list[str]] = {spec.name: [] for spec in own}
    for n_done, words_by_model in enumerate(read_sentences(own, ask), 1):
        for name, word in words_by_model.items():
            words[name].append(word)
        yield n_done
    answers = [sentence["answer"] for sentence in assets.sentences()]
    return shares_of(words, answers, ask.specs[distilled_pair()[0]].name)


def timed_family(
    ask: Ask,
    score: str,
    compared: Sequence[ModelSpec],
    with_ways: bool,
    cancel_token: CancelToken,
) -> Generator[int | TimingProgress, None, None]:
    """Run a family on the sentences if the score needs it, then time it on the score's work.

    It yields the number of sentences that are done, then the times so far.

    Args:
        ask: The family, the device and the precision.
        score: Key of the score.
        compared: The models to time besides those of the family that are available.
        with_ways: Whether other runtimes and precisions are timed too; float32 only.
        cancel_token: Stops the measurement.
    """
    runs, _ = runs_with_mlm_head(ask)
    own = tuple(run.spec for run in runs.values())
    shares: Mapping[str, Mapping[str, Figure]] = {}
    if score in RUN_HERE:
        shares = yield from shares_here(own, ask)
    progress = TimingProgress(work_of(ask, score, own), shares)
    yield progress
    specs = (*own, *(spec for spec in compared if spec not in own))
    run_otherwise = own if with_ways and ask.dtype == "float32" else ()
    # Held only now: a run of a model would wait for the end of the measurement.
    with MEASUREMENT_LOCK.measure(cancel_token.check):
        for result, faster in measure_with_variants(
            specs, run_otherwise, progress.work.workload, BUDGET_S, cancel_token
        ):
            yield replace(progress, result=result, faster=faster)


def measured_models(
    work: Work,
    shares: Mapping[str, Figures],
    result: "FamilyLatency",
    faster: "FasterResult | None",
    names: tuple[str, ...],
) -> MeasuredModels:
    """Return what is known after the timing: on the CPU's clock if the wall clock was disturbed.

    No time is known if too few rounds were undisturbed.
    """
    summary = result.summary
    if summary.reported is None:
        return MeasuredModels(work.score, names, work.workload, {}, shares)
    by_cpu = summary.reported is not summary
    workload = replace(work.workload, clock="compute") if by_cpu else work.workload
    # The variants are timed on the wall clock only.
    ways = variant_measures(faster, work.passes) if faster and not by_cpu else ()
    times = times_of(result.rows, summary.reported, work.passes)
    return MeasuredModels(work.score, names, workload, times, shares, ways)


def compared_models(
    ask: Ask, kept: MeasuredModels | None, score: str, limits: Limits
) -> Comparison:
    """Compare the models, and their timed runtimes and precisions, with the limits."""
    specs: dict[str, NamedModel] = {**choices_of(ask, score)}
    printed = printed_of(ask, score)
    candidates = candidates_of(ask, kept, score, printed)
    examples = [spec.name for spec in ask.specs.values() if is_miniature(spec)]
    for way in kept.ways if kept else ():
        own, by_words = candidates[way.spec.name], score in RUN_HERE
        specs[way.label], candidates[way.label] = way, way.candidate(own, by_words)
        examples += [way.label] * (way.spec.name in examples)
    return Comparison(specs, candidates, limits, tuple(printed), tuple(examples))


def names_of(ask: Ask) -> tuple[str, ...]:
    """Return the names of the models."""
    return tuple(spec.name for spec in ask.specs.values())


def is_miniature(spec: ModelSpec) -> bool:
    """Return whether a model is a bundled one, neither published nor the reader's own."""
    return not spec.repo and not spec.is_own


def choices_of(ask: Ask, score: str) -> dict[str, ModelSpec]:
    """Return by name the models; next to miniatures also published ones with scores."""
    own = list(ask.specs.values())
    has_bundled = any(map(is_miniature, own))
    published = [BASE[key] for key in printed_scores(score)] if has_bundled else []
    return {spec.name: spec for spec in (*published, *own)}


def printed_of(ask: Ask, score: str) -> dict[str, PrintedScore]:
    """Return by name the printed scores of published models that were not scored here."""
    choices, printed = choices_of(ask, score), printed_scores(score)
    here = card_scores(ask, score) if score not in RUN_HERE else {}
    published = (spec for spec in choices.values() if spec == BASE.get(spec.key))
    return {
        spec.name: printed[spec.key]
        for spec in published
        if spec.key in printed and spec.name not in here
    }


def candidates_of(
    ask: Ask, kept: MeasuredModels | None, score: str, printed: Mapping[str, PrintedScore]
) -> dict[str, Candidate]:
    """Return by name size, time and score, from shapes, measurements, cards and papers."""
    from explorer.analysis.latency.family import stored_parameters

    times = kept.milliseconds if kept else {}
    scores = card_scores(ask, score) if score not in RUN_HERE else {}
    if kept:
        scores |= kept.shares.get(score, {})
    scores |= {name: exactly(paper.value) for name, paper in printed.items()}
    n_bytes = 4 if ask.dtype == "float32" else 2
    candidates = {}
    for name, spec in choices_of(ask, score).items():
        size = exactly(stored_parameters(spec) * n_bytes / 1e6)
        candidates[name] = Candidate(size, times.get(name), scores.get(name))
    return candidates


def card_scores(ask: Ask, task: str) -> dict[str, Figure]:
    """Return by model name the scores on the adapters' cards."""
    specs = ask.specs
    cards, _ = fitting_cards(specs, task)
    scores = tuned_scores(cards, task, distilled_pair()[0])
    return {
        specs[key].name: Figure(score.value, score.low, score.high) for key, score in scores.items()
    }


def times_of(
    rows: "Sequence[ModelOnDevice]", summary: "LatencySummary", passes: Mapping[str, float]
) -> dict[str, Figure]:
    """Return the time of one answer by the model's name, from the time and number of its passes."""
    return {
        row.spec.name: Figure(timed.median_ms, timed.low_ms, timed.high_ms).times(
            passes.get(row.spec.key, 1.0)
        )
        for row, timed in zip(rows, summary.models, strict=True)
    }
