"""Fold of Latency: the models compared with the reader's limits, by measurements made here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer import assets
from explorer.analysis.latency.model_choice import (
    Candidate,
    Comparison,
    Figure,
    Limits,
    NamedModel,
    VariantMeasures,
    exactly,
    variant_measures,
)
from explorer.analysis.tasks.scores import (
    PrintedScore,
    fitting_cards,
    printed_scores,
    tuned_scores,
)
from explorer.inference.runs import device_of
from explorer.library.model_choice import RUN_HERE, TimingProgress, timed_family
from explorer.links.page_state import PageState
from explorer.models.choice.family import specs_by_key
from explorer.models.specs import BASE, ModelSpec, distilled_pair
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import MEASUREMENTS, JobUpdate
from explorer.timing.workload import Workload
from explorer.ui.kit.canvas import Chart
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import Job, Progress, Steps, job_buttons, shown, status
from explorer.ui.latency import choice_strings
from explorer.ui.latency.strings import by_cpu_because, unreported
from explorer.views.markup import Markup, join, note

if TYPE_CHECKING:
    from explorer.analysis.latency.passes import ModelOnDevice
    from explorer.analysis.latency.summary import LatencySummary

Figures = Mapping[str, Figure]


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

    def tells(self, state: PageState, score: str) -> bool:
        """Return whether this was measured for the page's models and the work of this score."""
        is_one_work = {self.score, score} <= set(RUN_HERE)
        place = (self.workload.device, self.workload.dtype)
        return (
            self.family == names_of(state)
            and place == (device_of(state.ask), state.dtype)
            and (self.score == score or is_one_work)
        )


def build_fold(state: gr.State) -> None:
    """Build the limits, the score, the button that measures, the charts and the table."""
    with fold("latency", "choose", choice_strings.FOLD) as section:
        with gr.Row(elem_classes="lt-controls"):
            free: dict[str, Any] = {"minimum": 0}
            limits = [
                gr.Number(label=label, **free)
                for label in (choice_strings.SIZE, choice_strings.TIME)
            ]
            score = gr.Dropdown(
                [(v, k) for k, v in choice_strings.SCORES.items()],
                label=choice_strings.SCORE,
            )
            least = gr.Number(label=choice_strings.MODEL_CHOICE_LEAST, maximum=100, **free)
        ways = gr.Checkbox(False, label=choice_strings.WAYS)
        with gr.Row(elem_classes="lt-buttons"):
            measure = gr.Button(choice_strings.MEASURE, size="sm")
            stop = gr.Button(choice_strings.STOP, size="sm", visible=False)
        status, message, measured = gr.HTML(), gr.HTML(), gr.State(None)
        chart, rows_html = Chart("latency/choose"), gr.HTML()
        inputs, outputs = [state, measured, *limits, score, least], [message, chart, rows_html]
        size, time = limits
        section.keep("choose", size=size, time=time, score=score, least=least, ways=ways)
        changes = [*(box.change for box in limits), score.change, least.change, measured.change]
        section.on_open(show_choice, inputs, outputs, also=changes, show_progress="hidden")
        job_buttons({measure.click: TIMES}, [state, score, ways], [status, measured], stop)


def show_choice(
    state: PageState,
    kept: MeasuredModels | None,
    *wishes: Any,  # noqa: ANN401 - two limits, the score's name and its limit
) -> list[Markup | str]:
    """Return the advice from what is known now; no model runs."""
    from explorer.views.latency.model_choice import choose_canvas, choose_table

    size, time, score, least = wishes
    if kept is not None and not kept.tells(state, score):
        kept = None
    compared = comparison(state, kept, score, choice_strings.limits_from(size, time, least))
    printed = {p.row: (p.value, p.source) for p in printed_of(state, score).values()}
    masks = [way.n_masks for way in kept.ways] if kept and kept.ways else None
    by_cpu = kept is not None and kept.workload.clock == "compute"
    notes = choice_strings.notes_of(printed, masks, bool(compared.examples))
    return [
        choice_strings.choose_finding(compared, by_cpu),
        choose_canvas(compared, choice_strings.titles_of(score, by_cpu)),
        join(
            choose_table(
                compared,
                choice_strings.verdicts(compared, by_cpu),
                choice_strings.head_of(by_cpu),
            ),
            *map(note, notes),
        ),
    ]


def comparison(
    state: PageState, kept: MeasuredModels | None, score: str, limits: Limits
) -> Comparison:
    """Compare the models, and their timed runtimes and precisions, with the limits."""
    specs: dict[str, NamedModel] = {**choices_of(state, score)}
    candidates = candidates_of(state, kept, score)
    examples = [spec.name for spec in specs_by_key(state.family).values() if is_miniature(spec)]
    for way in kept.ways if kept else ():
        own, by_words = candidates[way.spec.name], score in RUN_HERE
        specs[way.label], candidates[way.label] = way, way.candidate(own, by_words)
        examples += [way.label] * (way.spec.name in examples)
    printed = tuple(printed_of(state, score))
    return Comparison(specs, candidates, limits, printed, tuple(examples))


def names_of(state: PageState) -> tuple[str, ...]:
    """Return the names of the page's models."""
    return tuple(spec.name for spec in specs_by_key(state.family).values())


