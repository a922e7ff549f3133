"""Backend that keeps the weights on other machines, and the server that holds them there."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from itertools import islice
from threading import Event
from typing import Any

from explorer.context import context
from explorer.inference.backend import OnProgress
from explorer.inference.lazy_imports import wait_for_imports
from explorer.inference.local import LocalBackend, leased
from explorer.models.choice.family import all_specs
from explorer.models.run import Run, read_only
from explorer.models.specs import NetworkKey
from explorer.refusal import Refusal, carried
from explorer.scheduling.cancel import Cancelled
from explorer.timing.memory import limit_memory

NetworkName = tuple[str, str, str, str, str]
"""Model, column, the column's label, device and dtype: a ``NetworkKey`` as plain values."""
REQUESTS_AT_ONCE = 16
"""Threads that wait for the one worker with a request each; further requests are queued."""
_gone: ContextVar[Event] = ContextVar("gone")
LOOK_S = 0.5
"""Seconds between two checks whether the client that waits for a response has left."""
TEXTS_AT_ONCE = 64
"""Most texts whose runs are pending at once."""


def network_named(network: NetworkName) -> NetworkKey:
    """Return the key of a network from its plain values."""
    name, column, label, device, dtype = network
    return NetworkKey(all_specs()[name].in_column(column, label), device, dtype)


def to_wire(run: Run) -> tuple[Any, ...]:
    """Return a run as plain values, without its spec and long vocabulary, which the page has."""
    arrays = (run.hidden_states, run.attention, run.mask_logits)
    return (run.tokens, *arrays, run.mask_id, run.device, run.dtype)


def vocabulary_of(key: NetworkKey) -> tuple[str, ...]:
    """Return the token of each id, once the network is loaded."""
    with leased(key) as network:
        return network.vocabulary


class ModelServer:
    """Server of one machine's networks, which runs one forward pass at a time.

    Requests and responses cross processes, so they are plain values. A refusal is returned as a
    value, and so is a failure, which is logged here first: a library's exception may not unpickle
    elsewhere.
    """

    def __init__(self) -> None:
        wait_for_imports()
        limit_memory()
        self._backend = LocalBackend(n_workers=1, has_left=lambda: _gone.get().is_set)
        self._threads = ThreadPoolExecutor(REQUESTS_AT_ONCE, "request")

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


class BackendLost(Refusal):
    """Refusal because the machine that computed the response went away."""


class RayBackend:
    """Backend with a group of machines for each architecture.

    Args:
        groups: By architecture, the function that sends a request to one machine of the group.
    """

    def __init__(self, groups: Mapping[str, "Callable[..., Any]"]) -> None:
        self._groups = groups
        self._vocabularies: dict[str, tuple[str, ...]] = {}
        self._threads = ThreadPoolExecutor(TEXTS_AT_ONCE, "replica")
        self._devices: tuple[str, ...] = ()

    def devices(self) -> tuple[str, ...]:
        """Return the devices of the first group; all machines are assumed to be alike."""
        if not self._devices:
            self._devices = next(iter(self._groups.values()))("devices").result()
        return self._devices

    def is_ready(self, key: NetworkKey) -> bool:
        """Return whether the vocabulary of the model has been received, so a machine loaded it."""
        return key.spec.name in self._vocabularies

    def load(self, key: NetworkKey, report: OnProgress | None) -> None:
        """Load the network on one machine, and keep its vocabulary for later runs."""
        if report:
            report(f"{key.spec.label} is loaded on its own machine", 0.0)
        self._vocabularies[key.spec.name] = self._answer(key, "vocabulary", _network_name(key))

    def run(self, key: NetworkKey, text: str, report: OnProgress | None) -> "Future[Run]":
        """Return a future of the run of a text; the machine may batch it with others."""
        return self._threads.submit(self._run, key, text, report)

    def _run(self, key: NetworkKey, text: str, report: OnProgress | None) -> Run:
        if not self.is_ready(key):
            self.load(key, report)
        values = self._answer(key, "run", _network_name(key), text)
        tokens, states, attention, logits, mask_id, device, dtype = values
        arrays = (read_only(states), read_only(attention), read_only(logits))
        vocabulary = self._vocabularies[key.spec.name]
        return Run(key.spec, tokens, *arrays, vocabulary, mask_id, device, dtype)

    def call(self, key: NetworkKey, job: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """Return the result of a job that runs on one of the model's machines.

        Raises:
            BackendLost: the machine went away meanwhile.
            Cancelled: the client has left.
        """
        return self._answer(key, "call", _network_name(key), job, arguments)

    def stream(self, key: NetworkKey, job: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
        """Yield the results of a job that runs on one of the model's machines."""
        ask = self._groups[key.spec.architecture_key]
        for item in ask("stream", _network_name(key), job, arguments):
            if isinstance(item, Exception):
                raise item
            yield from item

    def _answer(self, key: NetworkKey, method: str, *arguments: Any) -> Any:  # noqa: ANN401
        """Return one machine's response, or raise the error that it returned."""
        has_left, response = (
            context().has_left(),
            self._groups[key.spec.architecture_key](method, *arguments),
        )
        while True:
            try:
                answer = response.result(LOOK_S)
                break
            except TimeoutError:
                if has_left():
                    response.cancel()
                    raise Cancelled("left") from None
        if isinstance(answer, Exception):
            raise answer
        return answer


def _network_name(key: NetworkKey) -> NetworkName:
    spec = key.spec
    return spec.name, spec.key, spec.column_label, key.device, key.dtype
