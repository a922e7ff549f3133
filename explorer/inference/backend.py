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
from explorer.models.specs import Where

Report = Callable[[str, float], None]
"""Called with a plain sentence and the share done, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a job runs."""

    on_worker: bool = True
    """A pass of the network takes its turn on a worker; anything else runs where it is asked."""
    one_of_many: bool = False
    """Whether it is of long work, before and between whose passes everybody else's go."""
    given_network: bool = True
    """Else it is given where the network is, and loads what it needs itself."""
    slot: Literal["none", "infer", "measure"] = "infer"
    """What it holds of the machine: nothing, a share, or all of it, since it times something."""


PASS, PART = Way(), Way(one_of_many=True)
ASIDE, LIGHT = Way(on_worker=False), Way(on_worker=False, slot="none")
CHECK = Way(on_worker=False, given_network=False)
TIMED = Way(on_worker=False, given_network=False, slot="measure")
JOBS = {
    "explorer.analysis.claims.checks:checked": CHECK,
    "explorer.analysis.claims.checks:timed": TIMED,
    "explorer.analysis.depth.every_word:batch_places": PART,
    "explorer.analysis.depth.word_states:sentence_states": PART,
    "explorer.analysis.parameters.applied:loaded_layer_calls": ASIDE,
    "explorer.analysis.parameters.embedding:loaded_spectrum": ASIDE,
    "explorer.analysis.predictions.every_word:loaded_plans": LIGHT,
    "explorer.analysis.tasks.sentiment:judged": PART,
    "explorer.analysis.tasks.spans:answered": PART,
    "explorer.models.forward:state_logits": PASS,
    "explorer.models.forward:tokenize": LIGHT,
    "explorer.models.task_heads.adapters:card_of": LIGHT,
    "explorer.models.task_heads.pair:has_pair_head": LIGHT,
    "explorer.models.task_heads.pair:pair_logits": PASS,
    "explorer.models.inside.ablation:ablated_logits": PART,
    "explorer.models.inside.contexts:context_logits": PART,
    "explorer.models.inside.contexts:context_ranks": PART,
    "explorer.models.inside.gradients:attention_gradients": PASS,
    "explorer.models.inside.neurons:queries_and_keys": PASS,
    "explorer.models.inside.patching:patched_logits": PART,
    "explorer.models.inside.repeats:unrolled_states": PART,
    "explorer.models.inside.stations:block_states": PASS,
    "explorer.models.inside.stations:embedding_stations": PASS,
    "explorer.models.inside.stations:layer_stations": PASS,
    "explorer.models.inside.values:value_norms": ASIDE,
    "explorer.models.inside.lineage:cosines_with": ASIDE,
    "explorer.models.scoring:row_logits": PART,
    "explorer.analysis.distillation.student.run:distil_live": ASIDE,
}
"""Every job there is, by its name, and how it runs; a place runs no other."""


ASKER: list[Callable[[], Callable[[], bool]]] = [lambda: lambda: False]
"""How to find out, later, whether whoever asks now has left; the page puts its own way here."""
PROGRAM: list[Callable[[], str]] = [lambda: ""]
"""The address of the program that asks now; empty for a visitor of the page, who goes first."""


class NoJob(ValueError):
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
        raise NoJob(f"{name} may not run beside the weights.")
    return name


class Place(Protocol):
    """Where the weights are."""

    def devices(self) -> tuple[str, ...]:
        """What the networks can run on: always ``cpu``, the fastest last."""

    def is_ready(self, where: Where) -> bool:
        """Whether a network can answer at once."""

    def load(self, where: Where, report: Report | None) -> None:
        """Have a network ready, however long that takes.

        Raises:
            ModelUnavailable: it cannot be had, in one sentence.
        """

    def run(self, where: Where, text: str, report: Report | None) -> "Future[Run]":
        """The run of a text, or why there is none; it may share its pass with other texts."""

    def near(self, where: Where, job: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """What a job of the list answers."""

    def stream(self, where: Where, job: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
        """What a job of the list tells one by one; closing the iterator ends it."""
