"""Process of one's own that is sent pickled objects, answers with them, and can be killed."""

import os
import pickle
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, Self, cast

from explorer.assets import CODE

LOOK_EVERY_S = 0.05
GRACE_S = 0.1
"""Seconds for the processes of a group to remove unfinished files after SIGTERM."""
REMOVE_TRIES = 50


class ProcessGoneError(Exception):
    """Error raised where a process has ended and all of its answers are read."""


class ChildProcess:
    """Process with a folder for its scratch files; it is killed at the end of the ``with`` block.

    The folder's path is its last argument. What is printed to its standard error is dropped.
    """

    def __init__(
        self, command: Sequence[str], name: str, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start the process.

        Args:
            command: The program and its arguments, without the folder.
            name: Name of the folder's files and of the thread that reads the answers.
            environment: Variables in addition to this process's own.
        """
        folder = tempfile.mkdtemp(prefix=f"explorer-{name}-")
        self._process = subprocess.Popen(
            [*command, folder],
            cwd=CODE.parent,
            env=os.environ | (environment or {}),
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        # At interpreter exit at the latest: a process in its own session gets no Ctrl-C.
        self._finish = weakref.finalize(self, end_process, self._process, folder)
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True, name=f"{name} answers")
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Kill the process and its own children, and remove its scratch files."""
        self._finish()

    def _send(self, content: object) -> None:
        pipe = cast(IO[bytes], self._process.stdin)
        # A process that has ended may have said why before: its answers are still read.
        with suppress(BrokenPipeError):
            pickle.dump(content, pipe)
            pipe.flush()

    def _read(self) -> None:
        pipe = cast(IO[bytes], self._process.stdout)
        with suppress(EOFError, pickle.UnpicklingError):
            while True:
                self._answers.put(pickle.load(pipe))

    def _next(self, look: Callable[[], None]) -> Any:  # noqa: ANN401 - whatever it answers
        """Wait for an answer; what ``look`` raises meanwhile ends the wait.

        Raises:
            ProcessGoneError: the process has ended without another answer.
        """
        while True:
            has_ended = not self._reader.is_alive()
            try:
                return self._answers.get(timeout=LOOK_EVERY_S)
            except queue.Empty:
                if has_ended:
                    raise ProcessGoneError from None
                look()


def answers_file() -> BinaryIO:
    """Return the file of a child process's answers: its standard output, kept from all others.

    Libraries print to standard output, which must not mix with the pickled answers.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def write_answer(answers: BinaryIO, answer: object) -> None:
    """Write a child process's answer."""
    pickle.dump(answer, answers)
    answers.flush()


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
