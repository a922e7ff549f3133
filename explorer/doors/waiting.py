"""The waiting room: who may wait for an answer, whose turn comes, and who is sent away."""

import asyncio
import ipaddress
import random
import time
from collections import Counter, deque
from typing import Any

from gradio.queueing import Event, EventQueue, Queue
from gradio.server_messages import ProcessCompletedMessage
from starlette.exceptions import HTTPException
from starlette.requests import Request

from explorer.doors import words

MOST_WAITING = 64
"""Questions that may wait for an answer; who comes then is asked to come again."""
MOST_OF_PROGRAMS = MOST_WAITING // 2
"""Of all programs together: visitors of the page always find room."""
MOST_OF_ONE = MOST_WAITING // 4
"""Of the programs at one address, and of one page."""
OPEN_WITHIN_S = 5.0
"""The stream of a question's answer must be open by then, or the question is dropped."""
OPEN_IF_FULL_S = 1.0
"""The same while nobody else finds room."""
MOST_ASIDE = MOST_WAITING
"""Questions of pages that are kept out of the line until their stream opens, the latest of them."""
NOWHERE = "nowhere"
"""The address of who has none."""
_OF_PAGES = "/queue/join"
Share = tuple[str, int]


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


def program_of(fn: Any, request: Request | None) -> str:  # noqa: ANN401 - a function of Gradio's
    """The address of the program that asks; empty where a page asks for one of its own events."""
    if request is None:
        return ""
    if request.url.path.endswith(_OF_PAGES) and fn is not None and fn.api_visibility == "private":
        return ""
    return account_of(request.client.host if request.client else NOWHERE)


def shares_of(program: str, session: str) -> tuple[Share, ...]:
    """Whose room a question takes, and how much of it there is."""
    if program:
        return (("programs", MOST_OF_PROGRAMS), (f"address {program}", MOST_OF_ONE))
    # A whole class sits behind one address: pages are counted one by one.
    return ((f"page {session}", MOST_OF_ONE),)


class WaitingRoom(Queue):
    """Gradio's queue with a limit that holds, and turns for those alone who listen."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
        super().__init__(*arguments, **named)
        self.listening: Counter[str] = Counter()
        """Open streams by session."""
        self._aside: deque[Event] = deque()
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
            program = program_of(self.blocks.fns.get(body.fn_index), request)
            if refusal := self.refusal(shares_of(program, str(body.session_hash or ""))):
                # Of a 503 Gradio's page says its own words, of every other status the answer's.
                raise HTTPException(429, refusal)
            return await super().push(body, request, username)

    def waiting(self) -> list[Event]:
        """All whose turn has not come."""
        return [event for line in self._lines() for event in line.queue]

    def _lines(self) -> list[EventQueue]:
        return list(self.event_queue_per_concurrency_id.values())

    def refusal(self, shares: tuple[Share, ...]) -> str:
        """Why there is no room, even without those who do not listen; empty where there is."""
        if self._full(shares):
            self._drop_unheard(OPEN_IF_FULL_S)
        return self._full(shares)

    def _full(self, shares: tuple[Share, ...]) -> str:
        if (n := len(self)) >= MOST_WAITING:
            return words.BUSY.format(n=n)
        held = Counter(whose for event in self.waiting() for whose, _ in _shares(event))
        full = [whose for whose, most in shares if held[whose] >= most]
        said = dict.fromkeys(full, words.ENOUGH_OF_ONE) | {"programs": words.BUSY}
        return said[full[0]].format(n=held[full[0]]) if full else ""

    def get_events(self) -> tuple[list[Event], bool, str] | None:
        """The next question whose answer somebody listens for."""
        self._drop_unheard(OPEN_WITHIN_S)
        lines = self._lines()
        random.shuffle(lines)
        for line in lines:
            most = line.concurrency_limit
            if most is not None and line.current_concurrency >= most:
                continue
            for event in line.queue:
                if self.listening[event.session_hash]:
                    line.queue.remove(event)
                    return [event], False, line.concurrency_id
        return None

    def _drop_unheard(self, within_s: float) -> None:
        """Send those away who were asked so long ago and whom nobody listens to."""
        asked_by = time.monotonic() - within_s
        for line in self._lines():
            for event in list(line.queue):
                if event.enqueue_time < asked_by and not self.listening[event.session_hash]:
                    line.queue.remove(event)
                    self._set_aside(event)

    def _set_aside(self, event: Event) -> None:
        """A page's browser may only be slow: its question comes back; a program's does not."""
        if program_of(event.fn, event.request):
            self._say_dropped(event)
            return
        self._aside.append(event)
        if len(self._aside) > MOST_ASIDE:
            self._say_dropped(self._aside.popleft())

    def listens(self, session: str) -> None:
        """A stream opens: what its page asked too early is asked again."""
        self.listening[session] += 1
        for event in [event for event in self._aside if event.session_hash == session]:
            self._aside.remove(event)
            if self.refusal(_shares(event)):
                self._say_dropped(event)
            else:
                self.event_queue_per_concurrency_id[event.concurrency_id].queue.append(event)

    def _say_dropped(self, event: Event) -> None:
        """Leave word for one who opens the stream after all."""
        said = {"error": words.UNHEARD.format(limit=int(OPEN_WITHIN_S))}
        if event.session_hash in self.pending_messages_per_session:
            self.send_message(event, ProcessCompletedMessage(output=said, success=False))
        event.alive = False
        self.event_ids_to_events.pop(event._id, None)


def _shares(event: Event) -> tuple[Share, ...]:
    return shares_of(program_of(event.fn, event.request), event.session_hash)
