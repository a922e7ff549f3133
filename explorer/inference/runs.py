"""What the page asks of the networks: runs, kept for everybody, and jobs beside the weights."""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from explorer.analysis.distillation.live import LiveReport, LiveSettings, Watched
from explorer.inference.backend import Backend, OnProgress, name_of
from explorer.inference.cache import Key, RunCache
from explorer.inference.lazy_imports import wait_for_imports
from explorer.inference.local import LocalBackend
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.models.run import Run
from explorer.models.specs import ModelSpec, NetworkKey
from explorer.models.tokens import clean_text

if TYPE_CHECKING:
    from explorer.models.hub import ModelUnavailable

logger = logging.getLogger(__name__)
Answer = TypeVar("Answer")
Asked = TypeVarTuple("Asked")


CACHE = RunCache()
BACKEND: list[Backend] = [LocalBackend()]
"""Where the weights are: the last one counts."""
_LOADERS = ThreadPoolExecutor(6, "loader")
_ASKERS = ThreadPoolExecutor(48, "asker")


def gather(jobs: Sequence[Callable[[], Answer]]) -> list[Answer]:
    """The answers of jobs that wait for networks beside each other; one's failure is all's."""
    futures = [_ASKERS.submit(copy_context().run, job) for job in jobs]
    return [future.result() for future in futures]


def round_robin(
    queues: Mapping[str, Iterable[Callable[[], Answer]]],
) -> Iterator[dict[str, Answer]]:
    """The jobs of several queues, one of each at a time: between rounds others have the workers."""
    waiting = {key: iter(jobs) for key, jobs in queues.items()}
    while waiting:
        asked = {key: job for key, jobs in waiting.items() if (job := next(jobs, None)) is not None}
        waiting = {key: waiting[key] for key in asked}
        if asked:
            yield dict(zip(asked, gather(list(asked.values())), strict=True))


def call_on_model(
    job: Callable[[Any, *Asked], Answer],
    spec: ModelSpec,
    state: PageState,
    *arguments: *Asked,
) -> Answer:
    """What a job answers that runs beside the weights of a spec, on the state's device and dtype.

    The job is listed in ``explorer.inference.backend.JOBS``; its first argument is the network,
    which stays with the backend.

    Raises:
        ModelUnavailable: the weights cannot be had. NoJob: it is not on the list.
    """
    return BACKEND[-1].call(network_key(spec, state), name_of(job), arguments)


def stream_from_model(
    job: Callable[[Any, *Asked], Iterator[Answer]],
    spec: ModelSpec,
    state: PageState,
    *arguments: *Asked,
) -> Iterator[Answer]:
    """What a job tells one by one while it runs beside the weights; closing it ends the job.

    Raises:
        ModelUnavailable: the weights cannot be had. NoJob: it is not on the list.
    """
    return BACKEND[-1].stream(network_key(spec, state), name_of(job), arguments)


def live_lesson(
    teacher: ModelSpec, state: PageState, settings: LiveSettings, watched: Watched
) -> Iterator[LiveReport | None]:
    """A fresh student that learns from a copy of the teacher; None after a step without news."""
    from explorer.analysis.distillation.student.run import distil_live

    return stream_from_model(distil_live, teacher, state, settings, watched)


def network_key(spec: ModelSpec, state: PageState) -> NetworkKey:
    """The network of a spec on the state's device and dtype."""
    return NetworkKey(spec, device_of(state), state.dtype)


def device_of(state: PageState) -> str:
    """The device a state runs on: ``auto`` is the fastest, an absent device becomes the CPU."""
    here = devices()
    return here[-1] if state.device == "auto" else state.device if state.device in here else "cpu"


def devices() -> tuple[str, ...]:
    """The devices that the networks can run on."""
    return BACKEND[-1].devices()


def default_family() -> str:
    """``base`` when its three checkpoints are in the hub's cache, else the bundled ``mini``."""
    from explorer.models.hub import cached_path

    return "base" if all(cached_path(spec) for spec in family_specs("base")) else "mini"


