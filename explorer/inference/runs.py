"""Runs of texts, cached for all visitors, and jobs that run on the weights of the backend."""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, TypeVarTuple

from explorer.analysis.distillation.live import LiveReport, LiveSettings, WatchedSentence
from explorer.context import context
from explorer.inference.ask import Ask
from explorer.inference.backend import Backend, OnProgress, name_of
from explorer.inference.cache import CACHE, Key, memo
from explorer.inference.lazy_imports import wait_for_imports
from explorer.inference.local import InlineBackend, LocalBackend
from explorer.models.choice.family import family_specs
from explorer.models.run import Run
from explorer.models.specs import ModelSpec, NetworkKey
from explorer.models.tokens import clean_text
from explorer.refusal import Refusal, joined

if TYPE_CHECKING:
    from explorer.models.hub import ModelUnavailable

logger = logging.getLogger(__name__)
Answer = TypeVar("Answer")
Arguments = TypeVarTuple("Arguments")


_LOCAL, _INLINE = LocalBackend(), InlineBackend()
_LOADERS = ThreadPoolExecutor(6, "loader")
_CALLERS = ThreadPoolExecutor(48, "caller")
_is_inline: ContextVar[bool] = ContextVar("is_inline", default=False)
_noted: ContextVar[dict[str, Run] | None] = ContextVar("noted", default=None)


@contextmanager
def in_this_thread() -> Iterator[None]:
    """Load and run networks in the current thread inside this context: no pool, no queue."""
    token = _is_inline.set(True)
    try:
        yield
    finally:
        _is_inline.reset(token)


def backend() -> Backend:
    """Return the backend that holds the weights: the context's, else this process."""
    return _INLINE if _is_inline.get() else context().backend or _LOCAL


def gather(jobs: Sequence[Callable[[], Answer]]) -> list[Answer]:
    """Return the results of jobs that run in parallel threads; the first error is raised."""
    if _is_inline.get():
        return [job() for job in jobs]
    futures = [_CALLERS.submit(copy_context().run, job) for job in jobs]
    return [future.result() for future in futures]


def round_robin(
    queues: Mapping[str, Iterable[Callable[[], Answer]]],
) -> Iterator[dict[str, Answer]]:
    """Yield the results of several queues' jobs in rounds, each with one job of every queue.

    Between two rounds other requests get the workers.
    """
    waiting = {key: iter(jobs) for key, jobs in queues.items()}
    while waiting:
        batch = {key: job for key, jobs in waiting.items() if (job := next(jobs, None)) is not None}
        waiting = {key: waiting[key] for key in batch}
        if batch:
            yield dict(zip(batch, gather(list(batch.values())), strict=True))


def call_on_model(
    job: Callable[[Any, *Arguments], Answer],
    spec: ModelSpec,
    ask: Ask,
    *arguments: *Arguments,
) -> Answer:
    """Return the result of a job on the network of a spec, on its device and dtype.

    The job is listed in ``explorer.inference.backend.JOBS``; its first argument is the network,
    which stays with the backend.

    Raises:
        ModelUnavailable: the weights cannot be loaded.
        UnknownJob: the job is not listed.
    """
    return backend().call(network_key(spec, ask), name_of(job), arguments)


def answer_of_model(
    job: Callable[[Any, *Arguments], Answer],
    spec: ModelSpec,
    ask: Ask,
    *question: *Arguments,
) -> Answer:
    """Return ``call_on_model`` of a question to a model with a task head, cached with the runs."""
    where = (spec.name, spec.key, spec.label, spec.task_head, ask.device, ask.dtype)
    key = ("answer", name_of(job), where, question)
    return memo(key, lambda: call_on_model(job, spec, ask, *question))


def stream_from_model(
    job: Callable[[Any, *Arguments], Iterator[Answer]],
    spec: ModelSpec,
    ask: Ask,
    *arguments: *Arguments,
) -> Iterator[Answer]:
    """Yield the results of a job on the network of a spec; closing the iterator ends the job.

    Raises:
        ModelUnavailable: the weights cannot be loaded.
        UnknownJob: the job is not listed.
    """
    return backend().stream(network_key(spec, ask), name_of(job), arguments)


def stream_live_distillation(
    teacher: ModelSpec, ask: Ask, settings: LiveSettings, sentence: WatchedSentence
) -> Iterator[LiveReport | None]:
    """Yield reports of a new student that learns from a copy of the teacher.

    None follows each step without a report.
    """
    from explorer.analysis.distillation.student import distil_live

    return stream_from_model(distil_live, teacher, ask, settings, sentence)


def network_key(spec: ModelSpec, ask: Ask) -> NetworkKey:
    """Return the key of the network of a spec on the device and in the dtype."""
    return NetworkKey(spec, device_of(ask), ask.dtype)


def device_of(ask: Ask) -> str:
    """Return the device that runs are on: for ``auto`` the fastest, for an absent one the CPU."""
    known = devices()
    return known[-1] if ask.device == "auto" else ask.device if ask.device in known else "cpu"


def devices() -> tuple[str, ...]:
    """Return the devices that the networks can run on."""
    return backend().devices()


def default_family() -> str:
    """Return ``base`` if its three checkpoints are in the hub's cache, else ``mini``."""
    from explorer.models.hub import cached_path

    return "base" if all(cached_path(spec) for spec in family_specs("base")) else "mini"


