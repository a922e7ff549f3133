"""The turnstile: the page, what its pictures ask, and programs' questions come in turns."""

import asyncio
from dataclasses import dataclass, field

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer import limits
from explorer.limits import Limit


@dataclass(eq=False, slots=True)
class Turns:
    """So many at once, and so many who wait."""

    at_once: Limit
    most_waiting: Limit
    waiting: int = 0
    free: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.free = asyncio.Semaphore(self.at_once.most)


class ConcurrencyLimiter:
    """Each page is 400 KB that are written anew, each picture's question may be a text to run."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.turns = {
            ("GET", "/"): Turns(limits.PAGES_AT_ONCE, limits.PAGES_WAITING),
            ("POST", "/gradio_api/component_server"): Turns(
                limits.PICTURES_AT_ONCE, limits.PICTURES_WAITING
            ),
            # Only until they stand in the queue: a burst must not keep a visitor from it.
            ("POST", "/gradio_api/call"): Turns(limits.POSTS_AT_ONCE, limits.POSTS_WAITING),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass at its turn, or turn it away where too many wait."""
        turns = self.turns.get((scope.get("method", ""), _turns_at(scope)))
        if turns is None:
            await self.app(scope, receive, send)
        elif turns.waiting >= turns.most_waiting.most:
            refusal = JSONResponse({"detail": turns.most_waiting.sentence(n=turns.waiting)}, 429)
            await refusal(scope, receive, send)
        else:
            # Whoever sends slowly waits outside.
            body = await whole_body(receive) if scope["method"] == "POST" else receive
            await self._at_its_turn(turns, (scope, body, send))

    async def _at_its_turn(self, turns: Turns, asked: tuple[Scope, Receive, Send]) -> None:
        scope, receive, send = asked
        turns.waiting += 1
        try:
            await turns.free.acquire()
        finally:
            turns.waiting -= 1
        held = True

        def leave() -> None:
            nonlocal held
            if held:
                turns.free.release()
            held = False

        async def answer(message: Message) -> None:
            # The work is done: whoever reads slowly keeps nobody waiting.
            leave()
            await send(message)

        try:
            await self.app(scope, receive, answer)
        finally:
            leave()


async def whole_body(receive: Receive) -> Receive:
    """The body of a request, read to its end; the door has seen to it that it is not long."""
    parts = [await receive()]
    while parts[-1].get("more_body", False):
        parts.append(await receive())

    async def again() -> Message:
        return parts.pop(0) if parts else await receive()

    return again


def _turns_at(scope: Scope) -> str:
    """Where a request goes, as the table has it; below a proxy's path too."""
    path = str(scope.get("path", "")).removeprefix(str(scope.get("root_path", "")).rstrip("/"))
    return "/".join(path.rstrip("/").split("/")[:3]) or "/"
