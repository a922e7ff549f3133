"""Separate process for passes in another runtime or timed alone, which can be killed at any moment.

Compiling sets global flags under which other threads' passes would record the wrong hidden
states, and neither it nor a compiled pass can be cancelled from within. A process can be killed.
"""

import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from explorer.models.specs import ModelSpec
from explorer.timing.child_process import ChildProcess, ProcessGoneError
from explorer.timing.runtimes.table import Crash, NoRuntime, ScoreRequest
from explorer.timing.workload import Workload

logger = logging.getLogger(__name__)
CHILD = (sys.executable, "-m", "explorer.timing.runtimes.child")
TORCH_BYTES = 400_000_000
"""Memory of a process with torch and transformers, before any weights."""
Check = Callable[[], None]


class CrashedError(Exception):
    """Error raised in a runtime's own process, which has been logged."""


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """Request to a process: build the pass of a model in a runtime."""

    runtime: str
    """One of ``RUNTIMES``, or the name of a variant that torch itself runs: a dtype, int8."""
    spec: ModelSpec
    workload: Workload
    checkpoint: Path | None
    """Checkpoint folder; None: random weights of the shape of the spec."""


class RuntimeProcess(ChildProcess):
    """Passes in a process of their own; it is killed at the end of the ``with`` block."""

    def __init__(self, request: BuildRequest, *others: BuildRequest) -> None:
        super().__init__(CHILD, "runtime")
        self.request = request
        self._n_asked = self._n_answered = 0
        self._ask((request, *others))

    def wait_until_built(self, check: Check) -> Mapping[str, int | None]:
        """Wait tens of seconds for the passes to be built; return the memory held, by variant.

        In bytes; None where the system does not report it. ``check`` is called meanwhile.

        Raises:
            NoRuntime: the runtime is not available. Cancelled: cancelled.
        """
        return cast(Mapping[str, int | None], self._answer(check))

    def seconds(self, workload: Workload, check: Check, place: int = 0) -> float:
        """Run one of the passes and return its time there in seconds, on its clock.

        The workload may have another batch size or length than the request, where the runtime
        takes one.

        Raises:
            NoRuntime: the process is gone. Cancelled: cancelled.
        """
        self._ask((place, workload))
        return cast(float, self._answer(check))

    def scores(self, request: ScoreRequest, check: Check, place: int = 0) -> np.ndarray:
        """Return last hidden states, or logits if the pass has the head, float32 [place, width].

        Raises:
            NoRuntime: the process is gone. Cancelled: cancelled.
        """
        self._ask((place, request))
        return cast(np.ndarray, self._answer(check))

    def _ask(self, request: object) -> None:
        self._n_asked += 1
        self._send(request)

    def _newest(self, check: Check) -> object:
        """Wait for the newest answer; ``NoRuntime`` once the process has ended and all are read.

        Skips the answers to earlier questions that a deadline cut off.
        """
        while True:
            try:
                answer = self._next(check)
            except ProcessGoneError:
                return NoRuntime("failed", "the process is gone")
            self._n_answered += 1
            if self._n_answered == self._n_asked or isinstance(answer, NoRuntime | Crash):
                return answer

    def _answer(self, check: Check) -> object:
        answer = self._newest(check)
        if isinstance(answer, NoRuntime):
            about = (self.request.runtime, self.request.spec.name, answer.detail)
            logger.warning("%s of %s: %s", *about)
            raise answer
        if isinstance(answer, Crash):
            about = (self.request.runtime, self.request.spec.name, answer.report)
            logger.error("%s of %s failed in its own process: %s", *about)
            raise CrashedError(f"{self.request.runtime} failed in its own process")
        return answer
