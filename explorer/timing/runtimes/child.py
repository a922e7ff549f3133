"""Child process of ``RuntimeProcess``: passes built and timed in isolation.

``python -m explorer.timing.runtimes.child FOLDER`` reads build requests and then questions from
standard input, pickled by the parent process, and writes its answers to standard output.
The folder takes its scratch files; the parent removes them, however the child ends.
"""

import gc
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Sequence
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
from explorer.timing.child_process import answers_file, write_answer
from explorer.timing.networks import TORCH_WAYS
from explorer.timing.protocol import Pass, stopwatch, thread_width, timed_ids
from explorer.timing.runtimes.process import BuildRequest
from explorer.timing.runtimes.saved import held_bytes, served_bytes
from explorer.timing.runtimes.table import (
    COMPILE,
    MEMORY,
    RUNTIMES,
    Crash,
    Forward,
    NoRuntime,
    ScoreRequest,
    built,
    scores_at,
)
from explorer.timing.workload import Workload


def main() -> None:
    """Build what the requests name, then answer questions until standard input ends."""
    serve(sys.stdin.buffer, partial(write_answer, answers_file()), sys.argv[1])


def serve(questions: BinaryIO, send: Callable[[Any], None], folder: str) -> None:
    """Send the memory held, then the time of each workload or the scores of each question."""
    requests: tuple[BuildRequest, ...] = pickle.load(questions)
    _scratch_in(folder, requests[0].runtime)
    try:
        _answer(requests, questions, send)
    except NoRuntime as error:
        send(error)
    except Exception as error:
        # The output of this process is discarded: the parent logs its tracebacks.
        send(Crash("".join(format_exception(error))))


def _answer(
    requests: Sequence[BuildRequest], questions: BinaryIO, send: Callable[[Any], None]
) -> None:
    first = requests[0]
    with thread_width(first.workload.clock) as threads, torch.inference_mode():
        if first.runtime == MEMORY:
            send(memory_of_torch(first))
            return
        passes = [_build(request, threads) for request in requests]
        send({r.runtime: memory for r, (_, memory) in zip(requests, passes, strict=True)})
        gc.freeze()
        gc.disable()
        while True:
            try:
                place, question = pickle.load(questions)
            except EOFError:
                return
            request, (run, _) = requests[place], passes[place]
            if isinstance(question, ScoreRequest):
                send(scores_at(run, question, request.workload.device))
            else:
                send(_seconds(run, timed_ids(request.spec, question), question, threads))


def _seconds(run: Forward, ids: torch.Tensor, asked: Workload, threads: int) -> float:
    """Time a pass on the clock of the workload: one thread for processor time."""
    width = 1 if asked.clock == "compute" else threads
    if torch.get_num_threads() != width:
        torch.set_num_threads(width)
    return stopwatch(asked)(partial(run, ids))


def memory_of_torch(request: BuildRequest) -> dict[str, int | None]:
    """Return the bytes held by a process that runs the pass in torch, by variant.

    A process for each: memory left behind by one variant would be charged to the next.

    Raises:
        NoRuntime: one of the processes died.
    """
    try:
        with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
            sizes = pool.map(partial(_held_in, request), TORCH_WAYS)
            return dict(zip(TORCH_WAYS, sizes, strict=True))
    except BrokenExecutor as error:
        raise NoRuntime("failed", "a process is gone") from error


def _held_in(request: BuildRequest, name: str) -> int | None:
    with thread_width(request.workload.clock), torch.inference_mode():
        work = Pass(request.spec, TORCH_WAYS[name](_network(request)), request.workload).eval()
        work(_ids(request, request.workload.batch))
        return held_bytes()


def _scratch_in(folder: str, runtime: str) -> None:
    """Direct scratch files to the folder, compilers' too; the cache of torch.compile stays."""
    if runtime == COMPILE:
        # torch looks up its cache folders once: do so before the temporary folder changes.
        from torch._inductor import codecache

        codecache.cache_dir()
    os.environ["TMPDIR"] = tempfile.tempdir = folder


def _build(request: BuildRequest, threads: int) -> tuple[Forward, int | None]:
    """Return the pass, and the memory of a process that serves it; None where it is not known."""
    if request.runtime not in RUNTIMES:
        network = TORCH_WAYS.get(request.runtime, lambda same: same)(_network(request))
        return Pass(request.spec, network, request.workload).eval(), None
    work = Pass(request.spec, _network(request), request.workload).eval()
    ids, sizes = _ids(request, request.workload.batch), []

    def look(file: Path) -> None:
        sizes.append(served_bytes(request.runtime, file, threads, tuple(ids.shape)))

    run = built(request.runtime, work, ids, threads, look)
    if request.runtime == COMPILE and request.workload.device == "cpu":
        sizes.append(held_bytes())
    return run, sizes[0] if sizes else None


def _network(request: BuildRequest) -> PreTrainedModel:
    spec, work = request.spec, request.workload
    if request.checkpoint is None:
        return random_network(spec).to(work.device, DTYPES[work.dtype])
    return read_checkpoint(spec, request.checkpoint, work.device, work.dtype).network


def _ids(request: BuildRequest, batch: int) -> torch.Tensor:
    return timed_ids(request.spec, replace(request.workload, batch=batch))


if __name__ == "__main__":
    main()