def warm_up(state: PageState) -> threading.Thread:
    """Import torch, load the family and run the opening text, behind the page."""

    def warm() -> None:
        try:
            wait_for_imports()
            if state.device not in ("auto", *devices()):
                logger.warning(
                    "There is no %s here: it runs on %s.", state.device, device_of(state)
                )
            get_runs(state)
        except Exception:
            # The page meets the same failure on its first Compare and says it to the reader.
            logger.exception("warm-up failed")

    thread = threading.Thread(target=warm, daemon=True, name="warm-up")
    thread.start()
    return thread


def get_run(spec: ModelSpec, state: PageState, report: OnProgress | None = None) -> Run:
    """The run of one model over the state's text, from the cache or computed on a worker.

    Raises:
        ModelUnavailable: the weights cannot be had. BadText: the text cannot be run.
    """
    return start_run(spec, state, report).result()


def _key(spec: ModelSpec, state: PageState) -> Key:
    network = network_key(spec, state)
    return (spec.name, clean_text(state.text), network.device, network.dtype)


def costs_nobody(state: PageState) -> bool:
    """Whether a text's runs are there, or can be made now while nobody waits for another's."""
    specs = family_specs(state.family)
    if all(_key(spec, state) in CACHE for spec in specs):
        return True
    ready = all(BACKEND[-1].is_ready(network_key(spec, state)) for spec in specs)
    return ready and not CACHE.is_waited_for


def start_run(spec: ModelSpec, state: PageState, report: OnProgress | None = None) -> "Future[Run]":
    """The run of one model, there or under way; whoever asks first has it made for all."""
    network, key = network_key(spec, state), _key(spec, state)
    future, mine = CACHE.claim(key)
    if mine:
        made = BACKEND[-1].run(network, key[1], report)
        made.add_done_callback(lambda done: CACHE.settle(key, done))
    return future


def _load_all(
    specs: tuple[ModelSpec, ...], state: PageState, report: OnProgress | None
) -> "dict[str, ModelUnavailable]":
    """Have the networks ready, outside the workers, and say what cannot be had.

    A download takes minutes: on a worker it would keep everybody's other texts waiting.
    """
    from explorer.models.hub import ModelUnavailable

    missing = {}
    absent = [spec for spec in specs if not BACKEND[-1].is_ready(network_key(spec, state))]
    futures = [
        _LOADERS.submit(BACKEND[-1].load, network_key(spec, state), report) for spec in absent
    ]
    for spec, future in zip(absent, futures, strict=True):
        try:
            future.result()
        except ModelUnavailable as error:
            missing[spec.key] = error
    return missing


def runs_with_mlm_head(
    state: PageState,
) -> "tuple[dict[str, Run], dict[str, ModelUnavailable]]":
    """``get_runs`` of the models that predict words; why the others do not stands with them.

    Raises:
        BadText: the text cannot be run by any of them.
    """
    from explorer.models.forward import NO_HEAD
    from explorer.models.hub import ModelUnavailable

    runs, missing = get_runs(state)
    silent = {k: ModelUnavailable(r.spec, NO_HEAD) for k, r in runs.items() if not r.spec.has_head}
    return {k: run for k, run in runs.items() if k not in silent}, missing | silent


def get_runs(
    state: PageState, report: OnProgress | None = None
) -> "tuple[dict[str, Run], dict[str, ModelUnavailable]]":
    """The runs of a family by model key, and why the others are not available.

    Raises:
        BadText: the text cannot be run by any of them.
    """
    from explorer.models.hub import ModelUnavailable

    missing = _load_all(family_specs(state.family), state, report)
    specs = [spec for spec in family_specs(state.family) if spec.key not in missing]
    futures = [start_run(spec, state, report) for spec in specs]
    runs: dict[str, Run] = {}
    for spec, future in zip(specs, futures, strict=True):
        try:
            runs[spec.key] = future.result()
        except ModelUnavailable as error:
            missing[spec.key] = error
    return runs, missing
