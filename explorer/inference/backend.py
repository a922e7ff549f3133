"""The interface of a backend, which holds the weights, and the jobs that may run beside them.

``explorer.inference.local`` holds them in this process, ``ray_backend`` on other machines; callers
never hold a network.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, Protocol

from explorer.models.run import Run
from explorer.models.specs import NetworkKey

OnProgress = Callable[[str, float], None]
"""Called with a plain sentence and the share done, 0 to 1."""


@dataclass(frozen=True, slots=True)
class JobPolicy:
    """How a job runs."""

    on_worker: bool = True
    """A pass of the network takes its turn on a worker; anything else runs where it is asked."""
    one_of_many: bool = False
    """Whether it is of long work, before and between whose passes everybody else's go."""
    given_network: bool = True
    """Else it is given where the network is, and loads what it needs itself."""
    slot: Literal["none", "infer", "measure"] = "infer"
    """What it holds of the machine: nothing, a share, or all of it, since it times something."""


SINGLE, CHUNK = JobPolicy(), JobPolicy(one_of_many=True)
INLINE, LIGHT = JobPolicy(on_worker=False), JobPolicy(on_worker=False, slot="none")
CHECK = JobPolicy(on_worker=False, given_network=False)
TIMED = JobPolicy(on_worker=False, given_network=False, slot="measure")
JOBS = {
    "explorer.analysis.claims.checks:checked": CHECK,
    "explorer.analysis.claims.checks:timed": TIMED,
    "explorer.analysis.depth.lens:batch_places": CHUNK,
    "explorer.analysis.depth.lens:sentence_states": CHUNK,
    "explorer.analysis.parameters.count:loaded_layer_calls": INLINE,
    "explorer.analysis.parameters.count:loaded_spectrum": INLINE,
    "explorer.analysis.predictions:loaded_plans": LIGHT,
    "explorer.analysis.tasks.tuned:judged": CHUNK,
    "explorer.analysis.tasks.tuned:answered": CHUNK,
    "explorer.models.forward:state_logits": SINGLE,
    "explorer.models.forward:tokenize": LIGHT,
    "explorer.models.task_heads.adapters:card_of": LIGHT,
    "explorer.models.task_heads.classifiers:has_pair_head": LIGHT,
    "explorer.models.task_heads.classifiers:pair_logits": SINGLE,
    "explorer.models.inside.interventions:ablated_logits": CHUNK,
    "explorer.models.inside.interventions:context_logits": CHUNK,
    "explorer.models.inside.interventions:context_ranks": CHUNK,
    "explorer.models.inside.reading:attention_gradients": SINGLE,
    "explorer.models.inside.reading:queries_and_keys": SINGLE,
    "explorer.models.inside.interventions:patched_logits": CHUNK,
    "explorer.models.inside.interventions:unrolled_states": CHUNK,
    "explorer.models.inside.stations:block_states": SINGLE,
    "explorer.models.inside.stations:embedding_stations": SINGLE,
    "explorer.models.inside.stations:layer_stations": SINGLE,
    "explorer.models.inside.reading:value_norms": INLINE,
    "explorer.models.inside.reading:cosines_with": INLINE,
    "explorer.models.scoring:row_logits": CHUNK,
    "explorer.analysis.distillation.student.run:distil_live": INLINE,
}
"""Every job there is, by its name, and how it runs; a place runs no other."""


HAS_LEFT: list[Callable[[], Callable[[], bool]]] = [lambda: lambda: False]
"""How to find out, later, whether whoever asks now has left; the page puts its own way here."""
PROGRAM_ADDRESS: list[Callable[[], str]] = [lambda: ""]
"""The address of the program that asks now; empty for a visitor of the page, who goes first."""


class UnknownJob(ValueError):
    """Something was to run beside the weights that is not on the list."""


def name_of(job: Callable[..., Any]) -> str:
    """A job's name on the list.

    Raises:
        NoJob: it is not there.
    """
    return _listed(f"{job.__module__}:{job.__qualname__}")


def job_named(name: str) -> Callable[..., Any]:
    """The job of a name on the list.

    Raises:
        NoJob: it is not there.
    """
    module, _, function = _listed(name).partition(":")
    return getattr(import_module(module), function)


def _listed(name: str) -> str:
    if name not in JOBS:
        raise UnknownJob(f"{name} may not run beside the weights.")
    return name


class Backend(Protocol):
    """Where the weights are."""

    def devices(self) -> tuple[str, ...]:
        """What the networks can run on: always ``cpu``, the fastest last."""

    def is_ready(self, where: NetworkKey) -> bool:
        """Whether a network can answer at once."""

    def load(self, where: NetworkKey, report: OnProgress | None) -> None:
        """Have a network ready, however long that takes.

        Raises:
            ModelUnavailable: it cannot be had, in one sentence.
        """

    def run(self, where: NetworkKey, text: str, report: OnProgress | None) -> "Future[Run]":
        """The run of a text, or why there is none; it may share its pass with other texts."""

    def call(self, where: NetworkKey, job: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """What a job of the list answers."""

    def stream(self, where: NetworkKey, job: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
        """What a job of the list tells one by one; closing the iterator ends it."""
