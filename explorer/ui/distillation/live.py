"""Distil it live: settings, a place in line, and a student that learns while one watches."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gradio as gr

from explorer.page_state import PageState
from explorer.runs import SLOT, get_loaded
from explorer.training.live.line import Line, Ticket
from explorer.training.live.report import LIMITS, LiveReport, LiveSettings, Watched
from explorer.ui.distillation import live_words as texts
from explorer.ui.distillation.runs import TEACHER, Focus, focus_of, run_of
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.folds import fold
from explorer.views.markup import note

LINE = Line()
WAIT_SECONDS = 0.5
WATCHED_WORDS = 8
DEFAULTS = LiveSettings()
STOP_JS = "() => { document.dispatchEvent(new Event('explorer-live-stop')); }"


class LostPlace(ValueError):
    """The run did not move for so long that the next in line took its place."""


def build_live(state: gr.State, focus: gr.State) -> None:
    """The settings, the buttons and the picture."""
    with fold(texts.FOLD):
        gr.HTML(note(texts.INTRO))
        controls = _controls()
        with gr.Row():
            run = gr.Button(texts.RUN, variant="primary")
            stop, reset = gr.Button(texts.STOP), gr.Button(texts.RESET)
            taught, alone = gr.Button(texts.WITH), gr.Button(texts.WITHOUT)
        picture = Canvas("distillation_live")
        weights = controls[4:7]
        event = run.click(
            plain_errors(run_live),
            [state, focus, *controls],
            [picture],
            api_visibility="private",
            concurrency_id="live",
            concurrency_limit=8,
            show_progress="hidden",
        )
        stop.click(None, None, None, cancels=[event], js=STOP_JS, api_visibility="private")
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
    focus: Focus | None,
    *chosen: Any,  # noqa: ANN401 - one value per control, checked in settings_of
) -> Iterator[str]:
    """Wait for the place in line, then teach a student and show it after every few steps."""
    from explorer.views.distillation.live import waiting_canvas

    settings = settings_of(chosen)
    # The student learns from the bundled teacher, whatever family the page shows.
    state = replace(state or PageState(), family="mini", device="cpu", dtype="float32")
    ticket = LINE.join()
    try:
        while (place := ticket.place) > 0:
            yield waiting_canvas(texts.WAITING.format(place=place))
            time.sleep(WAIT_SECONDS)
        yield waiting_canvas(texts.PREPARING)
        yield from teach(state, focus_of(state, focus), settings, ticket)
    finally:
        ticket.leave()


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


def teach(state: PageState, at: Focus, settings: LiveSettings, ticket: Ticket) -> Iterator[str]:
    """The run itself; it ends when it is through, is cancelled or has lost its place."""
    from explorer.analysis.distillation.soft import top_ids
    from explorer.analysis.measures import softmax
    from explorer.training.live.run import distil_live
    from explorer.views.distillation.live import live_canvas
    from explorer.views.distillation.soft import shown_word

    run = run_of(TEACHER, state, at.text)
    logits, position = run.mask_logits[at.mask], run.tokens.mask_positions[at.mask]
    ids = top_ids(logits, WATCHED_WORDS)
    watched = Watched(run.tokens.ids, position, tuple(int(i) for i in ids))
    taught = softmax(logits, settings.temperature)[ids]
    words = [shown_word(run.vocabulary, int(i)) for i in ids]
    lesson = distil_live(get_loaded(run.spec, state), settings, watched)
    reports: list[LiveReport] = []
    while ticket.place == 0:
        with SLOT.infer():  # a latency measurement waits for these few steps and then has its turn
            report = next(lesson, None)
        if report is None:
            return
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
    raise LostPlace(texts.LOST)
