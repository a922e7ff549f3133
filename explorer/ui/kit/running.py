"""Jobs started by buttons: Gradio's queues, progress, cancellation, and the client of a request."""

from collections.abc import Callable, Generator, Hashable, Iterator
from typing import Any

import gradio as gr
from gradio.context import LocalContext

from explorer import limits
from explorer.context import configure
from explorer.inference.cache import CACHE
from explorer.inference.scheduling.job_queue import Job, JobQueue, JobUpdate, updates
from explorer.serving.middleware.waiting_room import account_of, program_of
from explorer.ui.kit import strings
from explorer.views.markup import Markup, note

LIGHT: dict[str, Any] = {
    "api_visibility": "private",
    "concurrency_id": "infer",
    "show_progress": "minimal",
}
"""Event options for a few forward passes: these events share a queue, apart from Compare's."""
OF_HUB: dict[str, Any] = {
    "api_visibility": "private",
    "concurrency_id": "hub",
    "concurrency_limit": limits.HUB.most,
    "show_progress": "full",
}
"""Event options for requests to the model hub: they may take minutes and have their own queue."""
COMPARE: dict[str, Any] = {
    "concurrency_id": "compare",
    "concurrency_limit": limits.COMPARES.most,
}
"""Event options for Compare, which has its own queue."""
ELSEWHERE = limits.COMPARES_ELSEWHERE.most
"""Most Compares at once if the networks are on other machines, since here they only wait."""
OF_PROGRAMS: dict[str, Any] = {
    "concurrency_id": "programs",
    "concurrency_limit": limits.CALLS.most,
}
"""Event options for public endpoints: programs wait for each other and never delay a page."""
MEASURED_FOR_PROGRAMS: dict[str, Any] = {
    "concurrency_id": "measured",
    "concurrency_limit": limits.TIMED_CALLS.most,
}
"""Event options for the public endpoint that measures."""
QUIET: dict[str, Any] = LIGHT | {"show_progress": "hidden"}
"""Event options as ``LIGHT``, for handlers that show their own progress."""
LONG: dict[str, Any] = {"concurrency_id": "long", "concurrency_limit": limits.LONG.most}
"""Event options for many forward passes: they have their own queue, so that they delay no Compare.

A request beyond the limit is shown its place in the queue.
"""
AT_ONCE: dict[str, Any] = {
    "concurrency_limit": None,
    "show_progress": "hidden",
    "api_visibility": "private",
}
"""Event options for what never waits: a stop, a button that is shown or hidden.

Such an event is in Gradio's queue too, because the request filter blocks the route without queue.
"""


def widen() -> None:
    """Let more Compares run at once on pages built from now on."""
    COMPARE["concurrency_limit"] = ELSEWHERE


def own_queue(name: str) -> dict[str, Any]:
    """Return event options for jobs of a JobQueue, which shows up to eight readers their place."""
    return {
        "concurrency_id": name,
        "concurrency_limit": limits.OWN_LINE.most,
        "show_progress": "hidden",
    }


Draw = Callable[[JobUpdate], list[Any]]


def running(
    queue: JobQueue, job: Job, request: gr.Request | None, draw: Draw
) -> Iterator[list[Any]]:
    """Put a job in a queue and yield its drawing at every change, and once at its end.

    A job that its owner has replaced in the same components is drawn no more: they show the newer
    one. A job replaced from other components is drawn as stopped. A job whose owner has left is
    cancelled, even while it yields nothing.
    """
    queued = queue.start(job, owner_of(request), component_ids=_place())
    last: tuple[int, int] | None = None
    for update in updates(queued, has_left=left_by_now()):
        if queued.replaced:
            return
        now = (update.position, id(update.partial))
        if update.done or now != last:
            yield draw(update)
        last = now


def run_once(
    key: Hashable, queue: JobQueue, job: Job, request: gr.Request | None, draw: Draw
) -> Generator[list[Any], None, Any]:
    """Yield the drawings of a job that caches its result under a key, unless it is there.

    Returns:
        The cached result; None if the job was cancelled.
    """
    if key not in CACHE:
        yield from running(queue, job, request, draw)
    return CACHE.get(key)


def job_status(update: JobUpdate, n: int, progress: str, stopped: str) -> Markup:
    """Return a note: the job's place in the queue, that it stopped, or its parts done of ``n``."""
    if update.position:
        return note(strings.PLACE.format(n=update.position))
    return note(stopped if update.stopped else progress.format(done=update.partial or 0, n=n))


def stop_handler(queue: JobQueue) -> Callable[[gr.Request], None]:
    """Return the handler of a stop button: it cancels the reader's job, waiting or running."""

    def stop(request: gr.Request) -> None:
        queue.stop(owner_of(request))

    return stop


def owner_of(request: gr.Request | None) -> str:
    """Return the session of a request or, if it is None, of the current one: the job's owner."""
    current = request if request is not None else LocalContext.request.get(None)
    return str(current.session_hash or "") if current is not None else ""


def _place() -> tuple[int, ...]:
    event = _event()
    return () if event is None else tuple(block._id for block in event.fn.outputs)


def _event() -> Any:  # noqa: ANN401 - Gradio's own
    page, number = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    return page._queue.event_ids_to_events.get(number or "") if page is not None else None


def address_of_asker() -> str:
    """Return the client address of the current request; empty outside a request."""
    request = LocalContext.request.get(None)
    client = getattr(request, "client", None)
    return account_of(str(client.host)) if client is not None else ""


def program_that_asks() -> str:
    """Return the address of the program that sent the current request; empty for a visitor.

    A picture's own request is no event and counts as a program's: visitors' events go first.
    """
    event = _event()
    return program_of(event.fn, event.request) if event is not None else address_of_asker()


def left_by_now() -> Callable[[], bool]:
    """Return a function, callable from any thread, that tells if the current client has left.

    Gradio marks the events of a browser that has disconnected, but checks the mark only when the
    handler yields.
    """
    event = _event()
    return lambda: event is not None and not event.alive


def stop_for_those_who_leave() -> None:
    """Connect the backend to Gradio: jobs of clients that left are cancelled, visitors go first."""
    configure(has_left=left_by_now, program_address=program_that_asks)


def show_stop_on(stop: gr.Button, start: gr.Button) -> None:
    """Show a stop button when the start button is clicked.

    Call it before registering the job's own event: Gradio sends the events of one click one after
    the other, so a later one would be sent only after the job.
    """
    start.click(lambda: gr.Button(visible=True), None, [stop], **AT_ONCE)


def hide_stop_after(stop: gr.Button, event: gr.events.Dependency, *ends: gr.Button) -> None:
    """Hide a stop button once the event is over, or the stop or an end button is clicked."""
    event.then(lambda: gr.Button(visible=False), None, [stop], **AT_ONCE)
    for end in (stop, *ends):
        end.click(lambda: gr.Button(visible=False), None, [stop], **AT_ONCE)


def stoppable(queue: JobQueue, stop: gr.Button, *events: gr.events.Dependency) -> None:
    """Connect a stop button to the reader's job in a queue; the job shows and hides the button.

    A failed job draws nothing any more, so its failure hides the button.
    """
    stop.click(stop_handler(queue), None, None, **AT_ONCE)
    for event in events:
        event.failure(lambda: gr.Button(visible=False), None, [stop], **AT_ONCE)
