"""A job that takes its turn, seen from the page: its place in line, its progress, its end."""

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from explorer.timing.line import Job, Line, Update, updates

Draw = Callable[[Update], list[Any]]


def running(line: Line, job: Job, request: gr.Request | None, draw: Draw) -> Iterator[list[Any]]:
    """Put a job in a line and draw it whenever something changed, and once at its end.

    Of a job that its owner has replaced no more is drawn: the place shows the newer one.
    """
    measurement = line.start(job, owner_of(request))
    shown: tuple[int, int] | None = None
    for update in updates(measurement):
        if measurement.replaced:
            return
        now = (update.place, id(update.shot))
        if update.done or now != shown:
            yield draw(update)
        shown = now


def stops(line: Line) -> Callable[[gr.Request], None]:
    """The handler of a stop button: ends the reader's own job, wherever in the line it is."""

    def stop(request: gr.Request) -> None:
        line.stop(owner_of(request))

    return stop


def owner_of(request: gr.Request | None) -> str:
    """Whose job it is: the browser tab's."""
    return str(request.session_hash or "") if request is not None else ""


_AT_ONCE: dict[str, Any] = {
    "queue": False,
    "show_progress": "hidden",
    "api_visibility": "private",
}


def stop_comes(stop: gr.Button, start: gr.Button) -> None:
    """Show a stop button at the press that starts something.

    To be said before what the press starts: Gradio sends the events of one press one after the
    other, so an event named later would be sent only when the measurement is over.
    """
    start.click(lambda: gr.Button(visible=True), None, [stop], **_AT_ONCE)


def stop_goes(stop: gr.Button, event: gr.events.Dependency, *ends: gr.Button) -> None:
    """Hide a stop button once what was started is over or ended."""
    event.then(lambda: gr.Button(visible=False), None, [stop], **_AT_ONCE)
    for end in (stop, *ends):
        end.click(lambda: gr.Button(visible=False), None, [stop], **_AT_ONCE)


def stoppable(line: Line, stop: gr.Button, *events: gr.events.Dependency) -> None:
    """Let a button end what the reader has in a line, where the job itself shows and hides it.

    What fails draws nothing any more: then the button goes by itself.
    """
    stop.click(stops(line), None, None, **_AT_ONCE)
    for event in events:
        event.failure(lambda: gr.Button(visible=False), None, [stop], **_AT_ONCE)
