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
from typing import Any, BinaryIO

import torch

from explorer.models.architectures import random_network
from explorer.models.loading import DTYPES, read_checkpoint
from explorer.timing.protocol import Pass, stopwatch, thread_width, timed_ids
from explorer.timing.runtimes.process import Order
from explorer.timing.runtimes.table import COMPILE, Forward, NoRuntime, Question, built, scores_at


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
    """Answer with a time, or with the scores that a question names."""
    order: Order = pickle.load(questions)
    _scratch_in(folder, order.runtime)
    with thread_width(order.workload.clock) as threads, torch.inference_mode():
        try:
            run = _build(order, threads)
        except NoRuntime as error:
            send(error)
            return
        send(None)
        ids, timed = timed_ids(order.spec, order.workload), stopwatch(order.workload)
        gc.freeze()
        gc.disable()
        while True:
            try:
                question: Question | None = pickle.load(questions)
            except EOFError:
                return
            if question is None:
                send(timed(lambda: run(ids)))
            else:
                send(scores_at(run, question, ids.device))


def _scratch_in(folder: str, runtime: str) -> None:
    """Scratch files go to the folder, compilers' too; what torch compiled stays where it was."""
    if runtime == COMPILE:
        # Both places are looked up once, beside all other temporary files unless told otherwise.
        from torch._inductor import codecache

        codecache.cache_dir()
    os.environ["TMPDIR"] = tempfile.tempdir = folder


def _build(order: Order, threads: int) -> Forward:
    spec, work = order.spec, order.workload
    if order.checkpoint is None:
        network = random_network(spec).to(work.device, DTYPES[work.dtype])
    else:
        network = read_checkpoint(spec, order.checkpoint, work.device, work.dtype).network
    ids = timed_ids(spec, work)
    return built(order.runtime, Pass(spec, network, work).eval(), ids, threads)


if __name__ == "__main__":
    main()
