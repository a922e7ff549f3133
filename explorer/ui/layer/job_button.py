"""Layer folds: what is computed at the press of a button and can be stopped."""

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from explorer.inference.scheduling.job_queue import JobQueue
from explorer.ui.kit.canvas import Chart
from explorer.ui.kit.errors import plain_errors
from explorer.ui.kit.running import stoppable
from explorer.ui.layer import words as texts


def job_button(
    state: gr.State,
    name: str,
    chart: Chart,
    queue: JobQueue,
    handle: Callable[..., Iterator[list[Any]]],
    **concurrency: Any,  # noqa: ANN401
) -> None:
    """A button, its stop, a sentence and a chart.

    Args:
        state: What the handler is given.
        name: The button's.
        chart: What it draws, not yet on the page.
        queue: Where the job waits.
        handle: Yields the sentence, the chart and the stop button, again and again.
        concurrency: How the event takes its turn.
    """
    with gr.Row(elem_classes="lt-buttons ly-press"):
        start = gr.Button(name, variant="primary", scale=0, min_width=280)
        stop = gr.Button(texts.STOP, visible=False, scale=0, min_width=90)
    outputs = [gr.HTML(), chart.render(), stop]
    usual = {"api_visibility": "private", **concurrency}
    stoppable(queue, stop, start.click(plain_errors(handle), [state], outputs, **usual))
