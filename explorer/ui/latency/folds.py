"""What lies below the latency headline: questions that are measured only when asked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from explorer.inference.scheduling.cancel import CancelToken
from explorer.inference.scheduling.job_queue import MEASUREMENTS, JobUpdate
from explorer.ui.kit.canvas import Chart
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.ui.kit.queues import AT_ONCE
from explorer.ui.kit.running import hide_stop_after, running, show_stop_on, stops
from explorer.ui.latency import faster_words as faster
from explorer.ui.latency import folds_words as texts
from explorer.ui.latency import jobs, model_choice
from explorer.ui.latency import words as plain_texts
from explorer.ui.latency.settings import MeasurementSettings, with_choice
from explorer.views.markup import el, join, note

Job = Callable[[MeasurementSettings, CancelToken], Iterator[Any]]
Draw = Callable[[Any], list[Any]]
READ_FILE_JS = (
    "() => new Promise(read => { const file = document.createElement('input'); file.type = 'file';"
    " file.accept = '.json'; file.oncancel = () => read(['']);"
    " file.onchange = async () => read([await file.files[0].text()]); file.click(); })"
)
"""The browser reads the file itself: the page takes no uploads."""
PRIVATE: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}


@dataclass(frozen=True, slots=True)
class LatencyJob:
    """One question: its title, what it explains first, its measurement and its picture."""

    name: str
    """The fold, as a link names it."""
    title: str
    lead: str
    job: Job
    draw: Draw
    has_chart: bool = False
    """Below the markup; ``draw`` returns a value for it, too."""


CLAIM = LatencyJob("claim", texts.CLAIM, texts.CLAIM_NOTE, jobs.claim, jobs.draw_claim)
FASTER = LatencyJob("faster", faster.TITLE, faster.NOTE, jobs.faster, jobs.draw_faster)
LIMITS = LatencyJob("advanced", texts.LIMITS, texts.LIMITS_NOTE, jobs.limits, jobs.draw_limits)


def build_folds(state: gr.State, controls: list[gr.components.Component]) -> None:
    """All folds, in the order of the questions a reader would ask."""
    model_choice.build_fold(state)
    asked = ("sweep", texts.SWEEP, texts.SWEEP_NOTE, jobs.sweep_lengths, jobs.draw_sweep)
    sweep = LatencyJob(*asked, has_chart=True)
    batches = replace(sweep, job=jobs.sweep_batches)
    with fold("latency", sweep.name, texts.HOW_MUCH):
        gr.HTML(el("h3", CLAIM.title))
        build_question(CLAIM, controls)
        gr.HTML(el("h3", sweep.title))
        build_question(sweep, controls, {texts.LENGTHS: sweep, texts.BATCHES: batches})
    with fold("latency", FASTER.name, FASTER.title):
        long = replace(FASTER, job=jobs.faster_batches)
        build_question(FASTER, controls, {texts.MEASURE: FASTER, faster.MEASURE_BATCHES: long})
    with fold("latency", "advanced", texts.ADVANCED):
        gr.HTML(el("h3", LIMITS.title))
        build_question(LIMITS, controls)
        gr.HTML(el("h3", texts.RECORDED))
        _recorded()


def build_question(
    question: LatencyJob,
    controls: list[gr.components.Component],
    choices: dict[str, LatencyJob] | None = None,
) -> None:
    """Inside a fold: its lead, one button per measurement, and the place for its answer."""
    gr.HTML(note(question.lead))
    with gr.Row(elem_classes="lt-buttons"):
        buttons = [
            (gr.Button(name, variant="primary"), asked)
            for name, asked in (choices or {texts.MEASURE: question}).items()
        ]
        stop_button = gr.Button(plain_texts.STOP, visible=False)
    out = [gr.HTML(), *([Chart("latency/sweep")] if question.has_chart else [])]
    for button, asked in buttons:
        show_stop_on(stop_button, button)
        event = button.click(
            plain_errors(with_choice(_handler(asked))),
            controls,
            out,
            concurrency_id="measure",
            **PRIVATE,
        )
        hide_stop_after(stop_button, event)
    stop_button.click(stops(MEASUREMENTS), None, None, **AT_ONCE)


def _handler(
    question: LatencyJob,
) -> Callable[[MeasurementSettings, gr.Request], Iterator[list[Any]]]:
    def handle(chosen: MeasurementSettings, request: gr.Request) -> Iterator[list[Any]]:
        choice = chosen.on_one_device()

        def draw(update: JobUpdate) -> list[Any]:
            return _drawn(question, update)

        yield from running(
            MEASUREMENTS, lambda cancel_token: question.job(choice, cancel_token), request, draw
        )

    return handle


def _drawn(question: LatencyJob, update: JobUpdate) -> list[Any]:
    picture_stays = [gr.skip()] if question.has_chart else []
    if update.place:
        return [note(plain_texts.place_in_line(update.place)), *picture_stays]
    if update.partial is None:
        nothing = plain_texts.NOTHING if update.done else plain_texts.progress(0, 0, 0)
        return [note(nothing), *picture_stays]
    markup, *picture = question.draw(update.partial)
    standing = texts.STOPPED if update.stopped else "" if update.done else texts.WORKING
    return [join(note(standing) if standing else None, markup), *picture]


def _recorded() -> None:
    gr.HTML(note(texts.RECORDED_NOTE))
    with gr.Row(elem_classes="lt-buttons"):
        choose, document = gr.Button(texts.RECORDED_BUTTON), gr.Textbox(visible=False)
    out = gr.HTML()
    choose.click(plain_errors(jobs.draw_recorded), [document], [out], js=READ_FILE_JS, **PRIVATE)
