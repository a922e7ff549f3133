"""The queue of questions: who may wait, an address's fair share, whose turn comes."""

import asyncio
import ipaddress
import random
import time
from collections import Counter, deque
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gradio.queueing import Event, EventQueue, Queue
from gradio.server_messages import ProcessCompletedMessage
from starlette.exceptions import HTTPException
from starlette.requests import Request

from explorer import limits
from explorer.limits import Limit
from explorer.serving.middleware import validation

SIXTEEN = 16
"""What ``limits.ADDRESS`` is counted out of."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who has asked a question."""

    address: str
    session: str
    is_program: bool


@lru_cache(maxsize=1024)
def account_of(host: str) -> str:
    """Whose an address is: one alone in IPv4, the whole /64 that a subscriber has in IPv6."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def exceeded(asker: Asker, waiting: Collection[Asker]) -> tuple[Limit, int] | None:
    """Return the limit that keeps a question out, and what is held of it; None where there is room.

    There are 64 places for questions that wait, and programs may hold 32 of them. Any free place is
    for an address that holds less than its share: the places divided by the addresses that hold
    some or ask for one, and at the least by two. An address that has its share may hold more, but
    leaves the last sixteenth of the places (4 of 64, 2 of 32) to others. So

    - an address that is alone gets all places but 4 of the 64, and all but 2 of the 32;
    - one that holds none is never refused while a place is free, and no address alone can take the
      last places from it;
    - as others come the share of each shrinks, and they get the next places until all hold about
      as many;
    - a question that has been taken keeps its place until it is begun or its asker leaves.

    A page may hold 16 places.
    """
    programs = [one for one in waiting if one.is_program]
    rooms = [(limits.QUESTIONS, waiting)]
    rooms += [(limits.PROGRAMS, programs)] if asker.is_program else []
    for limit, inside in rooms:
        free = limit.most - len(inside)
        if free <= 0:
            return limit, len(inside)
        held = Counter(one.address for one in inside)
        mine = held[asker.address]
        share = limit.most // max(2, len(held.keys() | {asker.address}))
        if mine >= share and len(inside) >= limit.most * limits.ADDRESS.most // SIXTEEN:
            return limits.ADDRESS, mine
    own = sum(one.session == asker.session and not one.is_program for one in waiting)
    if not asker.is_program and own >= limits.PAGE.most:
        return limits.PAGE, own
    return None


NOWHERE = "nowhere"
"""The address of who has none."""
STEP_S = 0.1
"""From one look at the queue to the next; what is longer, the event loop was held up."""
KNOWN = 64
"""The last questions that ended in a sentence are known, for a stream that begins meanwhile."""
_OF_PAGES = "/queue/join"


def address_of(request: Request | None) -> str:
    """The address that a request came from."""
    return account_of(request.client.host if request and request.client else NOWHERE)


def program_of(fn: Any, request: Request | None) -> str:  # noqa: ANN401 - a function of Gradio's
    """The address of the program that asks; empty where a page asks for one of its own events."""
    if request is None:
        return ""
    if request.url.path.endswith(_OF_PAGES) and fn is not None and fn.api_visibility == "private":
        return ""
    return address_of(request)


def asker_of(fn: Any, request: Request | None, session: str) -> Asker:  # noqa: ANN401
    """Who asks a question."""
    return Asker(address_of(request), session, bool(program_of(fn, request)))


class WaitingRoom(Queue):
    """Gradio's queue with a limit that holds, and turns for those alone who listen."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
        super().__init__(*arguments, **named)
        self.listening: Counter[str] = Counter()
        """Open streams by session."""
        self.clock = time.monotonic
        self._looked = self.clock()
        self._aside: deque[Event] = deque()
        self._ended: deque[str] = deque()
        self._entering = asyncio.Lock()

    def start(self) -> None:
        """Begin to give out turns, with a lock of the loop in which that is done."""
        self._entering = asyncio.Lock()
        super().start()

    async def push(self, body: Any, request: Any, username: str | None) -> Any:  # noqa: ANN401
        """Take a question in: looked at and counted under one lock.

        Raises:
            HTTPException: there is no room for it, in a sentence.
        """
        async with self._entering:
            fn, session = self.blocks.fns.get(body.fn_index), str(body.session_hash or "")
            if why := self.refusal(asker_of(fn, request, session)):
                # Of a 503 Gradio's page says its own words, of every other status the answer's.
                raise HTTPException(429, why)
            return await super().push(body, request, username)

    def waiting(self) -> list[Event]:
        """All whose turn has not come."""
        return [event for line in self._lines() for event in line.queue]

    def _lines(self) -> list[EventQueue]:
        return list(self.event_queue_per_concurrency_id.values())

    def refusal(self, asker: Asker) -> str:
        """Why there is no room, even without those who do not listen; empty where there is."""
        if found := exceeded(asker, [_asker(event) for event in self.waiting()]):
            is_full = found[0] in (limits.QUESTIONS, limits.PROGRAMS)
            # Who holds too much takes no time from others.
            self._drop_unheard(limits.UNHEARD_IF_FULL, "" if is_full else asker.address)
            found = exceeded(asker, [_asker(event) for event in self.waiting()])
        return found[0].sentence(n=found[1]) if found else ""

    def get_events(self) -> tuple[list[Event], bool, str] | None:
        """The next question whose answer somebody listens for.

        Of one line that of the address for which the fewest are being answered, then the oldest.
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

    def _drop_unheard(self, within: Limit, address: str = "") -> None:
        """Take out the questions that nobody listens to, of one address or of all."""
        self._forgive_the_loop()
        asked_by = self.clock() - within.most
        for line in self._lines():
            for event in list(line.queue):
                if event.enqueue_time >= asked_by or self.listening[event.session_hash]:
                    continue
                if address in ("", address_of(event.request)):
                    line.queue.remove(event)
                    self._set_aside(event, within.sentence())

    def _forgive_the_loop(self) -> None:
        """Count no time in which the event loop stood still and could have accepted no stream."""
        now = self.clock()
        held_s, self._looked = now - self._looked - STEP_S, now
        if held_s > 0:
            for event in self.waiting():
                event.enqueue_time = min(now, event.enqueue_time + held_s)

    async def remove_from_queue(self, event_id: str) -> None:
        """Take out a question that is cancelled, also where it is set aside."""
        self._aside = deque(event for event in self._aside if event._id != event_id)
        await super().remove_from_queue(event_id)

    def _set_aside(self, event: Event, why: str) -> None:
        """A page's browser may only be slow: its question comes back; a program's does not."""
        if _asker(event).is_program:
            self._say(event, why)
            return
        self._aside.append(event)
        if len(self._aside) > limits.ASIDE.most:
            self._say(self._aside.popleft(), why)

    def listens(self, session: str) -> None:
        """A stream opens: what its page asked too early is asked again."""
        self.listening[session] += 1
        for event in [event for event in self._aside if event.session_hash == session]:
            self._aside.remove(event)
            if why := self.refusal(_asker(event)):
                self._say(event, why)
            else:
                self.event_queue_per_concurrency_id[event.concurrency_id].queue.append(event)

    def end(self, session: str) -> None:
        """Nobody listens any more: what is being answered is over.

        Gradio does so itself, but not where the connection ends while it sends a message. What
        waits is left: its turn comes only when a stream is open again.
        """
        for job in self.active_jobs:
            for event in job or ():
                if event.session_hash == session:
                    event.alive = False

    def cancel(self, event: Event) -> None:
        """Take out a program's question that waits, and end its stream in a sentence.

        A page, where its visitor has pressed a button for it, is told so by Gradio.
        """
        line = self.event_queue_per_concurrency_id[event.concurrency_id]
        if event in line.queue and _asker(event).is_program:
            line.queue.remove(event)
            self._say(event, validation.CANCELLED)
            # Else Gradio ends the stream a second time, in the middle of the session's next one.
            self.pending_event_ids_session.get(event.session_hash, set()).discard(event._id)

    def _say(self, event: Event, why: str) -> None:
        """Leave word for whoever reads the stream of a question that is not answered."""
        if event.session_hash in self.pending_messages_per_session:
            said = ProcessCompletedMessage(output={"error": why}, success=False)
            self.send_message(event, said)
        event.alive = False
        # Its stream may be open, and Gradio looks the question up a moment later.
        self._ended.append(event._id)
        if len(self._ended) > KNOWN:
            self.event_ids_to_events.pop(self._ended.popleft(), None)


def _asker(event: Event) -> Asker:
    return asker_of(event.fn, event.request, event.session_hash)
