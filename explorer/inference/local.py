"""This process as the place of the weights: three workers that share its cores."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from explorer.inference.backend import (
    HAS_LEFT,
    JOBS,
    PROGRAM_ADDRESS,
    JobPolicy,
    OnProgress,
    job_named,
)
from explorer.inference.cache import Batcher, BatchKey, PendingText
from explorer.inference.scheduling.budget import BudgetMeter
from explorer.inference.scheduling.cancel import Cancelled
from explorer.inference.scheduling.measurement_lock import MEASUREMENT_LOCK
from explorer.inference.scheduling.priority_queues import VISITOR, PriorityQueues, Work, priority_of
from explorer.models.run import Run
from explorer.models.specs import NetworkKey
from explorer.models.task_heads.windows import yielding_with
from explorer.models.tokens import BadText

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel


WIDTH = max(1, (os.cpu_count() or 1) // 3)
"""Threads of one pass."""


def _lock_for(what: str) -> AbstractContextManager[None]:
    """What a job holds of the machine."""
    kinds = {"infer": MEASUREMENT_LOCK.infer, "measure": MEASUREMENT_LOCK.measure}
    return kinds.get(what, nullcontext)()


def _one_thread_each() -> None:
    import torch

    # Three workers share the cores; with torch's default threads a busy neighbour collapses all.
    torch.set_num_threads(WIDTH)


def _for_visitor(work: Work) -> None:
    """A visitor's single pass, for which a measurement gives way."""
    try:
        work()
    finally:
        MEASUREMENT_LOCK.visitor_done()


@contextmanager
def _running(where: NetworkKey, tokens: int = 512, texts: int = 1) -> Iterator[None]:
    """What a pass takes is counted; an accelerator that is full is given back what it has there."""
    import torch

    from explorer.models.loading import passing

    try:
        with passing(where.spec, where.dtype, tokens, texts):
            yield
    except torch.OutOfMemoryError:
        from explorer.models.loading import forget_model

        forget_model(*where)
        raise


def leased(
    where: NetworkKey, report: OnProgress | None = None
) -> AbstractContextManager["LoadedModel"]:
    """Use a network of this process, loaded once; until the end it is kept.

    Raises:
        ModelUnavailable: it cannot be had, in one sentence.
    """
    from explorer.models import loading

    return loading.leased(*where, report)


