"""Other machines as the place of the weights: the page asks them and holds no network itself."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from explorer.inference.backend import HAS_LEFT, OnProgress
from explorer.inference.model_server import NetworkName
from explorer.inference.scheduling.cancel import Cancelled
from explorer.models.run import Run, read_only
from explorer.models.specs import NetworkKey
from explorer.refusal import Refusal

LOOK_S = 0.5
"""How often whoever waits for an answer is looked after."""
AT_ONCE = 64
"""Texts that the page waits for."""


class BackendLost(Refusal):
    """The machine that was to answer went away; says so in one sentence."""


class RayBackend:
    """A group of machines for each model; ``ask`` is how one of a group is asked."""

    def __init__(self, groups: Mapping[str, "Callable[..., Any]"]) -> None:
        self._groups = groups
        self._vocabularies: dict[str, tuple[str, ...]] = {}
        self._threads = ThreadPoolExecutor(AT_ONCE, "replica")
        self._devices: tuple[str, ...] = ()

    def devices(self) -> tuple[str, ...]:
        """The devices of the first group: all machines are taken to be alike."""
        if not self._devices:
            self._devices = next(iter(self._groups.values()))("devices").result()
        return self._devices

    def is_ready(self, where: NetworkKey) -> bool:
        """Whether a machine has answered for this model before."""
        return where.spec.name in self._vocabularies

    def load(self, where: NetworkKey, report: OnProgress | None) -> None:
        """Have one machine load it, and keep its vocabulary for the runs to come."""
        if report:
            report(f"{where.spec.label} is loaded on its own machine", 0.0)
        self._vocabularies[where.spec.name] = self._answer(where, "vocabulary", _on_its_way(where))

    def run(self, where: NetworkKey, text: str, report: OnProgress | None) -> "Future[Run]":
        """The run of a text; the machine lets it share its pass."""
        return self._threads.submit(self._run, where, text, report)

    def _run(self, where: NetworkKey, text: str, report: OnProgress | None) -> Run:
        if not self.is_ready(where):
            self.load(where, report)
        found = self._answer(where, "run", _on_its_way(where), text)
        tokens, states, attention, logits, mask_id, device, dtype = found
        arrays = (read_only(states), read_only(attention), read_only(logits))
        vocabulary = self._vocabularies[where.spec.name]
        return Run(where.spec, tokens, *arrays, vocabulary, mask_id, device, dtype)

    def call(self, where: NetworkKey, job: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """The job on one of the model's machines.

        Raises:
            Gone: it went away meanwhile. Stopped: whoever asked has left.
        """
        return self._answer(where, "call", _on_its_way(where), job, arguments)

    def stream(self, where: NetworkKey, job: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
        """The job on one of the model's machines, as it goes on."""
        ask = self._groups[where.spec.key]
        for told in ask("stream", _on_its_way(where), job, arguments):
            if isinstance(told, Exception):
                raise told
            yield from told

    def _answer(self, where: NetworkKey, method: str, *question: Any) -> Any:  # noqa: ANN401
        """One machine's answer; what it could not do is raised here."""
        left, asked = HAS_LEFT[-1](), self._groups[where.spec.key](method, *question)
        while True:
            try:
                answer = asked.result(LOOK_S)
                break
            except TimeoutError:
                if left():
                    asked.cancel()
                    raise Cancelled("left") from None
        if isinstance(answer, Exception):
            raise answer
        return answer


def _on_its_way(where: NetworkKey) -> NetworkName:
    return where.spec.name, where.device, where.dtype
