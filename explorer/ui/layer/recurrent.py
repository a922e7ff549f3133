"""Layer fold: an LSTM timed against one encoder layer, by the protocol of Latency."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import gradio as gr

from explorer.inference.scheduling.job_queue import MEASUREMENTS, JobUpdate
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.ui.kit import words as shared
from explorer.ui.kit.canvas import Chart
from explorer.ui.kit.running import running
from explorer.ui.layer import words as texts
from explorer.ui.layer.job_button import job_button
from explorer.views.markup import Markup, finding, join, note

if TYPE_CHECKING:
    from explorer.analysis.layer.recurrent import RecurrentPoint
    from explorer.models.specs import ModelSpec

TIMED: dict[str, Any] = {"concurrency_id": "measure", "show_progress": "hidden"}


def build(state: gr.State) -> None:
    """Build the button and what it measures, behind a line of its own."""
    with gr.Accordion(texts.RECURRENT_MORE, open=False, elem_id="layer-more"):
        chart = Chart("layer/recurrent", render=False)
        job_button(state, texts.TIME, chart, MEASUREMENTS, time_both, **TIMED)


def time_both(state: PageState | None, request: gr.Request | None = None) -> Iterator[list[Any]]:
    """The points measured so far, again and again."""
    from explorer.analysis.layer.recurrent import LENGTHS, measure_recurrent

    spec = family_specs((state or PageState()).family)[0]

    def draw(update: JobUpdate) -> list[Any]:
        return [*_drawn(update, spec), gr.Button(visible=not update.done)]

    yield from running(
        MEASUREMENTS,
        lambda cancel_token: measure_recurrent(spec, cancel_token, LENGTHS),
        request,
        draw,
    )


def _drawn(update: JobUpdate, spec: "ModelSpec") -> list[Any]:
    from explorer.analysis.layer.recurrent import LENGTHS
    from explorer.views.layer.recurrent import recurrent_canvas

    points = update.partial or ()
    if update.place:
        return [note(shared.PLACE.format(n=update.place)), gr.skip()]
    if not points:
        said = texts.STOPPED if update.done else texts.POINTS.format(done=0, n=len(LENGTHS))
        return [note(said), gr.skip()]
    so_far = texts.POINTS.format(done=len(points), n=len(LENGTHS))
    standing = None if len(points) == len(LENGTHS) else note(so_far)
    canvas = recurrent_canvas(points, spec.key, texts.RECURRENT)
    return [join(standing, *_found(points, spec)), canvas]


def _found(points: "tuple[RecurrentPoint, ...]", spec: "ModelSpec") -> tuple[Markup, Markup]:
    """What the shortest and the longest text show, and what was timed."""
    told = ""
    for point in dict.fromkeys((points[0], points[-1])):
        ratio, sentence = point.ratio, texts.RECURRENT_LAST if told else texts.RECURRENT_FOUND
        ends = f"{ratio.low:.2f} to {ratio.high:.2f}" if ratio.is_sure else texts.NO_INTERVAL
        told += sentence.format(n=point.length, ratio=f"{ratio.ratio:.2f}", ends=ends)
    last = points[-1]
    about = texts.RECURRENT_NOTE.format(
        model=spec.label,
        d=spec.architecture.d_model,
        share=last.flops[1] / last.flops[0],
        n=last.length,
    )
    return finding(told, "."), note(about)
