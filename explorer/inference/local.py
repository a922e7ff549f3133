"""Backends with the weights in this process: run by three workers, or in the caller's thread."""

import os
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from explorer.context import context
from explorer.inference.backend import (
    JOBS,
    JobPolicy,
    OnProgress,
    job_named,
)
from explorer.inference.worker_queues import (
    VISITOR,
    Batcher,
    BatchKey,
    PendingText,
    PriorityQueues,
    Work,
    priority_of,
)
from explorer.models.run import Run
from explorer.models.specs import NetworkKey
from explorer.models.task_heads.windows import yielding_with
from explorer.models.tokens import BadText
from explorer.scheduling.budget import BudgetMeter
from explorer.scheduling.cancel import Cancelled
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel

THREADS_PER_PASS = max(1, (os.cpu_count() or 1) // 3)
"""Threads of one forward pass."""


def _lock_for(name: str) -> AbstractContextManager[None]:
    locks = {"infer": MEASUREMENT_LOCK.infer, "measure": MEASUREMENT_LOCK.measure}
    return locks.get(name, nullcontext)()


def _limit_threads() -> None:
    import torch

    # Three workers share the cores: with torch's default threads they would slow each other down.
    torch.set_num_threads(THREADS_PER_PASS)


def _run_for_visitor(work: Work) -> None:
    """Run a visitor's single pass; until it is done a measurement lets visitors go first."""
    try:
        work()
    finally:
        MEASUREMENT_LOCK.visitor_done()


@contextmanager
def _reserved_memory(key: NetworkKey, tokens: int = 512, texts: int = 1) -> Iterator[None]:
    """Reserve the memory of a forward pass; unload the network when the device runs out of it."""
    import torch

    from explorer.models.loading import reserve_pass

    try:
        with reserve_pass(key.spec, key.dtype, tokens, texts):
            yield
    except torch.OutOfMemoryError:
        from explorer.models.loading import forget_model

        forget_model(*key)
        raise


def leased(
    key: NetworkKey, report: OnProgress | None = None
) -> AbstractContextManager["LoadedModel"]:
    """Lease a network of this process, loaded once and kept in memory until the lease ends.

    Raises:
        ModelUnavailable: the network cannot be loaded; the message is one sentence.
    """
    from explorer.models import loading

    return loading.leased(*key, report)


class LocalBackend:
    """Backend with the networks in this process; workers run the forward passes by priority."""

    def __init__(
        self, n_workers: int = 3, has_left: Callable[[], Callable[[], bool]] | None = None
    ) -> None:
        """Start no thread yet.

        Args:
            n_workers: Threads that run forward passes.
            has_left: As in the context, which is used where there is none.
        """
        self._own_has_left = has_left
        self._workers = ThreadPoolExecutor(n_workers, "model", initializer=_limit_threads)
        self._queues = PriorityQueues()
        self._batcher = Batcher()

    def devices(self) -> tuple[str, ...]:
        """Return the devices of this machine."""
        from explorer.models.devices import available_devices

        return available_devices()

    def is_ready(self, key: NetworkKey) -> bool:
        """Return whether the network is in memory."""
        from explorer.models.loading import is_loaded

        return is_loaded(*key)

    def load(self, key: NetworkKey, report: OnProgress | None) -> None:
        """Load the network from disk or from the hub, unless it is in memory."""
        with leased(key, report):
            pass

    def run(self, key: NetworkKey, text: str, report: OnProgress | None) -> "Future[Run]":
        """Return a future of the run; texts of similar length that wait together share a batch.

        The caller's thread loads the network, because loading would block a worker for seconds.
        """
        try:
            with ExitStack() as stack:
                network = stack.enter_context(leased(key, report))
                pending = PendingText(text, network, report, stack.pop_all())
        except BaseException as error:
            failed: Future[Run] = Future()
            failed.set_exception(error)
            return failed
        priority = priority_of(context().program_address(), is_long=False)
        self._batcher.add((key, priority), pending)
        self._submit(priority, lambda: self._run_batch((key, priority)))
        return pending.run

    def _submit(self, priority: int, work: Work) -> None:
        if priority == VISITOR:
            MEASUREMENT_LOCK.visitor_waits()
            self._queues.add(priority, lambda: _run_for_visitor(work))
        else:
            self._queues.add(priority, work)
        self._workers.submit(self._run_next)

    def _run_next(self) -> None:
        if work := self._queues.next():
            work()

    def _yield_to_others(
        self, priority: int, meter: BudgetMeter, has_left: Callable[[], bool]
    ) -> None:
        """Let single passes and measurements go first, between two passes of long work.

        Raises:
            Cancelled: the client that asked for the long work has left.
        """
        if has_left():
            raise Cancelled("left")
        meter.charge()
        with MEASUREMENT_LOCK.released():
            for work in self._queues.before(priority):
                work()
        meter.begin()

    def _run_batch(self, key: BatchKey) -> None:
        """Run the next batch of texts and settle the future of each with its run or its error.

        The leases are closed before the futures are settled, so that no reader finds one open.
        """
        batch = self._batcher.take(key)
        if not batch:
            return  # an earlier batch has taken these texts along
        results: dict[PendingText, Run | BaseException] = {}
        try:
            with ExitStack() as leases:
                for pending in batch:
                    leases.callback(pending.lease.close)
                _run_texts(batch, key[0], results)
        except BaseException as error:
            for pending in batch:
                results.setdefault(pending, error)
        for pending in batch:
            settle(pending.run, results[pending])

    def call(self, key: NetworkKey, job: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """Run a job on a worker or in the caller's thread, as its policy says; return its result.

        Raises:
            Cancelled: the client has left before a worker was free.
        """
        policy, function = JOBS[job], job_named(job)
        # Loaded in the caller's thread: a download on a worker would block everybody's texts.
        with leased(key) if policy.takes_network else nullcontext(key) as first:
            return self._run_job(policy, function, (first, *arguments), key)

    def _run_job(
        self,
        policy: JobPolicy,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        key: NetworkKey,
    ) -> Any:  # noqa: ANN401
        """Return the job's result; the caller holds the lease on the network meanwhile."""
        program = context().program_address()
        meter = BudgetMeter(program, THREADS_PER_PASS)
        has_left, future = (self._own_has_left or context().has_left)(), Future[Any]()
        if policy.is_long:
            # In the caller's thread: a worker that stands back would keep visitors waiting.
            MEASUREMENT_LOCK.stand_back()
        if not policy.on_worker:
            if policy.is_long and has_left():
                raise Cancelled("left")
            with (
                MEASUREMENT_LOCK.visitor_pass(not program and not policy.is_long),
                _lock_for(policy.lock),
                meter.running(),
                nullcontext() if policy.lock == "none" else _reserved_memory(key),
            ):
                return function(*arguments)
        priority = priority_of(program, policy.is_long)
        let_others = partial(self._yield_to_others, priority, meter, has_left)

        def work() -> None:
            try:
                if has_left():
                    raise Cancelled("left")
                with (
                    _lock_for(policy.lock),
                    yielding_with(let_others),
                    meter.running(),
                    _reserved_memory(key),
                ):
                    result = function(*arguments)
                future.set_result(result)
            except BaseException as error:
                future.set_exception(error)

        self._submit(priority, work)
        return future.result()

    def stream(
        self, key: NetworkKey, job: str, arguments: tuple[Any, ...]
    ) -> Generator[Any, None, None]:
        """Yield a job's results, computed in the caller's thread.

        The measurement lock is released between two results, so that a measurement may run.
        """
        end = object()
        with leased(key) as network, closing(job_named(job)(network, *arguments)) as results:
            while True:
                with MEASUREMENT_LOCK.infer():
                    result = next(results, end)
                if result is end:
                    return
                yield result


def settle(future: "Future[Run]", outcome: Run | BaseException) -> None:
    """Set the result or the exception of a future."""
    if isinstance(outcome, BaseException):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _run_texts(
    batch: list[PendingText], key: NetworkKey, results: dict[PendingText, Run | BaseException]
) -> None:
    """Put the run of each text of a batch into ``results``, or the error of a bad text."""
    from explorer.models.forward import run_together, tokenize

    reports = [pending.report for pending in batch if pending.report]
    network, tokens = batch[0].network, {}
    for pending in batch:
        try:
            tokens[pending] = tokenize(network, pending.text)
        except BadText as error:
            results[pending] = error
    if MEASUREMENT_LOCK.is_measuring:
        for report in reports:
            report("A measurement has the machine for some seconds; your text is next", 0.0)
    longest = max((len(each.ids) for each in tokens.values()), default=0)
    with MEASUREMENT_LOCK.infer(), _reserved_memory(key, longest, len(tokens)):
        runs = run_together(network, list(tokens.values()))
    results.update(zip(tokens, runs, strict=True))


class InlineBackend:
    """Backend with the networks of this process and without a thread or a queue of its own."""

    def devices(self) -> tuple[str, ...]:
        """Return the devices of this machine."""
        from explorer.models.devices import available_devices

        return available_devices()

    def is_ready(self, where: NetworkKey) -> bool:
        """Return whether the network is in memory."""
        from explorer.models.loading import is_loaded

        return is_loaded(*where)

    def load(self, where: NetworkKey, report: OnProgress | None) -> None:
        """Load the network from disk or from the hub, unless it is in memory."""
        with leased(where, report):
            pass

    def run(self, where: NetworkKey, text: str, report: OnProgress | None) -> "Future[Run]":
        """Return a settled future of the run."""
        from explorer.models.forward import run_model, tokenize

        future: Future[Run] = Future()
        try:
            with leased(where, report) as network:
                future.set_result(run_model(network, tokenize(network, text)))
        except BaseException as error:
            future.set_exception(error)
        return future

    def call(self, where: NetworkKey, job: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """Return the result of a job of ``JOBS``."""
        with leased(where) if JOBS[job].takes_network else nullcontext(where) as first:
            return job_named(job)(first, *arguments)

    def stream(self, where: NetworkKey, job: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
        """Yield the results of a job of ``JOBS`` one by one."""
        with leased(where) as network:
            yield from job_named(job)(network, *arguments)
