"""Backend that keeps the weights on other machines; this process holds no network."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from explorer.context import context
from explorer.inference.backend import OnProgress
from explorer.inference.model_server import NetworkName
from explorer.inference.scheduling.cancel import Cancelled
from explorer.models.run import Run, read_only
from explorer.models.specs import NetworkKey
from explorer.refusal import Refusal

LOOK_S = 0.5
"""Seconds between two checks whether the client that waits for a response has left."""
AT_ONCE = 64
"""Most texts whose runs are pending at once."""


class BackendLost(Refusal):
    """Refusal because the machine that computed the response went away."""


class RayBackend:
    """Backend with a group of machines for each model.

    Args:
        groups: By model key, the function that sends a request to one machine of the group.
    """

    def __init__(self, groups: Mapping[str, "Callable[..., Any]"]) -> None:
        self._groups = groups
        self._vocabularies: dict[str, tuple[str, ...]] = {}
        self._threads = ThreadPoolExecutor(AT_ONCE, "replica")
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
        ask = self._groups[key.spec.key]
        for item in ask("stream", _network_name(key), job, arguments):
            if isinstance(item, Exception):
                raise item
            yield from item

    def _answer(self, key: NetworkKey, method: str, *arguments: Any) -> Any:  # noqa: ANN401
        """Return one machine's response, or raise the error that it returned."""
        has_left, response = context().has_left(), self._groups[key.spec.key](method, *arguments)
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
    return key.spec.name, key.device, key.dtype