class LocalBackend:
    """Networks in this process; each pass takes its turn on a worker."""

    def __init__(self, n_workers: int = 3) -> None:
        self._workers = ThreadPoolExecutor(n_workers, "model", initializer=_one_thread_each)
        self._lanes = PriorityQueues()
        self._together = Batcher()

    def devices(self) -> tuple[str, ...]:
        """The devices of this machine."""
        from explorer.models.devices import available_devices

        return available_devices()

    def is_ready(self, where: NetworkKey) -> bool:
        """Whether the network is in memory."""
        from explorer.models.loading import is_loaded

        return is_loaded(*where)

    def load(self, where: NetworkKey, report: OnProgress | None) -> None:
        """Read the network from disk or from the hub, unless it is here."""
        with leased(where, report):
            pass

    def run(self, where: NetworkKey, text: str, report: OnProgress | None) -> "Future[Run]":
        """Texts of like length that come while the workers are busy share the next pass.

        Loaded by the caller, as in ``near``: what left meanwhile would keep a worker for seconds.
        """
        try:
            with ExitStack() as held:
                network = held.enter_context(leased(where, report))
                waiting = PendingText(text, network, report, held.pop_all())
        except BaseException as error:
            failed: Future[Run] = Future()
            failed.set_exception(error)
            return failed
        lane = priority_of(PROGRAM_ADDRESS[-1](), is_long=False)
        self._together.add((where, lane), waiting)
        self._begin(lane, lambda: self._serve((where, lane)))
        return waiting.run

    def _begin(self, lane: int, work: Work) -> None:
        if lane == VISITOR:
            MEASUREMENT_LOCK.visitor_waits()
            self._lanes.add(lane, lambda: _for_visitor(work))
        else:
            self._lanes.add(lane, work)
        self._workers.submit(self._do_next)

    def _do_next(self) -> None:
        """One pass in many of somebody's long work waits while there is anything else to do."""
        if work := self._lanes.next():
            work()

    def _yield_to_others(self, lane: int, meter: BudgetMeter, left: Callable[[], bool]) -> None:
        """Between two passes of long work: who waits for a single pass, or measures, goes first.

        Raises:
            Stopped: whoever asked for the long work has left.
        """
        if left():
            raise Cancelled("left")
        meter.charge()
        with MEASUREMENT_LOCK.released():
            for work in self._lanes.before(lane):
                work()
        meter.begin()

    def _serve(self, network: BatchKey) -> None:
        """Run the texts that share a pass; each gets its own run, or the reason why it has none.

        Whoever reads the answer finds the lease given back already.
        """
        served = self._together.take(network)
        if not served:
            return  # another's pass has taken them along
        found: dict[PendingText, Run | BaseException] = {}
        try:
            with ExitStack() as held:
                for one in served:
                    held.callback(one.held.close)
                _run_all(served, network[0], found)
        except BaseException as error:
            for one in served:
                found.setdefault(one, error)
        for one in served:
            settle(one.run, found[one])

    def call(self, where: NetworkKey, job: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """The job on a worker or in the caller's thread, as the list says.

        Raises:
            Stopped: whoever asked has left before a worker was free.
        """
        way, do = JOBS[job], job_named(job)
        # Loaded by the caller: a download on a worker would keep everybody's texts waiting.
        with leased(where) if way.given_network else nullcontext(where) as first:
            return self._do(way, do, (first, *arguments), where)

    def _do(
        self, way: JobPolicy, do: Callable[..., Any], arguments: tuple[Any, ...], where: NetworkKey
    ) -> Any:  # noqa: ANN401
        """The job's answer, while whoever calls holds the lease on its network."""
        program = PROGRAM_ADDRESS[-1]()
        meter = BudgetMeter(program, WIDTH)
        if not way.on_worker:
            with (
                MEASUREMENT_LOCK.visitor_pass(not program),
                _lock_for(way.slot),
                meter.running(),
                nullcontext() if way.slot == "none" else _running(where),
            ):
                return do(*arguments)
        left, answer, lane = HAS_LEFT[-1](), Future[Any](), priority_of(program, way.one_of_many)
        let_others = partial(self._yield_to_others, lane, meter, left)

        def work() -> None:
            try:
                if left():
                    raise Cancelled("left")
                with (
                    _lock_for(way.slot),
                    yielding_with(let_others),
                    meter.running(),
                    _running(where),
                ):
                    found = do(*arguments)
                answer.set_result(found)
            except BaseException as error:
                answer.set_exception(error)

        self._begin(lane, work)
        return answer.result()

    def stream(self, where: NetworkKey, job: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
        """In the caller's thread; between two of its words a measurement may have its turn."""
        end = object()
        with leased(where) as network, closing(job_named(job)(network, *arguments)) as told:
            while True:
                with MEASUREMENT_LOCK.infer():
                    word = next(told, end)
                if word is end:
                    return
                yield word


def settle(future: "Future[Run]", found: Run | BaseException) -> None:
    """Answer whoever waits, by a run or by what kept it from being made."""
    if isinstance(found, BaseException):
        future.set_exception(found)
    else:
        future.set_result(found)


def _run_all(
    served: list[PendingText], where: NetworkKey, found: dict[PendingText, Run | BaseException]
) -> None:
    """Put the runs of texts that share a pass into ``found``, or why one cannot be read."""
    from explorer.models.forward import run_together, tokenize

    reports = [one.report for one in served if one.report]
    network, tokens = served[0].network, {}
    for one in served:
        try:
            tokens[one] = tokenize(network, one.text)
        except BadText as error:
            found[one] = error
    if MEASUREMENT_LOCK.is_measuring:
        for report in reports:
            report("A measurement has the machine for some seconds; your text is next", 0.0)
    longest = max((len(one.ids) for one in tokens.values()), default=0)
    with MEASUREMENT_LOCK.infer(), _running(where, longest, len(tokens)):
        runs = run_together(network, list(tokens.values()))
    found.update(zip(tokens, runs, strict=True))
