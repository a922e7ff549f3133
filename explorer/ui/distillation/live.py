"""Distil it live: settings, a place in line, and a student that learns while one watches."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import gradio as gr

from explorer import limits
from explorer.analysis.distillation.live import LIMITS, LiveReport, LiveSettings, Watched
from explorer.inference.runs import live_lesson
from explorer.inference.scheduling.cancel import CancelToken
from explorer.inference.scheduling.job_queue import JobQueue, JobUpdate
from explorer.links.page_state import PageState
from explorer.ui.distillation import live_words as texts
from explorer.ui.distillation.runs import TEACHER, Focus, focus_of, run_of
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.ui.kit.running import hide_stop_after, running, show_stop_on
from explorer.views.markup import note

JOB_QUEUE = JobQueue(nullcontext)
"""One student at a time; each of its steps is one job, so that others are answered between."""
WATCHED_WORDS = 8
DEFAULTS = LiveSettings()
STOP_JS = "() => { document.dispatchEvent(new Event('explorer-live-stop')); }"


def build_live(state: gr.State) -> None:
    """The settings, the buttons and the picture."""
    with fold("distillation", "live", texts.FOLD):
        gr.HTML(note(texts.INTRO))
        controls = _controls()
        with gr.Row():
            run = gr.Button(texts.RUN, variant="primary")
            stop, reset = gr.Button(texts.STOP, visible=False), gr.Button(texts.RESET)
            taught, alone = gr.Button(texts.WITH), gr.Button(texts.WITHOUT)
        picture = Canvas("distillation/live")
        weights = controls[4:7]
        show_stop_on(stop, run)
        event = run.click(
            plain_errors(run_live),
            [state, *controls],
            [picture],
            api_visibility="private",
            concurrency_id="live",
            concurrency_limit=limits.OWN_LINE.most,
            show_progress="hidden",
        )
        stop.click(None, None, None, cancels=[event], js=STOP_JS, api_visibility="private")
        hide_stop_after(stop, event, reset)
        reset.click(
            lambda: [*_defaults(), ""],
            None,
            [*controls, picture],
            cancels=[event],
            api_visibility="private",
        )
        taught.click(lambda: (5.0, 2.0, 1.0), None, weights, api_visibility="private")
        alone.click(lambda: (0.0, 2.0, 0.0), None, weights, api_visibility="private")


def _controls() -> list[gr.components.Component]:
    """One control per field of LiveSettings, in its order."""
    with gr.Row(elem_classes="dv-controls"):
        layers = gr.Radio([1, 2, 3], value=DEFAULTS.layers, label=texts.LAYERS)
        starts = [(label, key) for key, label in texts.STARTS.items()]
        start = gr.Radio(starts, value=DEFAULTS.start, label=texts.START)
        steps = _slider("steps", texts.STEPS, 10)
        temperature = _slider("temperature", texts.TEMPERATURE, 0.05)
    with gr.Row(elem_classes="dv-controls"):
        parts = (("ce", texts.CE), ("mlm", texts.MLM), ("cos", texts.COS))
        weights = [_slider(name, label, 0.1) for name, label in parts]
        seed = gr.Number(DEFAULTS.seed, label=texts.SEED, precision=0, minimum=0, maximum=2**31)
    return [layers, start, steps, temperature, *weights, seed]


def _slider(name: str, label: str, step: float) -> gr.Slider:
    low, high = LIMITS[name]
    return gr.Slider(low, high, getattr(DEFAULTS, name), step=step, label=label)


def _defaults() -> list[Any]:
    return [getattr(DEFAULTS, name) for name in LiveSettings.__slots__]


def run_live(
    state: PageState | None,
    *chosen: Any,  # noqa: ANN401 - one value per control, checked in settings_of
) -> Iterator[str]:
    """Wait for the place in line, then teach a student and show it after every few steps."""
    from explorer.views.distillation.live import waiting_canvas

    settings = settings_of(chosen)
    # The student learns from the bundled teacher, whatever family the page shows.
    state = replace(state or PageState(), family="mini", device="cpu", dtype="float32")
    at = focus_of(state)

    def drawn(update: JobUpdate) -> list[str]:
        waiting = texts.WAITING.format(place=update.place) if update.place else texts.PREPARING
        return [update.partial or waiting_canvas(waiting)]

    for (picture,) in running(
        JOB_QUEUE, lambda cancel_token: teach(state, at, settings, cancel_token), None, drawn
    ):
        yield picture


def settings_of(chosen: tuple[Any, ...]) -> LiveSettings:
    """The controls' values as settings; an emptied field counts as its default.

    Raises:
        BadSettings: a value is out of range.
    """
    named = zip(LiveSettings.__slots__, chosen, _defaults(), strict=True)
    values: dict[str, Any] = {
        name: usual if value is None else type(usual)(value) for name, value, usual in named
    }
    return LiveSettings(**values)


def teach(
    state: PageState, at: Focus, settings: LiveSettings, cancel_token: CancelToken
) -> Iterator[str]:
    """The run itself; it ends when it is through or nobody watches any more."""
    from explorer.analysis.distillation.soft import top_ids
    from explorer.analysis.measures import softmax
    from explorer.views.distillation.live import live_canvas
    from explorer.views.distillation.soft import shown_word

    run = run_of(TEACHER, state, at.text)
    logits, position = run.mask_logits[at.mask], run.tokens.mask_positions[at.mask]
    ids = top_ids(logits, WATCHED_WORDS)
    watched = Watched(run.tokens.ids, position, tuple(int(i) for i in ids))
    taught = softmax(logits, settings.temperature)[ids]
    words = [shown_word(run.vocabulary, int(i)) for i in ids]
    reports: list[LiveReport] = []
    for report in live_lesson(run.spec, state, settings, watched):
        cancel_token.check()
        if report is None:
            continue
        reports.append(report)
        said = texts.live_sentence(settings, reports)
        yield live_canvas(
            settings,
            reports,
            words,
            taught,
            {
                "texts": texts.CANVAS,
                "sentence": said,
                "done": report.step == settings.steps,
            },
        )
