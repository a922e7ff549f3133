"""The only run cache: one forward pass per (model, text), shared by every tab and visitor."""

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from explorer.analysis.distillation.live import LiveReport, LiveSettings, Watched
from explorer.gate import wait_for_gate
from explorer.models.run import Run
from explorer.models.specs import ModelSpec, family_specs
from explorer.models.tokens import BadText, clean_text
from explorer.page_state import PageState
from explorer.timing.slot import SLOT
from explorer.timing.stop import Stopped
from explorer.together import Report, Together, Waiting

if TYPE_CHECKING:
    from explorer.models.heads.adapters import TunedModel
    from explorer.models.hub import ModelUnavailable
    from explorer.models.loading import LoadedModel

logger = logging.getLogger(__name__)
CACHE_BYTES = 512 * 2**20
Key = tuple[str, str, str, str]
Answer = TypeVar("Answer")


class RunCache:
    """Runs by (model, text, device, dtype), least recently used out first, bounded in bytes."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self._runs: OrderedDict[Key, Run] = OrderedDict()
        self._pending: dict[Key, Future[Run]] = {}
        self._lock = threading.Lock()

    def claim(self, key: Key) -> "tuple[Future[Run], bool]":
        """What will hold the run of a key, and whether the caller is the one to settle it."""
        with self._lock:
            if key in self._runs:
                self._runs.move_to_end(key)
                done: Future[Run] = Future()
                done.set_result(self._runs[key])
                return done, False
            mine = key not in self._pending
            return self._pending.setdefault(key, Future()), mine

    def settle(self, key: Key, found: Run | BaseException) -> None:
        """Hand a claimed run, or the reason why there is none, to all who wait for it."""
        with self._lock:
            future = self._pending.pop(key)
            if isinstance(found, BaseException):
                future.set_exception(found)
                return
            self._runs[key] = found
            while len(self._runs) > 1 and self.n_bytes > self.limit:
                self._runs.popitem(last=False)
        future.set_result(found)

    @property
    def n_bytes(self) -> int:
        """Bytes of all runs kept."""
        return sum(run.n_bytes for run in self._runs.values())

    def clear(self) -> None:
        """Forget every run."""
        with self._lock:
            self._runs.clear()


CACHE = RunCache()
TOGETHER = Together()


def _one_thread_each() -> None:
    import torch

    _THREAD.is_worker = True
    # Three workers share the cores; with torch's default threads a busy neighbour collapses all.
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // 3))


_THREAD = threading.local()
_TUNED: "WeakKeyDictionary[LoadedModel, dict[str, TunedModel]]" = WeakKeyDictionary()
_TUNING = threading.Lock()
_WORKERS = ThreadPoolExecutor(3, "model", initializer=_one_thread_each)
_LOADERS = ThreadPoolExecutor(6, "loader")


ASKER: list[Callable[[], Callable[[], bool]]] = [lambda: lambda: False]
"""How to find out, later, whether whoever asks now has left; the page puts its own way here."""


def in_workers(jobs: Sequence[Callable[[], Answer]]) -> list["Future[Answer]"]:
    """Start jobs on the model workers (one thread each), in the order given.

    Those of a visitor who has left by the time that a worker is free end as ``Stopped``.
    """
    left = ASKER[-1]()

    def wanted(job: Callable[[], Answer]) -> Answer:
        if left():
            raise Stopped("left")
        return job()

    return [_WORKERS.submit(wanted, job) for job in jobs]


def in_rounds(
    queues: Mapping[str, Iterable[Callable[[], Answer]]],
) -> Iterator[dict[str, Answer]]:
    """The jobs of several queues, one of each at a time: between rounds others have the workers."""
    waiting = {key: iter(jobs) for key, jobs in queues.items()}
    while waiting:
        asked = {key: job for key, jobs in waiting.items() if (job := next(jobs, None)) is not None}
        waiting = {key: waiting[key] for key in asked}
        if asked:
            answers = in_workers(list(asked.values()))
            yield {key: future.result() for key, future in zip(asked, answers, strict=True)}


def device_of(state: PageState) -> str:
    """The device a state runs on: ``auto`` resolved, an absent device replaced by the CPU."""
    from explorer.models.loading import resolve_device

    return resolve_device(state.device)


def devices() -> tuple[str, ...]:
    """The devices this machine has."""
    from explorer.models.loading import available_devices

    return available_devices()


def default_family() -> str:
    """``base`` when its three checkpoints are in the hub's cache, else the bundled ``mini``."""
    from explorer.models.hub import cached_path

    return "base" if all(cached_path(spec) for spec in family_specs("base")) else "mini"


