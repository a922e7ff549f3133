"""Separate process for passes in another runtime or timed alone, which can be killed at any moment.

Compiling sets global flags under which other threads' passes would record the wrong hidden
states, and neither it nor a compiled pass can be cancelled from within. A process can be killed.
"""

import logging
import os
import pickle
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from explorer.assets import CODE
from explorer.models.specs import ModelSpec
from explorer.timing.runtimes.table import Crash, NoRuntime, ScoreRequest
from explorer.timing.workload import Workload

logger = logging.getLogger(__name__)
CHILD = (sys.executable, "-m", "explorer.timing.runtimes.child")
TORCH_BYTES = 400_000_000
"""Memory of a process with torch and transformers, before any weights."""
LOOK_EVERY_S = 0.05
GRACE_S = 0.1
"""Seconds for compilers to remove unfinished files after SIGTERM."""
REMOVE_TRIES = 50
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


class RuntimeProcess:
    """Passes in a process of their own; it is killed at the end of the ``with`` block."""

    def __init__(self, request: BuildRequest, *others: BuildRequest) -> None:
        self.request = request
        folder = tempfile.mkdtemp(prefix="explorer-runtime-")
        self._process = subprocess.Popen(
            [*CHILD, folder],
            cwd=CODE.parent,
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        # At interpreter exit at the latest: a process in its own session gets no Ctrl-C.
        self._finish = weakref.finalize(self, end_process, self._process, folder)
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._n_asked = self._n_answered = 0
        self._reader = threading.Thread(
            target=self._read, daemon=True, name=f"{request.runtime} answers"
        )
        self._reader.start()
        self._ask((request, *others))

    def __enter__(self) -> "RuntimeProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Kill the process and its compilers, and remove its scratch files."""
        self._finish()

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
        pipe = cast(IO[bytes], self._process.stdin)
        # A process that has ended may have said why before: ``_answer`` raises it.
        with suppress(BrokenPipeError):
            pickle.dump(request, pipe)
            pipe.flush()

    def _read(self) -> None:
        pipe = cast(IO[bytes], self._process.stdout)
        with suppress(EOFError, pickle.UnpicklingError):
            while True:
                self._answers.put(pickle.load(pipe))

    def _next(self, check: Check) -> object:
        """Wait for the newest answer; ``NoRuntime`` once the process has ended and all are read.

        Skips the answers to earlier questions that a deadline cut off.
        """
        while True:
            has_ended = not self._reader.is_alive()
            try:
                answer = self._answers.get(timeout=LOOK_EVERY_S)
            except queue.Empty:
                if has_ended:
                    return NoRuntime("failed", "the process is gone")
                check()
                continue
            self._n_answered += 1
            if self._n_answered == self._n_asked or isinstance(answer, NoRuntime | Crash):
                return answer

    def _answer(self, check: Check) -> object:
        answer = self._next(check)
        if isinstance(answer, NoRuntime):
            about = (self.request.runtime, self.request.spec.name, answer.detail)
            logger.warning("%s of %s: %s", *about)
            raise answer
        if isinstance(answer, Crash):
            about = (self.request.runtime, self.request.spec.name, answer.report)
            logger.error("%s of %s failed in its own process: %s", *about)
            raise CrashedError(f"{self.request.runtime} failed in its own process")
        return answer


def end_process(process: subprocess.Popen, folder: str) -> None:
    """Kill a process in a session of its own, with its children, and remove its scratch files."""
    if process.returncode is None:
        _kill_all(process)
    process.wait()
    for _ in range(REMOVE_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not Path(folder).exists():
            return
        # A process of the group was still writing when it was killed.
        time.sleep(LOOK_EVERY_S)


def _kill_all(process: subprocess.Popen) -> None:
    """Kill a process with its process group; only the process where there are no groups."""
    if not hasattr(os, "killpg"):
        process.kill()
        return
    # Its id is its group's, and is not reused before the process has been waited for.
    os.killpg(process.pid, signal.SIGTERM)
    time.sleep(GRACE_S)
    os.killpg(process.pid, signal.SIGKILL)
