"""Jobs behind buttons: Gradio's queues, progress, stop, and who asks."""

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr
from gradio.context import LocalContext

from explorer import limits
from explorer.inference import backend
from explorer.inference.scheduling.job_queue import Job, JobQueue, JobUpdate, updates
from explorer.serving.middleware.waiting_room import account_of, program_of
from explorer.ui.kit import strings
from explorer.views.markup import Markup, note

LIGHT: dict[str, Any] = {
    "api_visibility": "private",
    "concurrency_id": "infer",
    "show_progress": "minimal",
}
"""What some forward passes answer: it shares the turns of Compare."""
OF_HUB: dict[str, Any] = {
    "api_visibility": "private",
    "concurrency_id": "hub",
    "concurrency_limit": limits.HUB.most,
    "show_progress": "full",
}
"""What the model hub answers, which may take minutes: nobody else waits for it."""
COMPARE: dict[str, Any] = {
    "concurrency_id": "compare",
    "concurrency_limit": limits.COMPARES.most,
}
"""The page's first question: its turns are nobody else's."""
ELSEWHERE = limits.COMPARES_ELSEWHERE.most
"""Compares at once where the networks are elsewhere, since here they only wait for them."""
OF_PROGRAMS: dict[str, Any] = {
    "concurrency_id": "programs",
    "concurrency_limit": limits.CALLS.most,
}
MEASURED_FOR_PROGRAMS: dict[str, Any] = {
    "concurrency_id": "measured",
    "concurrency_limit": limits.TIMED_CALLS.most,
}
"""What named endpoints answer: programs wait for each other, and never keep a page waiting."""
QUIET: dict[str, Any] = LIGHT | {"show_progress": "hidden"}
"""The same where what is asked says itself how it stands."""
LONG: dict[str, Any] = {"concurrency_id": "long", "concurrency_limit": limits.LONG.most}
"""Many passes one after the other: it has turns of its own, so that no Compare waits for its end.

Who comes fifth is told the place in the queue.
"""
AT_ONCE: dict[str, Any] = {
    "concurrency_limit": None,
    "show_progress": "hidden",
    "api_visibility": "private",
}
"""What waits for nobody: a stop, a button that comes or goes.

In the queue all the same: past it lies an address that the door keeps shut.
"""


def widen() -> None:
    """Let more Compares run at once on pages that are built from now on."""
    COMPARE["concurrency_limit"] = ELSEWHERE


def own_line(name: str) -> dict[str, Any]:
    """What takes its turn in a `Line`: up to eight wait there and are told their place."""
    return {
        "concurrency_id": name,
        "concurrency_limit": limits.OWN_LINE.most,
        "show_progress": "hidden",
    }


Draw = Callable[[JobUpdate], list[Any]]


def running(
    queue: JobQueue, job: Job, request: gr.Request | None, draw: Draw
) -> Iterator[list[Any]]:
    """Put a job in a line and draw it whenever something changed, and once at its end.

    Of a job that its owner has replaced in the same place no more is drawn: the place shows the
    newer one. In another place it is drawn as stopped. A job whose owner has left is stopped,
    however long it has nothing to show.
    """
    measurement = queue.start(job, owner_of(request), place=_place())
    shown: tuple[int, int] | None = None
    for update in updates(measurement, left=left_by_now()):
        if measurement.replaced:
            return
        now = (update.place, id(update.partial))
        if update.done or now != shown:
            yield draw(update)
        shown = now


def job_updates(update: JobUpdate, n: int, progress: str, stopped: str) -> Markup:
    """A job's place in line, that it was stopped, or how many of its ``n`` parts are done."""
    if update.place:
        return note(strings.PLACE.format(n=update.place))
    return note(stopped if update.stopped else progress.format(done=update.partial or 0, n=n))


def stops(queue: JobQueue) -> Callable[[gr.Request], None]:
    """The handler of a stop button: ends the reader's own job, wherever in the line it is."""

    def stop(request: gr.Request) -> None:
        queue.stop(owner_of(request))

    return stop


def owner_of(request: gr.Request | None) -> str:
    """Whose job it is: the browser tab's that asks, or asked for what is being answered now."""
    asked = request if request is not None else LocalContext.request.get(None)
    return str(asked.session_hash or "") if asked is not None else ""


def _place() -> tuple[int, ...]:
    """What the event that is being answered draws in."""
    event = _event()
    return () if event is None else tuple(block._id for block in event.fn.outputs)


def _event() -> Any:  # noqa: ANN401 - Gradio's own
    page, number = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    return page._queue.event_ids_to_events.get(number or "") if page is not None else None


def address_of_asker() -> str:
    """The address from which what is being answered now was asked; empty where nobody asked."""
    asked = LocalContext.request.get(None)
    client = getattr(asked, "client", None)
    return account_of(str(client.host)) if client is not None else ""


def program_that_asks() -> str:
    """The address of the program whose question is being answered; empty for a visitor.

    What a picture asks by itself is no event: it comes after the visitors who press something.
    """
    event = _event()
    return program_of(event.fn, event.request) if event is not None else address_of_asker()


def left_by_now() -> Callable[[], bool]:
    """Whether whoever asked for what is being answered now has left; for any thread to ask.

    Gradio marks the questions of a browser that no longer listens, and looks at the mark only
    when the answer has something new to say.
    """
    event = _event()
    return lambda: event is not None and not event.alive


def stop_for_those_who_leave() -> None:
    """From now on the workers do nothing for a visitor who has left, and visitors go first."""
    backend.HAS_LEFT[:] = [left_by_now]
    backend.PROGRAM_ADDRESS[:] = [program_that_asks]


def show_stop_on(stop: gr.Button, start: gr.Button) -> None:
    """Show a stop button at the press that starts something.

    To be said before what the press starts: Gradio sends the events of one press one after the
    other, so an event named later would be sent only when the measurement is over.
    """
    start.click(lambda: gr.Button(visible=True), None, [stop], **AT_ONCE)


def hide_stop_after(stop: gr.Button, event: gr.events.Dependency, *ends: gr.Button) -> None:
    """Hide a stop button once what was started is over or ended."""
    event.then(lambda: gr.Button(visible=False), None, [stop], **AT_ONCE)
    for end in (stop, *ends):
        end.click(lambda: gr.Button(visible=False), None, [stop], **AT_ONCE)


def stoppable(queue: JobQueue, stop: gr.Button, *events: gr.events.Dependency) -> None:
    """Let a button end what the reader has in a line, where the job itself shows and hides it.

    What fails draws nothing any more: then the button goes by itself.
    """
    stop.click(stops(queue), None, None, **AT_ONCE)
    for event in events:
        event.failure(lambda: gr.Button(visible=False), None, [stop], **AT_ONCE)