def warm_up(state: PageState) -> threading.Thread:
    """Import torch, load the family and run the opening text, behind the page."""

    def warm() -> None:
        try:
            wait_for_gate()
            get_runs(state)
        except Exception:
            # The page meets the same failure on its first Compare and says it to the reader.
            logger.exception("warm-up failed")

    thread = threading.Thread(target=warm, daemon=True, name="warm-up")
    thread.start()
    return thread


def get_loaded(spec: ModelSpec, state: PageState, report: Report | None = None) -> "LoadedModel":
    """The network of a spec on the state's device and dtype.

    Raises:
        ModelUnavailable: it cannot be had, in one sentence.
    """
    from explorer.models.loading import load_model

    return load_model(spec, device_of(state), state.dtype, report)


def get_tuned(spec: ModelSpec, state: PageState, task: str) -> "TunedModel":
    """The network of a spec with its adapter for a task, made once for each loaded network.

    Raises:
        NotTuned: there is no adapter that fits. ModelUnavailable: no weights, in one sentence.
    """
    from explorer.models.heads.adapters import tuned_model

    loaded = get_loaded(spec, state)
    with _TUNING:
        made = _TUNED.setdefault(loaded, {})
        if task not in made:
            made[task] = tuned_model(loaded, task)
        return made[task]


def live_lesson(
    teacher: "LoadedModel", settings: LiveSettings, watched: Watched, check: Callable[[], object]
) -> Iterator[LiveReport]:
    """A fresh student that learns from a copy of the teacher until ``check`` raises."""
    from explorer.training.live.run import distil_live

    return distil_live(teacher, settings, watched, check)


def get_run(spec: ModelSpec, state: PageState, report: Report | None = None) -> Run:
    """The run of one model over the state's text, from the cache or computed on a worker.

    Raises:
        ModelUnavailable: the weights cannot be had. BadText: the text cannot be run.
    """
    return start_run(spec, state, report).result()


def start_run(spec: ModelSpec, state: PageState, report: Report | None = None) -> "Future[Run]":
    """A run already there costs no worker; a worker that needs one computes it itself."""
    text, device = clean_text(state.text), device_of(state)
    network, key = (spec.name, device, state.dtype), (spec.name, text, device, state.dtype)
    future, mine = CACHE.claim(key)
    if getattr(_THREAD, "is_worker", False):
        if mine or TOGETHER.withdraw(network, text):
            _serve([Waiting(text, report)], spec, state)
    elif mine:
        TOGETHER.add(network, Waiting(text, report))
        _WORKERS.submit(lambda: _serve(TOGETHER.take(network), spec, state))
    return future


def _serve(waiting: list[Waiting], spec: ModelSpec, state: PageState) -> None:
    """Run the texts that share a pass; each gets its own run, or the reason why it has none."""
    found: dict[str, Run | BaseException] = {}
    try:
        if waiting:  # else another's pass has taken them along
            _run_all(waiting, spec, state, found)
    except BaseException as error:
        found |= {one.text: error for one in waiting if one.text not in found}
    for text, one in found.items():
        CACHE.settle((spec.name, text, device_of(state), state.dtype), one)


def _run_all(
    waiting: list[Waiting], spec: ModelSpec, state: PageState, found: dict[str, Run | BaseException]
) -> None:
    """The runs of texts that share a pass, and the reasons why some cannot be read."""
    from explorer.models.forward import run_together, tokenize

    reports = [one.report for one in waiting if one.report]
    loaded = get_loaded(spec, state, reports[0] if reports else None)
    tokens = {}
    for one in waiting:
        try:
            tokens[one.text] = tokenize(loaded, one.text)
        except BadText as error:
            found[one.text] = error
    if SLOT.is_measuring:
        for report in reports:
            report("A measurement has the machine for some seconds; your text is next", 0.0)
    with SLOT.infer():
        found |= zip(tokens, run_together(loaded, list(tokens.values())), strict=True)


def _load_all(
    specs: tuple[ModelSpec, ...], state: PageState, report: Report | None
) -> "dict[str, ModelUnavailable]":
    """Load what is not loaded yet, outside the workers, and say what cannot be had.

    A download takes minutes: on a worker it would keep everybody's other texts waiting.
    """
    from explorer.models.hub import ModelUnavailable
    from explorer.models.loading import is_loaded

    device, missing = device_of(state), {}
    absent = [spec for spec in specs if not is_loaded(spec, device, state.dtype)]
    futures = [_LOADERS.submit(get_loaded, spec, state, report) for spec in absent]
    for spec, future in zip(absent, futures, strict=True):
        try:
            future.result()
        except ModelUnavailable as error:
            missing[spec.key] = error
    return missing


def get_runs(
    state: PageState, report: Report | None = None
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
