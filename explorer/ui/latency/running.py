"""A measurement seen from the page: its turn, its progress, its end."""

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from explorer.timing.line import LINE, Job, Update, updates

Draw = Callable[[Update], list[Any]]


def running(job: Job, request: gr.Request | None, draw: Draw) -> Iterator[list[Any]]:
    """Put a job in the line and draw it whenever something changed, and once at its end."""
    measurement = LINE.start(job, owner_of(request))
    shown: tuple[int, int] | None = None
    for update in updates(measurement):
        now = (update.place, id(update.shot))
        if update.done or now != shown:
            yield draw(update)
        shown = now


def stop(request: gr.Request) -> None:
    """Stop the reader's own measurement, wherever in the line it is."""
    LINE.stop(owner_of(request))


def owner_of(request: gr.Request | None) -> str:
    """Whose measurement it is: the browser tab's."""
    return str(request.session_hash or "") if request is not None else ""
