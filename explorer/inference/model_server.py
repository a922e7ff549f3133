"""Server that holds the weights on its own machine and answers a page that holds none.

Requests and responses cross processes, so they are plain values. A refusal is returned as a value,
and so is a failure, which is logged here first: a library's exception may not unpickle elsewhere.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from itertools import islice
from threading import Event
from typing import Any

from explorer.inference.lazy_imports import wait_for_imports
from explorer.inference.local import LocalBackend, leased
from explorer.inference.scheduling.cancel import Cancelled
from explorer.models.choice.family import all_specs
from explorer.models.run import Run
from explorer.models.specs import NetworkKey
from explorer.refusal import carried
from explorer.timing.memory import limit_memory

NetworkName = tuple[str, str, str]
"""Name of a model, device and dtype: a ``NetworkKey`` as plain values."""
AT_ONCE = 16
"""Threads that wait for the one worker with a request each; further requests are queued."""
_gone: ContextVar[Event] = ContextVar("gone")


def network_named(network: NetworkName) -> NetworkKey:
    """Return the key of a network from its plain values."""
    name, device, dtype = network
    return NetworkKey(all_specs()[name], device, dtype)


def to_wire(run: Run) -> tuple[Any, ...]:
    """Return a run as plain values, without its spec and long vocabulary, which the page has."""
    arrays = (run.hidden_states, run.attention, run.mask_logits)
    return (run.tokens, *arrays, run.mask_id, run.device, run.dtype)


def vocabulary_of(key: NetworkKey) -> tuple[str, ...]:
    """Return the token of each id, once the network is loaded."""
    with leased(key) as network:
        return network.vocabulary


class ModelServer:
    """Server of one machine's networks, which runs one forward pass at a time."""

    def __init__(self) -> None:
        wait_for_imports()
        limit_memory()
        self._backend = LocalBackend(n_workers=1, has_left=lambda: _gone.get().is_set)
        self._threads = ThreadPoolExecutor(AT_ONCE, "request")

    def devices(self) -> tuple[str, ...]:
        """Return the devices of this machine."""
        return self._backend.devices()

    async def vocabulary(self, network: NetworkName) -> Any:  # noqa: ANN401
        """Return the token of each id, once the network is loaded, or the error."""
        return await self._in_thread(lambda: vocabulary_of(network_named(network)))

    async def runs(self, requests: Iterable[tuple[NetworkName, str]]) -> list[Any]:
        """Return the runs of texts as plain values, or errors; similar lengths share a batch."""
        # In a thread, since ``run`` loads the network in the thread that calls it.
        futures = await self._in_thread(
            lambda: [
                self._backend.run(network_named(network), text, None) for network, text in requests
            ]
        )
        results = await asyncio.gather(*map(settled, futures))
        return [to_wire(run) if isinstance(run, Run) else run for run in results]

    async def call(self, network: NetworkName, job: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """Return the result of a job of ``JOBS``, or the error."""
        return await self._in_thread(
            lambda: self._backend.call(network_named(network), job, arguments)
        )

    async def stream(
        self, network: NetworkName, job: str, arguments: tuple[Any, ...]
    ) -> AsyncIterator[Any]:
        """Yield the results of a job of ``JOBS``, each in a list; an error is the last item."""
        results, more = self._backend.stream(network_named(network), job, arguments), True
        try:
            while more:
                item = await self._in_thread(lambda: list(islice(results, 1)))
                more = isinstance(item, list) and bool(item)
                if item:
                    yield item
        finally:
            # The lease ends with the stream. A step that still runs in its thread ends it itself.
            with suppress(ValueError):
                results.close()

    async def _in_thread(self, function: Any) -> Any:  # noqa: ANN401
        """Return the result of a function called in a thread; skip it if the client has left."""
        gone, context = Event(), copy_context()
        context.run(_gone.set, gone)
        try:
            return await settled(self._threads.submit(context.run, function))
        except asyncio.CancelledError:
            gone.set()
            raise


async def settled(future: "Future[Any]") -> Any:  # noqa: ANN401
    """Return the result of a future, or its error as a value that the page raises."""
    try:
        return await asyncio.wrap_future(future)
    except Exception:
        # Read from the future itself, because asyncio replaces a TimeoutError by its own.
        error = future.exception()
        return error if isinstance(error, Cancelled) else carried(error)
