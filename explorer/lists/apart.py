"""Fine-tuning in a process of its own, which lets visitors go first and can be ended any time."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from explorer.inference.ask import Ask
from explorer.lists.rows import TextList
from explorer.lists.tuned import TuningOptions, TuningProgress, TuningResult
from explorer.refusal import Refusal, Sentence, logger
from explorer.scheduling.cancel import CancelToken
from explorer.timing.child_process import ChildProcess, ProcessGoneError
from explorer.timing.memory import resident_bytes

CHILD = (sys.executable, "-m", "explorer.lists.child")
PASSIVE = {"OMP_WAIT_POLICY": "passive"}
"""Environment in which torch's threads sleep while they wait: next to other programs, threads that
spin take many times as long."""
STOP_S = 20.0
"""Seconds that a stopped training has for its scores and its files, before it is ended."""
EXIT_S = 5.0
"""Seconds for a process whose answers have ended to exit."""
OUT_OF_MEMORY = Sentence(
    "tuning-out-of-memory",
    "Fine-tuning was ended: it needs more than the {limit:g} GB that it may take here. Take fewer "
    "or shorter rows, or smaller models.",
)
NOT_IN_TIME = Sentence(
    "tuning-stop-not-in-time",
    "Stopped. The scores and models so far were not there within {seconds:g} s, so none are kept.",
)
GONE = Sentence(
    "tuning-killed", "Fine-tuning was ended from outside, most likely for lack of memory."
)
FAILED = Sentence("tuning-failed", "Fine-tuning failed; the reason is in the server's log.")


@dataclass(frozen=True, slots=True, eq=False)
class TuningRequest:
    """Request to the process: what is trained, for how long, and where the models are saved."""

    texts: TextList
    ask: Ask
    family: str
    options: TuningOptions
    seconds: float
    folder: Path


@dataclass(frozen=True, slots=True, eq=False)
class TuningAnswer:
    """Last answer of the process."""

    result: TuningResult
    """Without the networks, which are in the folders."""
    ended: str
    """``done``, or why the training ended early: ``stopped``, ``deadline``."""
    folders: dict[str, Path]
    """By column the folder of its best model."""


class TuningProcess(ChildProcess):
    """A fine-tuning in its own process; it is killed at the end of the ``with`` block."""

    def __init__(self, request: TuningRequest, memory_limit: float) -> None:
        super().__init__(CHILD, "tuning", PASSIVE)
        self._limit, self._stopped_at = memory_limit, 0.0
        self._send(request)

    def end(self) -> None:
        """Let the process go on if it waits, then kill it."""
        self._hold(False)
        super().end()

    def answers(
        self, cancel: CancelToken, is_timing: Callable[[], bool] = lambda: False
    ) -> Iterator[TuningProgress | TuningAnswer]:
        """Yield the progress, and at last what was trained, also after a stop.

        Args:
            cancel: Token whose stop ends the training; its scores and models so far follow.
            is_timing: Whether something is timed on this machine: the process then waits.

        Raises:
            Refusal: the rows cannot be trained on, or the process needs too much memory.
        """
        look = partial(self._look, cancel, is_timing)
        while True:
            try:
                answer = self._next(look)
            except ProcessGoneError:
                raise Refusal(self._why_gone()) from None
            if isinstance(answer, Refusal):
                raise answer
            if isinstance(answer, str):
                logger.error("fine-tuning failed in its own process: %s", answer)
                raise Refusal(FAILED)
            yield answer
            if isinstance(answer, TuningAnswer):
                return

    def _look(self, cancel: CancelToken, is_timing: Callable[[], bool]) -> None:
        """Pass on a stop, let measurements have the machine, and watch the memory."""
        now = time.monotonic()
        if cancel.cancelled and not self._stopped_at:
            self._stopped_at = now
            self._send("stop")
        self._hold(is_timing() and not self._stopped_at)
        if self._stopped_at and now - self._stopped_at > STOP_S:
            raise Refusal(NOT_IN_TIME.format(seconds=STOP_S))
        if (resident_bytes(self._process.pid) or 0) > self._limit:
            raise Refusal(OUT_OF_MEMORY.format(limit=self._limit / 1e9))

    def _why_gone(self) -> Sentence:
        """Return why the process has ended without an answer: killed, as for memory, or failed."""
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(EXIT_S)
            if code == -getattr(signal, "SIGKILL", 9):
                return GONE
            logger.error("fine-tuning ended in its own process with the exit code %d", code)
        return FAILED

    def _hold(self, waits: bool) -> None:
        """Let the process wait, or go on, where the system can do that."""
        if hasattr(signal, "SIGSTOP") and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGSTOP if waits else signal.SIGCONT)
