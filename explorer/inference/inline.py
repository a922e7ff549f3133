"""Backend that loads and runs every network in the caller's thread: for notebooks and shells."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import nullcontext
from typing import Any

from explorer.inference.backend import JOBS, OnProgress, job_named
from explorer.inference.local import leased
from explorer.models.run import Run
from explorer.models.specs import NetworkKey


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