def warm_up(ask: Ask) -> threading.Thread:
    """Import torch, load the family and run the opening text in a background thread."""

    def warm() -> None:
        try:
            wait_for_imports()
            if ask.device not in ("auto", *devices()):
                logger.warning("There is no %s here: it runs on %s.", ask.device, device_of(ask))
            get_runs(ask)
        except Exception:
            # The page meets the same failure at its first Compare and reports it to the reader.
            logger.exception("warm-up failed")

    thread = threading.Thread(target=warm, daemon=True, name="warm-up")
    thread.start()
    return thread


def get_run(spec: ModelSpec, ask: Ask, report: OnProgress | None = None) -> Run:
    """Return the run of one model over the text, from the cache or computed on a worker.

    Raises:
        ModelUnavailable: the weights cannot be loaded.
        BadText: the text cannot be run.
    """
    run = in_column(start_run(spec, ask, report).result(), spec)
    _note(run)
    return run


@contextmanager
def noted_runs() -> Iterator[None]:
    """Keep the first run of each model inside this context, for the notes on what was read."""
    token = _noted.set({})
    try:
        yield
    finally:
        _noted.reset(token)


def first_runs() -> tuple[Run, ...]:
    """Return the first run of each model in the context of ``noted_runs``; none outside one."""
    return tuple((_noted.get() or {}).values())


def _note(run: Run) -> None:
    noted = _noted.get()
    if noted is not None:
        noted.setdefault(run.spec.key, run)


def in_column(run: Run, spec: ModelSpec) -> Run:
    """Return a run as that of a model in its column: one network may serve several columns."""
    return run if run.spec == spec else replace(run, spec=spec)


def _key(spec: ModelSpec, ask: Ask) -> Key:
    network = network_key(spec, ask)
    return (spec.name, clean_text(ask.text), network.device, network.dtype)


def is_cheap_now(ask: Ask) -> bool:
    """Return whether a text's runs are cached, or can be computed now without delaying others."""
    specs = ask.specs.values()
    if all(_key(spec, ask) in CACHE for spec in specs):
        return True
    ready = all(backend().is_ready(network_key(spec, ask)) for spec in specs)
    return ready and not CACHE.is_waited_for


def start_run(spec: ModelSpec, ask: Ask, report: OnProgress | None = None) -> "Future[Run]":
    """Return a future of the run of one model; concurrent requests for a run share its pass.

    The run may name another column of the same network: see ``in_column``.
    """
    network, key = network_key(spec, ask), _key(spec, ask)
    future, is_first = CACHE.claim(key)
    if is_first:
        run = backend().run(network, key[1], report)
        run.add_done_callback(lambda done: CACHE.settle(key, done))
    return future


def _load_all(ask: Ask, report: OnProgress | None) -> "dict[str, ModelUnavailable]":
    """Load the networks and return the errors of those that cannot be loaded, by model key.

    Loading has its own threads, because a download of minutes would block the workers.
    """
    from explorer.models.hub import ModelUnavailable

    missing = {}
    absent = [spec for spec in ask.specs.values() if not backend().is_ready(network_key(spec, ask))]
    loads = [partial(backend().load, network_key(spec, ask), report) for spec in absent]
    waits: list[Callable[[], None]] = (
        list(loads) if _is_inline.get() else [_LOADERS.submit(load).result for load in loads]
    )
    for spec, wait in zip(absent, waits, strict=True):
        try:
            wait()
        except ModelUnavailable as error:
            missing[spec.key] = error
    return missing


class Runs(NamedTuple):
    """Runs of the models on one text, and the errors of the models that are unavailable."""

    found: dict[str, Run] = {}  # noqa: RUF012 - nobody changes it
    missing: "dict[str, ModelUnavailable]" = {}  # noqa: RUF012

    @property
    def with_mlm_head(self) -> "Runs":
        """The runs of the models that have an MLM head, and the reasons for all others."""
        from explorer.models.forward import NO_HEAD
        from explorer.models.hub import ModelUnavailable

        headless = {key: run.spec for key, run in self.found.items() if not run.spec.has_head}
        no_head = {key: ModelUnavailable(spec, NO_HEAD) for key, spec in headless.items()}
        runs = {key: run for key, run in self.found.items() if key not in no_head}
        return Runs(runs, self.missing | no_head)

    def of(self, key: str) -> Run:
        """Return the run of a column.

        Raises:
            ModelUnavailable: its model is unavailable.
        """
        if key in self.missing:
            raise self.missing[key]
        return self.found[key]


def runs_with_mlm_head(ask: Ask) -> Runs:
    """Return the runs of the models that have an MLM head, and the reasons for all others.

    Raises:
        BadText: a model cannot run the text.
    """
    return get_runs(ask).with_mlm_head


def refuse_none(found: Mapping[str, Any], missing: Mapping[str, Refusal]) -> None:
    """Raise a refusal with the reason for each model where none of them is there."""
    if not found:
        raise Refusal(joined(map(str, missing.values())))


def get_runs(ask: Ask, report: OnProgress | None = None) -> Runs:
    """Return the runs of a family by model key, and the errors of the unavailable models.

    Raises:
        BadText: a model cannot run the text.
    """
    from explorer.models.hub import ModelUnavailable

    missing = _load_all(ask, report)
    specs = [spec for spec in ask.specs.values() if spec.key not in missing]
    futures = [start_run(spec, ask, report) for spec in specs]
    runs: dict[str, Run] = {}
    for spec, future in zip(specs, futures, strict=True):
        try:
            runs[spec.key] = in_column(future.result(), spec)
        except ModelUnavailable as error:
            missing[spec.key] = error
    for run in runs.values():
        _note(run)
    return Runs(runs, missing)
