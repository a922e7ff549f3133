"""Options of events in Gradio's queues, and the client of a request."""

from collections.abc import Callable
from typing import Any

import gradio as gr
from gradio.context import LocalContext
from starlette.requests import Request

from explorer import limits
from explorer.context import configure
from explorer.links.page_state import PageState
from explorer.middleware.concurrency import LEFT
from explorer.middleware.waiting_room import COMPARES, account_of, program_of
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK

LIGHT: dict[str, Any] = {
    "api_visibility": "private",
    "concurrency_id": "infer",
    "show_progress": "minimal",
}
"""Event options for a few forward passes: these events share a queue, apart from Compare's."""
OF_HUB: dict[str, Any] = {
    "api_visibility": "private",
    "concurrency_id": "hub",
    "concurrency_limit": limits.HUB.maximum,
    "show_progress": "full",
}
"""Event options for requests to the model hub: they may take minutes and have their own queue."""
COMPARE: dict[str, Any] = {
    "concurrency_id": COMPARES,
    "concurrency_limit": limits.COMPARES.maximum,
}
"""Event options for Compare, which has its own queue."""
ELSEWHERE = limits.COMPARES_ELSEWHERE.maximum
"""Most Compares at once if the networks are on other machines, since here they only wait."""
OF_PROGRAMS: dict[str, Any] = {
    "concurrency_id": "programs",
    "concurrency_limit": limits.CALLS.maximum,
}
"""Event options for public endpoints: programs wait for each other and never delay a page."""
MEASURED_FOR_PROGRAMS: dict[str, Any] = {
    "concurrency_id": "measured",
    "concurrency_limit": limits.TIMED_CALLS.maximum,
}
"""Event options for the public endpoint that measures."""
PASSED_ON = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers that a proxy adds to a request."""
OWN_NAMES = ("", "localhost", "127.0.0.1", "::1")
"""Names by which a browser on this machine calls the page."""
AT_ONCE: dict[str, Any] = {
    "concurrency_limit": None,
    "show_progress": "hidden",
    "api_visibility": "private",
}
"""Event options for what never waits: a stop, a reset.

Such an event is in Gradio's queue too, because the request filter blocks the route without queue.
"""


def widen() -> None:
    """Let more Compares run at once on pages built from now on."""
    COMPARE["concurrency_limit"] = ELSEWHERE


def opens_on(page: Any) -> PageState:  # noqa: ANN401 - Gradio's Blocks, or None outside of one
    """Return the state that a page opens on; the default state if it does not say."""
    return getattr(page, "opens_on", None) or PageState()


def owner_of(request: gr.Request | None) -> str:
    """Return the session of a request or, if it is None, of the current one: the job's owner."""
    current = request if request is not None else LocalContext.request.get(None)
    return str(current.session_hash or "") if current is not None else ""


def outputs_of_event() -> tuple[int, ...]:
    """Return the ids of the components that the current event writes; empty outside an event."""
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


def is_passed_on() -> bool:
    """Return whether the current request came through a proxy, or was sent to another name.

    A proxy adds a header, or keeps the public name in the header Host. One that does neither looks
    like a browser on this machine.
    """
    headers = getattr(LocalContext.request.get(None), "headers", None) or {}
    name = str(headers.get("host", "")).rsplit(":", 1)[0].strip("[]")
    return any(each in headers for each in PASSED_ON) or name not in OWN_NAMES


def program_that_asks() -> str:
    """Return the address of the program that sent the current request; empty for a visitor.

    A picture's own request is no event and counts as a program's: visitors' events go first.
    """
    event = _event()
    return program_of(event.fn, event.request) if event is not None else address_of_asker()


def left_by_now() -> Callable[[], bool]:
    """Return a function, callable from any thread, that tells if the current client has left.

    Gradio marks the events of a browser that has disconnected, but checks the mark only when the
    handler yields. A picture's own request is no event: our middleware marks it.
    """
    event = _event()
    if event is not None:
        return lambda: not event.alive
    request = LocalContext.request.get(None)
    if isinstance(request, Request) and LEFT in request.scope:
        return request.scope[LEFT].is_set
    return lambda: False


def stop_for_those_who_leave() -> None:
    """Connect the backend to Gradio: jobs of clients that left are cancelled, visitors go first."""
    configure(
        has_left=left_by_now,
        program_address=program_that_asks,
        answering=MEASUREMENT_LOCK.answering,
        is_timing=MEASUREMENT_LOCK.is_timing,
    )
