"""Queue of requests: admission, a fair share for each address, and the order of service."""

import asyncio
import ipaddress
import logging
import random
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection
from contextlib import nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import uuid4

from gradio.data_classes import PredictBodyInternal
from gradio.queueing import Event, EventQueue, Queue
from gradio.server_messages import EventMessage, ProcessCompletedMessage
from starlette.exceptions import HTTPException
from starlette.requests import Request

from explorer import limits
from explorer.context import context
from explorer.limits import Limit
from explorer.middleware import validation

LOGGER = logging.getLogger(__name__)
SIXTEEN = 16
"""Denominator of ``limits.ADDRESS``, which is in sixteenths."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Client that sent a request."""

    address: str
    session: str
    is_program: bool


@lru_cache(maxsize=1024)
def account_of(host: str) -> str:
    """Return the key under which a host is counted: its IPv4 address, or its /64 network in IPv6.

    A subscriber has a whole /64.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def beyond_share(limit: Limit, address: str, held: Collection[str]) -> tuple[Limit, int] | None:
    """Return the limit that refuses an address one more place; None if there is room.

    Args:
        limit: The limit with the number of places.
        address: The address that asks for a place.
        held: The address that holds each place that is taken.
    """
    if len(held) >= limit.maximum:
        return limit, len(held)
    counts = Counter(held)
    share = limit.maximum // max(2, len(counts.keys() | {address}))
    last_places = limit.maximum * limits.ADDRESS.maximum // SIXTEEN
    if counts[address] >= share and len(held) >= last_places:
        return limits.ADDRESS, counts[address]
    return None


def exceeded(sender: Sender, waiting: Collection[Sender]) -> tuple[Limit, int] | None:
    """Return the limit that refuses a request and the count held of it; None if there is room.

    There are ``QUESTIONS`` places for requests that wait, and programs may hold ``PROGRAMS`` of
    them. Any free place is for an address that holds less than its share: the places divided by
    the number of addresses that hold or request one, and at least by two. An address that has its
    share may hold more, but leaves the last sixteenth of the places to others (``ADDRESS``). So

    - an address that is alone gets all places but that sixteenth;
    - an address that holds none is never refused while a place is free, and no address alone can
      take the last places from it;
    - as others come the share of each shrinks, and they get the next places until all hold about
      as many;
    - a request that has been accepted keeps its place until it begins or its client leaves.

    A page may hold 16 places.
    """
    programs = [client for client in waiting if client.is_program]
    pools = [(limits.QUESTIONS, waiting)]
    pools += [(limits.PROGRAMS, programs)] if sender.is_program else []
    for limit, clients in pools:
        if refused := beyond_share(limit, sender.address, [client.address for client in clients]):
            return refused
    n_of_page = sum(
        client.session == sender.session and not client.is_program for client in waiting
    )
    if not sender.is_program and n_of_page >= limits.PAGE.maximum:
        return limits.PAGE, n_of_page
    return None


COMPARES = "compare"
"""The line of Compares."""
NO_ADDRESS = "nowhere"
"""The address of a request without a client."""
STEP_S = 0.1
"""Seconds between two looks at the queue; a longer gap means that the event loop was blocked."""
REST_S = 1.0
"""Seconds after which a task of the queue that has nothing to do looks again, even if nothing woke
it. Gradio's thousand looks a second take a twentieth of a core from a server that nobody asks."""
TIMING_SLEEP_S = 0.05
"""Seconds between two looks at the queue while passes are timed: a thousand looks a second make a
pass on two cores a tenth slower."""
KNOWN = 64
"""Number of refused requests that stay known, for a stream that opens just afterwards."""
RESTART_S = 0.5
"""Pause before a queue's task that has ended is started again."""
ENDED = "the queue's task %s has ended and is started again"
HasWork = Callable[[], bool]
_HAS_WORK: ContextVar[HasWork] = ContextVar("has_work", default=lambda: True)
"""In a task of the queue: whether it has anything to do."""
_OF_PAGES = "/queue/join"


