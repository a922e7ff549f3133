"""Interface of a backend, which holds the weights, and the list of jobs that it may run on them.

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
"""Progress callback: a sentence and the share done, 0 to 1."""


@dataclass(frozen=True, slots=True)
class JobPolicy:
    """Thread, priority, arguments and lock with which a job runs."""

    on_worker: bool = True
    """True: the job is queued for a worker. False: it runs in the caller's thread."""
    is_long: bool = False
    """True for a job of long work: other work may go before it and between its passes."""
    takes_network: bool = True
    """True: the first argument is the loaded network. False: its NetworkKey; the job loads it."""
    lock: Literal["none", "infer", "measure"] = "infer"
    """Hold on the measurement lock: none, shared for inference, or exclusive for timing."""


SINGLE, CHUNK = JobPolicy(), JobPolicy(is_long=True)
INLINE, LIGHT = JobPolicy(on_worker=False), JobPolicy(on_worker=False, lock="none")
TOKENIZING = JobPolicy(on_worker=False, is_long=True, lock="none")
CHECK = JobPolicy(on_worker=False, takes_network=False)
TIMED = JobPolicy(on_worker=False, takes_network=False, lock="measure")
JOBS = {
    "explorer.analysis.claims.checks:checked": CHECK,
    "explorer.analysis.claims.checks:timed": TIMED,
    "explorer.analysis.depth.lens:batch_places": CHUNK,
    "explorer.analysis.depth.lens:sentence_states": CHUNK,
    "explorer.analysis.depth.lens:states_together": CHUNK,
    "explorer.analysis.parameters.count:loaded_layer_calls": INLINE,
    "explorer.analysis.parameters.count:loaded_spectrum": INLINE,
    "explorer.analysis.predictions:loaded_plans": LIGHT,
    "explorer.analysis.tasks.entities:text_tags": SINGLE,
    "explorer.analysis.tasks.entities:word_attribution": CHUNK,
    "explorer.analysis.tasks.labels:text_labels": SINGLE,
    "explorer.analysis.tasks.labels:label_attribution": CHUNK,
    "explorer.analysis.tasks.tuned:tuned_sentiment": CHUNK,
    "explorer.analysis.tasks.tuned:tuned_answer": CHUNK,
    "explorer.models.forward:state_logits": SINGLE,
    "explorer.models.forward:tokenize": LIGHT,
    "explorer.models.task_heads.adapters:card_of": LIGHT,
    "explorer.models.task_heads.classifiers:has_pair_head": LIGHT,
    "explorer.models.task_heads.classifiers:pair_logits": SINGLE,
    "explorer.models.task_heads.classifiers:tag_logits": CHUNK,
    "explorer.models.task_heads.classifiers:tag_plans": TOKENIZING,
    "explorer.models.task_heads.classifiers:timed_logits": CHUNK,
    "explorer.models.inside.interventions:ablated_logits": CHUNK,
    "explorer.models.inside.interventions:context_logits": CHUNK,
    "explorer.models.inside.interventions:context_ranks": CHUNK,
    "explorer.models.inside.activations:attention_gradients": SINGLE,
    "explorer.models.inside.activations:queries_and_keys": SINGLE,
    "explorer.models.inside.interventions:patched_logits": CHUNK,
    "explorer.models.inside.interventions:unrolled_states": CHUNK,
    "explorer.models.inside.activations:block_states": SINGLE,
    "explorer.models.inside.activations:embedding_activations": SINGLE,
    "explorer.models.inside.activations:layer_activations": SINGLE,
    "explorer.models.inside.activations:value_norms": INLINE,
    "explorer.models.inside.activations:cosines_with": INLINE,
    "explorer.models.half:half_refused": LIGHT,
    "explorer.models.half:forget_half": LIGHT,
    "explorer.models.inside.changes:changes_from": INLINE,
    "explorer.models.forward:run_together": CHUNK,
    "explorer.models.forward:row_logits": CHUNK,
    "explorer.models.gradients:answer_slopes": CHUNK,
    "explorer.models.forward:encoded_texts": TOKENIZING,
    "explorer.models.forward:word_lengths": TOKENIZING,
    "explorer.models.forward:loaded_vocabulary": LIGHT,
    "explorer.models.read_at:mask_states": CHUNK,
    "explorer.models.read_at:masked_targets": CHUNK,
    "explorer.models.read_at:target_rows": CHUNK,
    "explorer.models.forward:encoder_bytes": LIGHT,
    "explorer.models.forward:timed_features": CHUNK,
    "explorer.models.read_at:vocabulary_rows": CHUNK,
    "explorer.lists.masked:masked_plans": TOKENIZING,
    "explorer.lists.sentences:row_plans": TOKENIZING,
    "explorer.analysis.distillation.student:distil_live": INLINE,
}
"""Every job by its name, with its policy; a backend runs no other."""


class UnknownJob(ValueError):
    """Error for a job that is not listed in ``JOBS``."""


def name_of(job: Callable[..., Any]) -> str:
    """Return the name of a job in ``JOBS``.

    Raises:
        UnknownJob: the job is not listed.
    """
    return _listed(f"{job.__module__}:{job.__qualname__}")


def job_named(name: str) -> Callable[..., Any]:
    """Return the job with a name in ``JOBS``.

    Raises:
        UnknownJob: the name is not listed.
    """
    module, _, function = _listed(name).partition(":")
    return getattr(import_module(module), function)


def _listed(name: str) -> str:
    if name not in JOBS:
        raise UnknownJob(f"{name} may not run beside the weights.")
    return name


class Backend(Protocol):
    """Holder of the weights, which runs texts and jobs on them."""

    def devices(self) -> tuple[str, ...]:
        """Return the devices that the networks can run on: always ``cpu``, the fastest last."""

    def is_ready(self, key: NetworkKey) -> bool:
        """Return whether a network is loaded."""

    def load(self, key: NetworkKey, report: OnProgress | None) -> None:
        """Load a network, however long that takes.

        Raises:
            ModelUnavailable: the network cannot be loaded; the message is one sentence.
        """

    def run(self, key: NetworkKey, text: str, report: OnProgress | None) -> "Future[Run]":
        """Return a future of the run of a text; the text may share its batch with others."""

    def call(self, key: NetworkKey, job: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """Return the result of a job of ``JOBS``."""

    def stream(self, key: NetworkKey, job: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
        """Yield the results of a job of ``JOBS`` one by one; closing the iterator ends the job."""
