"""A process of its own for a pass in another runtime: it can be ended at any moment, also by force.

Compiling sets switches under which other threads' passes would record the wrong hidden states,
and neither it nor a pass of compiled code looks at a stop sign. A process does not mind.
"""

import logging
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from explorer.models.runtimes import NoRuntime, Question
from explorer.models.specs import ModelSpec
from explorer.models.workload import Workload

logger = logging.getLogger(__name__)
ROOT = Path(__file__).parents[2]
LOOK_EVERY_S = 0.05
Check = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Order:
    """What a process builds: the pass of a model in a runtime."""

    runtime: str
    spec: ModelSpec
    workload: Workload
    checkpoint: Path | None
    """None: random weights in the spec's shape."""


class RuntimeProcess:
    """A pass in another runtime; the process ends with the ``with`` block, whatever it is doing."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self._process = subprocess.Popen(
            [sys.executable, "-m", "explorer.models.runtime_child"], cwd=ROOT,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True, name=f"{order.runtime} answers").start()
        self._ask(order)

    def __enter__(self) -> "RuntimeProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()

    def wait_until_built(self, check: Check) -> None:
        """Tens of seconds, in which the stop sign is looked at.

        Raises:
            NoRuntime: it cannot be had here. Stopped: somebody asked for the end.
        """
        self._answer(check)

    def seconds(self, check: Check) -> float:
        """Run the pass once and say how long it took on the workload's clock, over there.

        Raises:
            NoRuntime: the process is gone. Stopped: somebody asked for the end.
        """
        self._ask(None)
        return cast(float, self._answer(check))

    def scores(self, question: Question, check: Check) -> np.ndarray:
        """Last hidden states, or logits where the pass has the head, float32 [place, width].

        Raises:
            NoRuntime: the process is gone. Stopped: somebody asked for the end.
        """
        self._ask(question)
        return cast(np.ndarray, self._answer(check))

    def _ask(self, question: object) -> None:
        pipe = cast(IO[bytes], self._process.stdin)
        try:
            pickle.dump(question, pipe)
            pipe.flush()
        except BrokenPipeError as error:
            raise NoRuntime("failed", "the process is gone") from error

    def _read(self) -> None:
        pipe = cast(IO[bytes], self._process.stdout)
        try:
            while True:
                self._answers.put(pickle.load(pipe))
        except (EOFError, pickle.UnpicklingError):
            self._answers.put(NoRuntime("failed", "the process is gone"))

    def _answer(self, check: Check) -> object:
        while True:
            try:
                answer = self._answers.get(timeout=LOOK_EVERY_S)
            except queue.Empty:
                check()
                continue
            if isinstance(answer, NoRuntime):
                about = (self.order.runtime, self.order.spec.name, answer.detail)
                logger.warning("%s of %s: %s", *about)
                raise answer
            return answer