def address_of(request: Request | None) -> str:
    """Return the address that a request came from."""
    return account_of(request.client.host if request and request.client else NO_ADDRESS)


def program_of(fn: Any, request: Request | None) -> str:  # noqa: ANN401 - a function of Gradio's
    """Return the address of the program that sent a request; empty for a page's own event."""
    if request is None:
        return ""
    if request.url.path.endswith(_OF_PAGES) and fn is not None and fn.api_visibility == "private":
        return ""
    return address_of(request)


def sender_of(fn: Any, request: Request | None, session: str) -> Sender:  # noqa: ANN401
    """Return the client that sent a request."""
    return Sender(address_of(request), session, bool(program_of(fn, request)))


class WaitingRoom(Queue):
    """Gradio's queue with strict limits, which serves only requests whose stream is open."""

    def __init__(self, *arguments: Any, **kwargs: Any) -> None:  # noqa: ANN401
        self._sleep_s, self._is_closed = 0.0, False
        super().__init__(*arguments, **kwargs)
        self.listening: Counter[str] = Counter()
        """Number of open streams by session."""
        self.clock = time.monotonic
        self._last_check = self.clock()
        self._unheard: deque[Event] = deque()
        self._ended: deque[str] = deque()
        self._entering = asyncio.Lock()
        self._asked, self._begun = asyncio.Event(), asyncio.Event()
        self._probe: asyncio.Task[bool] | None = None
        self._probe_session = uuid4().hex

    @property
    def stopped(self) -> bool:
        """True once the server closes, and for a task of the queue while it has nothing to do.

        Gradio's task also sets it when it fails.
        """
        return self._is_closed or not _HAS_WORK.get()()

    @stopped.setter
    def stopped(self, is_stopped: bool) -> None:
        self._is_closed &= is_stopped

    def close(self) -> None:
        """Stop the queue, because the server closes."""
        self._is_closed = True

    @property
    def sleep_when_free(self) -> float:
        """Seconds between two looks at a queue that has nothing to start."""
        if context().is_timing():
            return max(self._sleep_s, TIMING_SLEEP_S)
        return self._sleep_s

    @sleep_when_free.setter
    def sleep_when_free(self, seconds: float) -> None:
        self._sleep_s = seconds

    def start(self) -> None:
        """Start the queue, with a new lock and events that belong to its event loop."""
        self._entering, self._probe, self._is_closed = asyncio.Lock(), None, False
        self._asked, self._begun = asyncio.Event(), asyncio.Event()
        super().start()

    async def start_processing(self) -> None:
        """Begin requests while any wait; if the task fails, it is run again."""
        await self._keep_running(super().start_processing, lambda: len(self) > 0, self._asked)

    async def start_progress_updates(self) -> None:
        """Send progress messages while requests run; if the task fails, it is run again."""
        await self._keep_running(
            super().start_progress_updates,
            lambda: any(job is not None for job in self.active_jobs),
            self._begun,
        )

    async def _keep_running(
        self, run: Callable[[], Awaitable[None]], has_work: HasWork, woken: asyncio.Event
    ) -> None:
        while not self._is_closed:
            task = asyncio.create_task(self._run(run, has_work, woken), name=run.__name__)
            # Only this task's own end is awaited: if the server cancels us, we end too.
            await asyncio.wait([task])
            if not self._is_closed:
                failure = None if task.cancelled() else task.exception()
                LOGGER.error(ENDED, run.__name__, exc_info=failure)
                await asyncio.sleep(RESTART_S)

    async def _run(
        self, run: Callable[[], Awaitable[None]], has_work: HasWork, woken: asyncio.Event
    ) -> None:
        """Run Gradio's task whenever it has something to do, and rest until it is woken."""
        _HAS_WORK.set(has_work)
        while not self._is_closed:
            woken.clear()
            if has_work():
                await run()
            else:
                with suppress(TimeoutError):
                    async with asyncio.timeout(REST_S):
                        await woken.wait()

    def _cancel_asyncio_tasks(self) -> None:
        """Let running requests go on if Gradio's task fails, which would cancel them."""
        if self._is_closed:
            super()._cancel_asyncio_tasks()

    def send_message(self, event: Event, event_message: EventMessage) -> None:
        """Send a message to the session of a request; drop it if the session is unknown."""
        if event.session_hash in self.pending_messages_per_session:
            super().send_message(event, event_message)

    async def answers(self, fn_index: int, request: Request) -> bool:
        """Return whether a request of our own gets its answer through the queue in time.

        Calls at the same time share one such request. No limit refuses it, and its session is one
        that no client knows.
        """
        if self._probe is None or self._probe.done():
            self._probe = asyncio.ensure_future(self._is_answered(fn_index, request))
        return await asyncio.shield(self._probe)

    async def _is_answered(self, fn_index: int, request: Request) -> bool:
        session = self._probe_session
        values = {"fn_index": fn_index, "data": [], "session_hash": session, "request": request}
        self.listening[session] += 1
        try:
            async with asyncio.timeout(limits.HEALTH.maximum):
                await self._add(PredictBodyInternal(**values), request, None)  # type: ignore[arg-type]
                messages = self.pending_messages_per_session[session]
                while not isinstance(message := await messages.get(), ProcessCompletedMessage):
                    pass
                return message.success
        except TimeoutError:
            return False
        finally:
            del self.listening[session]
            self.pending_messages_per_session.pop(session, None)
            await self.clean_events(session_hash=session)
            self.pending_event_ids_session.pop(session, None)

    async def push(self, body: Any, request: Any, username: str | None) -> Any:  # noqa: ANN401
        """Add a request to the queue; the limits are checked and the request added under one lock.

        Raises:
            HTTPException: a limit refuses the request, or no stream can be opened for its session;
                the message is one sentence.
        """
        # A program without a session gets one from Gradio.
        if body.session_hash is not None and not validation.is_session(body.session_hash):
            raise HTTPException(422, validation.NO_JSON)
        async with self._entering:
            fn, session = self.blocks.fns.get(body.fn_index), str(body.session_hash or "")
            if reason := self.refusal(sender_of(fn, request, session)):
                # Not 503: for that Gradio's page shows its own text instead of this sentence.
                raise HTTPException(429, reason)
            return await self._add(body, request, username)

    async def _add(self, body: Any, request: Any, username: str | None) -> Any:  # noqa: ANN401
        """Add a request, and wake the task that begins it."""
        try:
            return await super().push(body, request, username)
        finally:
            self._asked.set()

    def waiting(self) -> list[Event]:
        """Return all requests that wait."""
        return [event for line in self._lines() for event in line.queue]

    def _lines(self) -> list[EventQueue]:
        return list(self.event_queue_per_concurrency_id.values())

    def refusal(self, sender: Sender) -> str:
        """Return why a request is refused, or an empty string.

        If a limit is exceeded, waiting requests without an open stream are dropped first.
        """
        if limit_and_count := exceeded(sender, [_event_sender(event) for event in self.waiting()]):
            is_full = limit_and_count[0] in (limits.QUESTIONS, limits.PROGRAMS)
            # At its own limit, only the address itself loses requests, no other one.
            self._drop_unheard(limits.UNHEARD_IF_FULL, "" if is_full else sender.address)
            limit_and_count = exceeded(sender, [_event_sender(event) for event in self.waiting()])
        return limit_and_count[0].sentence(n=limit_and_count[1]) if limit_and_count else ""

    def get_events(self) -> tuple[list[Event], bool, str] | None:
        """Remove and return the next request whose stream is open, or None.

        Within a queue, the address with the fewest running requests goes first, then the oldest.
        """
        self._drop_unheard(limits.UNHEARD)
        lines = self._lines()
        random.shuffle(lines)
        for line in lines:
            most = line.concurrency_limit
            if most is not None and line.current_concurrency >= most:
                continue
            if heard := [event for event in line.queue if self.listening[event.session_hash]]:
                running = Counter(
                    address_of(event.request)
                    for job in self.active_jobs
                    for event in job or ()
                    if event.concurrency_id == line.concurrency_id
                )
                event = min(heard, key=lambda event: running[address_of(event.request)])
                line.queue.remove(event)
                return [event], False, line.concurrency_id
        return None

    async def process_events(self, events: list[Event], *arguments: Any) -> None:  # noqa: ANN401
        """Answer requests; long work stands back until a visitor's Compare has been sent."""
        first = events[0]
        self._begun.set()
        is_visitor = first.concurrency_id == COMPARES and not _event_sender(first).is_program
        with context().answering() if is_visitor else nullcontext():
            await super().process_events(events, *arguments)

    def _drop_unheard(self, limit: Limit, address: str = "") -> None:
        """Remove requests without an open stream, of one address or of all."""
        self._discount_blocked_time()
        asked_by = self.clock() - limit.maximum
        for line in self._lines():
            for event in list(line.queue):
                if event.enqueue_time >= asked_by or self.listening[event.session_hash]:
                    continue
                if address in ("", address_of(event.request)):
                    line.queue.remove(event)
                    self._set_aside(event, limit.sentence())

    def _discount_blocked_time(self) -> None:
        """Subtract time in which the blocked event loop could not have accepted a stream."""
        now = self.clock()
        blocked_s, self._last_check = now - self._last_check - STEP_S, now
        if blocked_s > 0:
            for event in self.waiting():
                event.enqueue_time = min(now, event.enqueue_time + blocked_s)

    async def remove_from_queue(self, event_id: str) -> None:
        """Remove a cancelled request, also from those set aside."""
        self._unheard = deque(event for event in self._unheard if event._id != event_id)
        await super().remove_from_queue(event_id)

    def _set_aside(self, event: Event, reason: str) -> None:
        """Keep a page's request for when its slow browser opens the stream; end a program's."""
        if _event_sender(event).is_program:
            self._end_with_message(event, reason)
            return
        self._unheard.append(event)
        if len(self._unheard) > limits.ASIDE.maximum:
            self._end_with_message(self._unheard.popleft(), reason)

    def stream_opened(self, session: str) -> None:
        """Count a stream that opens, and queue the session's requests that were set aside."""
        self.listening[session] += 1
        for event in [event for event in self._unheard if event.session_hash == session]:
            self._unheard.remove(event)
            if reason := self.refusal(_event_sender(event)):
                self._end_with_message(event, reason)
            else:
                self.event_queue_per_concurrency_id[event.concurrency_id].queue.append(event)
                self._asked.set()

    def end(self, session: str) -> None:
        """End the running requests of a session whose client has left.

        Gradio does so itself, except when the connection ends while it sends a message. Waiting
        requests stay: they are served only when a stream is open again.
        """
        for job in self.active_jobs:
            for event in job or ():
                if event.session_hash == session:
                    event.alive = False

    def cancel(self, event: Event) -> None:
        """Remove a program's waiting request, and end its stream with a message.

        A page's request, cancelled by a button, gets its message from Gradio.
        """
        line = self.event_queue_per_concurrency_id[event.concurrency_id]
        if event in line.queue and _event_sender(event).is_program:
            line.queue.remove(event)
            self._end_with_message(event, validation.CANCELLED)
            # Else Gradio ends the stream a second time, during the session's next request.
            self.pending_event_ids_session.get(event.session_hash, set()).discard(event._id)

    def _end_with_message(self, event: Event, reason: str) -> None:
        """End a request that is not served, with an error message on its stream."""
        message = ProcessCompletedMessage(output={"error": reason}, success=False)
        self.send_message(event, message)
        event.alive = False
        # Kept for a while: its stream may be open, and Gradio looks the request up a moment later.
        self._ended.append(event._id)
        if len(self._ended) > KNOWN:
            self.event_ids_to_events.pop(self._ended.popleft(), None)


def _event_sender(event: Event) -> Sender:
    return sender_of(event.fn, event.request, event.session_hash)
