"""What stands beside the weights on a machine of its own, and answers the page that holds none.

Everything here travels: questions and answers are plain values. A refusal is an answer too, and so
is a failure, which is logged here first: an exception of a library may not survive the way.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from itertools import islice
from threading import Event
from typing import Any

from explorer.inference.backend import HAS_LEFT
from explorer.inference.lazy_imports import wait_for_imports
from explorer.inference.local import LocalBackend, leased
from explorer.inference.scheduling.cancel import Cancelled
from explorer.models.choice.family import all_specs
from explorer.models.run import Run
from explorer.models.specs import NetworkKey
from explorer.refusal import carried
from explorer.timing.memory import limit_memory

NetworkName = tuple[str, str, str]
"""The name of a model, the device and the precision: what ``Where`` is on its way."""
AT_ONCE = 16
"""Questions that wait here for the one worker; the others wait before the door."""
_gone: ContextVar[Event] = ContextVar("gone")


def network_named(network: NetworkName) -> NetworkKey:
    """The network of a name."""
    name, device, dtype = network
    return NetworkKey(all_specs()[name], device, dtype)


def taken_apart(run: Run) -> tuple[Any, ...]:
    """What travels of a run: the page knows its spec and its vocabulary, which is long."""
    arrays = (run.hidden_states, run.attention, run.mask_logits)
    return (run.tokens, *arrays, run.mask_id, run.device, run.dtype)


def vocabulary_of(where: NetworkKey) -> tuple[str, ...]:
    """The piece of each id, once the network is loaded."""
    with leased(where) as network:
        return network.vocabulary


class ModelServer:
    """One machine's networks, one pass at a time."""

    def __init__(self) -> None:
        wait_for_imports()
        limit_memory()
        HAS_LEFT[:] = [lambda: _gone.get().is_set]
        self._here = LocalBackend(n_workers=1)
        self._threads = ThreadPoolExecutor(AT_ONCE, "asked")

    def devices(self) -> tuple[str, ...]:
        """The devices of this machine."""
        return self._here.devices()

    async def vocabulary(self, network: NetworkName) -> Any:  # noqa: ANN401
        """The piece of each id, once the network is loaded; or why it cannot be."""
        return await self._in_thread(lambda: vocabulary_of(network_named(network)))

    async def runs(self, asked: Iterable[tuple[NetworkName, str]]) -> list[Any]:
        """The runs of texts, taken apart, or why there is none; those of like length share one."""
        # In a thread, since whoever asks loads the network.
        begun = await self._in_thread(
            lambda: [self._here.run(network_named(network), text, None) for network, text in asked]
        )
        found = await asyncio.gather(*map(settled, begun))
        return [taken_apart(one) if isinstance(one, Run) else one for one in found]

    async def call(self, network: NetworkName, job: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """What a job of the list answers, or why it does not."""
        return await self._in_thread(
            lambda: self._here.call(network_named(network), job, arguments)
        )

    async def stream(
        self, network: NetworkName, job: str, arguments: tuple[Any, ...]
    ) -> AsyncIterator[Any]:
        """What a job of the list tells one by one, each in a list; a failure is the last."""
        told, more = iter(self._here.stream(network_named(network), job, arguments)), True
        while more:
            word = await self._in_thread(lambda: list(islice(told, 1)))
            more = isinstance(word, list) and bool(word)
            if word:
                yield word

    async def _in_thread(self, ask: Any) -> Any:  # noqa: ANN401
        """Ask in a thread; if nobody listens any more, what has not begun never does."""
        gone, context = Event(), copy_context()
        context.run(_gone.set, gone)
        try:
            return await settled(self._threads.submit(context.run, ask))
        except asyncio.CancelledError:
            gone.set()
            raise


async def settled(asked: "Future[Any]") -> Any:  # noqa: ANN401
    """Wait for an answer, or for the error that the page raises in its place."""
    try:
        return await asyncio.wrap_future(asked)
    except Exception:
        # The thread's own error: asyncio puts another in the place of a TimeoutError.
        error = asked.exception()
        return error if isinstance(error, Cancelled) else carried(error)
