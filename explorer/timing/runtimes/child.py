"""The far end of ``runtime_process``: one pass in one runtime, built and timed in its own process.

``python -m explorer.timing.runtimes.child FOLDER`` reads an ``Order`` and then questions from
standard input, pickled by the process that started it, and writes its answers to standard output.
The folder takes its scratch files; whoever started it removes them, however it ends.
"""

import gc
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from traceback import format_exception
from typing import Any, BinaryIO

import torch
from transformers import PreTrainedModel

from explorer.models.architectures import random_network
from explorer.models.loading import DTYPES, read_checkpoint
from explorer.timing.networks import TORCH_WAYS
from explorer.timing.protocol import Pass, stopwatch, thread_width, timed_ids
from explorer.timing.runtimes.process import Order
from explorer.timing.runtimes.saved import held_bytes, served_bytes
from explorer.timing.runtimes.table import (
    COMPILE,
    MEMORY,
    Crash,
    Forward,
    NoRuntime,
    Question,
    built,
    scores_at,
)


def main() -> None:
    """Build what is ordered, then answer until nobody asks any more."""
    answers = os.fdopen(os.dup(1), "wb")
    # Libraries print; what they print must not get between the answers.
    os.dup2(2, 1)
    serve(sys.stdin.buffer, lambda answer: _send(answers, answer), sys.argv[1])


def _send(answers: BinaryIO, answer: object) -> None:
    pickle.dump(answer, answers)
    answers.flush()


def serve(questions: BinaryIO, send: Callable[[Any], None], folder: str) -> None:
    """First the memory held, then a time for every batch size asked, or a question's scores."""
    order: Order = pickle.load(questions)
    _scratch_in(folder, order.runtime)
    try:
        _answer(order, questions, send)
    except NoRuntime as error:
        send(error)
    except Exception as error:
        # Nobody reads what this process prints: its tracebacks are logged where the page is.
        send(Crash("".join(format_exception(error))))


def _answer(order: Order, questions: BinaryIO, send: Callable[[Any], None]) -> None:
    with thread_width(order.workload.clock) as threads, torch.inference_mode():
        if order.runtime == MEMORY:
            send(memory_of_torch(order))
            return
        run, held = _build(order, threads)
        send({order.runtime: held})
        timed = stopwatch(order.workload)
        gc.freeze()
        gc.disable()
        while True:
            try:
                question: Question | int = pickle.load(questions)
            except EOFError:
                return
            if isinstance(question, Question):
                send(scores_at(run, question, order.workload.device))
            else:
                send(timed(partial(run, _ids(order, question))))


def memory_of_torch(order: Order) -> dict[str, int | None]:
    """What a process holds that runs the pass in torch, by the way to run, bytes.

    A process of its own for each: what one way leaves behind would be charged to the next.

    Raises:
        NoRuntime: one of them is gone.
    """
    try:
        with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
            held = pool.map(partial(_held_in, order), TORCH_WAYS)
            return dict(zip(TORCH_WAYS, held, strict=True))
    except BrokenExecutor as error:
        raise NoRuntime("failed", "a process is gone") from error


def _held_in(order: Order, name: str) -> int | None:
    with thread_width(order.workload.clock), torch.inference_mode():
        work = Pass(order.spec, TORCH_WAYS[name](_network(order)), order.workload).eval()
        work(_ids(order, order.workload.batch))
        return held_bytes()


def _scratch_in(folder: str, runtime: str) -> None:
    """Scratch files go to the folder, compilers' too; what torch compiled stays where it was."""
    if runtime == COMPILE:
        # Both places are looked up once, beside all other temporary files unless told otherwise.
        from torch._inductor import codecache

        codecache.cache_dir()
    os.environ["TMPDIR"] = tempfile.tempdir = folder


def _build(order: Order, threads: int) -> tuple[Forward, int | None]:
    """The pass, and the memory of a process that serves it; on an accelerator that is no matter."""
    work = Pass(order.spec, _network(order), order.workload).eval()
    ids, held = _ids(order, order.workload.batch), []

    def look(file: Path) -> None:
        held.append(served_bytes(order.runtime, file, threads, tuple(ids.shape)))

    run = built(order.runtime, work, ids, threads, look)
    if order.runtime == COMPILE and order.workload.device == "cpu":
        held.append(held_bytes())
    return run, held[0] if held else None


def _network(order: Order) -> PreTrainedModel:
    spec, work = order.spec, order.workload
    if order.checkpoint is None:
        return random_network(spec).to(work.device, DTYPES[work.dtype])
    return read_checkpoint(spec, order.checkpoint, work.device, work.dtype).network


def _ids(order: Order, batch: int) -> torch.Tensor:
    return timed_ids(order.spec, replace(order.workload, batch=batch))


if __name__ == "__main__":
    main()
