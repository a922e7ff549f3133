"""The only run cache: one forward pass per (model, text), shared by every tab and visitor."""

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from explorer.analysis.distillation.live import LiveReport, LiveSettings, Watched
from explorer.gate import wait_for_gate
from explorer.models.run import Run
from explorer.models.specs import ModelSpec, family_specs
from explorer.models.tokens import clean_text
from explorer.page_state import PageState
from explorer.timing.slot import SLOT

if TYPE_CHECKING:
    from explorer.models.hub import ModelUnavailable
    from explorer.models.loading import LoadedModel

logger = logging.getLogger(__name__)
CACHE_BYTES = 512 * 2**20
Key = tuple[str, str, str, str]
Report = Callable[[str, float], None]
Answer = TypeVar("Answer")


class RunCache:
    """Runs by (model, text, device, dtype), least recently used out first, bounded in bytes."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self._runs: OrderedDict[Key, Run] = OrderedDict()
        self._pending: dict[Key, Future[Run]] = {}
        self._lock = threading.Lock()

    def get(self, key: Key, compute: Callable[[], Run]) -> Run:
        """The run of a key; concurrent callers of one key compute it once."""
        with self._lock:
            if key in self._runs:
                self._runs.move_to_end(key)
                return self._runs[key]
            future = self._pending.get(key)
            owner = future is None
            future = self._pending.setdefault(key, Future())
        if owner:
            self._fill(key, future, compute)
        return future.result()

    def peek(self, key: Key) -> Run | None:
        """The run of a key if it is kept, without waiting for anyone."""
        with self._lock:
            return self._runs.get(key)

    def _fill(self, key: Key, future: "Future[Run]", compute: Callable[[], Run]) -> None:
        try:
            run = compute()
        except BaseException as error:
            with self._lock:
                self._pending.pop(key)
            future.set_exception(error)
            return
        with self._lock:
            self._runs[key] = run
            self._pending.pop(key)
            while len(self._runs) > 1 and self.n_bytes > self.limit:
                self._runs.popitem(last=False)
        future.set_result(run)

    @property
    def n_bytes(self) -> int:
        """Bytes of all runs kept."""
        return sum(run.n_bytes for run in self._runs.values())

    def clear(self) -> None:
        """Forget every run."""
        with self._lock:
            self._runs.clear()


CACHE = RunCache()


def _one_thread_each() -> None:
    import torch

    _THREAD.is_worker = True
    # Three workers share the cores; with torch's default threads a busy neighbour collapses all.
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // 3))


_THREAD = threading.local()
_WORKERS = ThreadPoolExecutor(3, "model", initializer=_one_thread_each)
_LOADERS = ThreadPoolExecutor(6, "loader")


def in_workers(jobs: Sequence[Callable[[], Answer]]) -> list["Future[Answer]"]:
    """Start jobs on the model workers (one thread each), in the order given."""
    return [_WORKERS.submit(job) for job in jobs]


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


def live_lesson(
    teacher: "LoadedModel", settings: LiveSettings, watched: Watched
) -> Iterator[LiveReport]:
    """A fresh student that learns from a copy of the teacher, a few steps at a time."""
    from explorer.training.live.run import distil_live

    return distil_live(teacher, settings, watched)


def get_run(spec: ModelSpec, state: PageState, report: Report | None = None) -> Run:
    """The run of one model over the state's text, from the cache or computed on a worker.

    Raises:
        ModelUnavailable: the weights cannot be had. BadText: the text cannot be run.
    """
    return _start_run(spec, state, report).result()


def _start_run(spec: ModelSpec, state: PageState, report: Report | None) -> "Future[Run]":
    """A run already there costs no worker; a worker that needs one computes it itself."""
    text = clean_text(state.text)
    key = (spec.name, text, device_of(state), state.dtype)

    def compute() -> Run:
        from explorer.models.forward import run_model, tokenize

        loaded = get_loaded(spec, state, report)
        if report and SLOT.is_measuring:
            report("A measurement has the machine for some seconds; your text is next", 0.0)
        with SLOT.infer():
            return run_model(loaded, tokenize(loaded, text))

    if CACHE.peek(key) is None and not getattr(_THREAD, "is_worker", False):
        return _WORKERS.submit(CACHE.get, key, compute)
    done: Future[Run] = Future()
    try:
        done.set_result(CACHE.get(key, compute))
    except Exception as error:
        done.set_exception(error)
    return done


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
    futures = [_start_run(spec, state, report) for spec in specs]
    runs: dict[str, Run] = {}
    for spec, future in zip(specs, futures, strict=True):
        try:
            runs[spec.key] = future.result()
        except ModelUnavailable as error:
            missing[spec.key] = error
    return runs, missing
