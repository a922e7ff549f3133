"""Fold of Latency: the models compared with the reader's limits, by measurements made here."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer import assets
from explorer.library.model_choice import (
    RUN_HERE,
    MeasuredModels,
    TimingProgress,
    choices_of,
    compared_models,
    measured_models,
    names_of,
    printed_of,
    timed_family,
)
from explorer.links.page_state import PageState
from explorer.scheduling.cancel import CancelToken
from explorer.scheduling.job_queue import MEASUREMENTS, JobUpdate
from explorer.ui.kit.canvas import Chart
from explorer.ui.kit.folds import fold
from explorer.ui.kit.jobs import Job, Progress, Steps, job_buttons, shown, status
from explorer.ui.latency import choice_strings
from explorer.ui.latency.strings import by_cpu_because, unreported
from explorer.views.markup import Markup, join, note


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
    if kept is not None and not kept.tells(state.ask, score):
        kept = None
    limits = choice_strings.limits_from(size, time, least)
    compared = compared_models(state.ask, kept, score, limits)
    printed = {p.row: (p.value, p.source) for p in printed_of(state.ask, score).values()}
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
    compared, latest = tuple(choices_of(state.ask, score).values()), None
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
    work, summary, n = progress.work, result.summary, len(assets.sentences())
    kept = measured_models(work, progress.shares, result, faster, names_of(question.state.ask))
    if summary.reported is None:
        return [note(unreported(summary)), kept]
    of, passes = work.length_of or work.score, work.passes.values()
    message = choice_strings.timed_said(of, kept.workload, summary.reported.n_used, passes, n)
    why = [note(by_cpu_because(summary))] if summary.reported is not summary else []
    return [join(*why, note(message)), kept]


TIMES = Job("measure_all", MEASUREMENTS, ask_times, measure_all, draw_times)