def is_miniature(spec: ModelSpec) -> bool:
    """Return whether a model is a bundled one, neither published nor the reader's own."""
    return not spec.repo and not spec.is_own


def choices_of(state: PageState, score: str) -> dict[str, ModelSpec]:
    """Return by name the page's models; beside miniatures also published ones with scores."""
    own = list(specs_by_key(state.family).values())
    has_bundled = any(map(is_miniature, own))
    beside = [BASE[key] for key in printed_scores(score)] if has_bundled else []
    return {spec.name: spec for spec in (*beside, *own)}


def printed_of(state: PageState, score: str) -> dict[str, PrintedScore]:
    """Return by name the printed scores of published models that were not scored here."""
    choices, printed = choices_of(state, score), printed_scores(score)
    here = card_scores(state, score) if score not in RUN_HERE else {}
    published = (spec for spec in choices.values() if spec == BASE.get(spec.key))
    return {
        spec.name: printed[spec.key]
        for spec in published
        if spec.key in printed and spec.name not in here
    }


def candidates_of(
    state: PageState, kept: MeasuredModels | None, score: str
) -> dict[str, Candidate]:
    """Return by name size, time and score, from shapes, measurements, cards and papers."""
    from explorer.analysis.latency.family import stored_parameters

    times = kept.milliseconds if kept else {}
    scores = card_scores(state, score) if score not in RUN_HERE else {}
    if kept:
        scores |= kept.shares.get(score, {})
    scores |= {name: exactly(printed.value) for name, printed in printed_of(state, score).items()}
    n_bytes = 4 if state.dtype == "float32" else 2
    candidates = {}
    for name, spec in choices_of(state, score).items():
        size = exactly(stored_parameters(spec) * n_bytes / 1e6)
        candidates[name] = Candidate(size, times.get(name), scores.get(name))
    return candidates


def card_scores(state: PageState, task: str) -> dict[str, Figure]:
    """Return by model name the scores on the adapters' cards."""
    specs = specs_by_key(state.family)
    cards, _ = fitting_cards(specs, task)
    scores = tuned_scores(cards, task, distilled_pair()[0])
    return {
        specs[key].name: Figure(score.value, score.low, score.high) for key, score in scores.items()
    }


@dataclass(frozen=True, slots=True)
class TimingQuestion:
    """Models of a page, to be timed on the work of a score."""

    state: PageState
    score: str
    """Key of the score."""
    with_ways: bool
    """True if other runtimes and precisions are timed too; float32 only."""


def ask_times(state: PageState | None, score: str, with_ways: bool) -> TimingQuestion | None:
    """Return what is to be timed; None before the page has a state."""
    return None if state is None else TimingQuestion(state, score, with_ways)


def measure_all(question: TimingQuestion, cancel_token: CancelToken) -> Steps:
    """Run every model on the sentences if the score needs it, then time them on its work."""
    state, score, n_sentences = question.state, question.score, len(assets.sentences())
    compared, latest = tuple(choices_of(state, score).values()), None
    for step in timed_family(state.ask, score, compared, question.with_ways, cancel_token):
        if isinstance(step, int):
            cancel_token.check()
            yield Progress(step, n_sentences)
        else:
            latest = step
            yield Progress(part=step)
    return latest


def draw_times(question: TimingQuestion, update: JobUpdate) -> list[Any]:
    """Return the progress of the sentences, then of the timing; at its end the measured models."""
    progress: TimingProgress | None = shown(update)
    if progress is None:
        is_read = question.score in RUN_HERE
        step = choice_strings.READING if is_read else choice_strings.TIMING.format(n=1)
        return [status(update, step, choice_strings.STOPPED, len(assets.sentences())), gr.skip()]
    result, faster = progress.result, progress.faster
    rounds = result.latency.n_rounds if result else 0
    if update.stopped or not update.done or result is None or not rounds:
        message = (
            choice_strings.NOT_TIMED if update.done else choice_strings.TIMING.format(n=rounds + 1)
        )
        if faster is not None and not update.done:
            message = choice_strings.WAYS_TIMING.format(done=faster.done, n=faster.n_steps)
        return [note(choice_strings.STOPPED if update.stopped else message), gr.skip()]
    work, summary, family = progress.work, result.summary, names_of(question.state)
    reported, passes = summary.reported, work.passes.values()
    if reported is None:
        kept = MeasuredModels(work.score, family, work.workload, {}, progress.shares)
        return [note(unreported(summary)), kept]
    by_cpu = reported is not summary
    workload = replace(work.workload, clock="compute") if by_cpu else work.workload
    of, n = work.length_of or work.score, len(assets.sentences())
    message = choice_strings.timed_said(of, workload, reported.n_used, passes, n)
    # The variants are timed on the wall clock only.
    ways = variant_measures(faster, work.passes) if faster and not by_cpu else ()
    times = times_of(result.rows, reported, work.passes)
    measured = MeasuredModels(work.score, family, workload, times, progress.shares, ways)
    why = [note(by_cpu_because(summary))] if by_cpu else []
    return [join(*why, note(message)), measured]


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


TIMES = Job("measure_all", MEASUREMENTS, ask_times, measure_all, draw_times)
