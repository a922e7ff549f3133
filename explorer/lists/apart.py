"""Fine-tuning in a process of its own, which stands back for visitors and can be ended any time."""

import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from explorer.assets import CODE
from explorer.inference.ask import Ask
from explorer.inference.scheduling.cancel import CancelToken
from explorer.lists.rows import TextList
from explorer.lists.tuned import TuningOptions, TuningProgress, TuningResult
from explorer.refusal import Refusal, logger
from explorer.timing.memory import resident_bytes
from explorer.timing.runtimes.process import end_process

CHILD = (sys.executable, "-m", "explorer.lists.child")
PASSIVE = {"OMP_WAIT_POLICY": "passive"}
"""Environment in which torch's threads sleep while they wait: beside other programs, threads that
spin take many times as long."""
LOOK_EVERY_S = 0.1
STOP_S = 20.0
"""Seconds that a stopped training has for its scores and its files, before it is ended."""
OUT_OF_MEMORY = (
    "Fine-tuning was ended: it needs more than the {limit:g} GB that it may take here. Take fewer "
    "or shorter rows, or smaller models."
)
GONE = "Fine-tuning was ended from outside, most likely for lack of memory."
FAILED = "Fine-tuning failed; the reason is in the server's log."


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


class TuningProcess:
    """A fine-tuning in its own process; it is killed at the end of the ``with`` block."""

    def __init__(self, request: TuningRequest, memory_limit: float) -> None:
        self._limit, self._stopped_at = memory_limit, 0.0
        folder = tempfile.mkdtemp(prefix="explorer-tuning-")
        self._process = subprocess.Popen(
            [*CHILD, folder],
            cwd=CODE.parent,
            env=os.environ | PASSIVE,
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._finish = weakref.finalize(self, end_process, self._process, folder)
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True, name="tuning answers")
        self._reader.start()
        self._send(pickle.dumps(request))

    def __enter__(self) -> "TuningProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self._hold(False)
        self._finish()

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
        while True:
            has_ended = not self._reader.is_alive()
            try:
                answer = self._answers.get(timeout=LOOK_EVERY_S)
            except queue.Empty:
                if has_ended:
                    raise Refusal(GONE) from None
                self._look(cancel, is_timing)
                continue
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
            self._send(b"stop")
        self._hold(is_timing() and not self._stopped_at)
        if self._stopped_at and now - self._stopped_at > STOP_S:
            raise Refusal(GONE)
        if (resident_bytes(self._process.pid) or 0) > self._limit:
            raise Refusal(OUT_OF_MEMORY.format(limit=self._limit / 1e9))

    def _hold(self, waits: bool) -> None:
        """Let the process wait, or go on, where the system can do that."""
        if hasattr(signal, "SIGSTOP") and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGSTOP if waits else signal.SIGCONT)

    def _send(self, content: bytes) -> None:
        pipe = cast(IO[bytes], self._process.stdin)
        # A process that has ended may have said why before: ``answers`` raises it.
        with suppress(BrokenPipeError):
            pipe.write(content)
            pipe.flush()

    def _read(self) -> None:
        pipe = cast(IO[bytes], self._process.stdout)
        with suppress(EOFError, pickle.UnpicklingError):
            while True:
                self._answers.put(pickle.load(pipe))
