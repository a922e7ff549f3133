"""Child process of ``TuningProcess``: a fine-tuning at the lowest priority.

``python -m explorer.lists.child FOLDER`` reads a pickled ``TuningRequest`` from standard input and
writes pickled answers to standard output. More on standard input, or its end, stops it. The folder
takes its scratch files; the parent removes them, however the child ends.
"""

import os
import pickle
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from traceback import format_exception
from typing import BinaryIO

from explorer.lists.apart import TuningAnswer, TuningRequest
from explorer.lists.finetune import FineTuned
from explorer.lists.tuned import TuningProgress
from explorer.lists.tuning import TuningQuestion
from explorer.refusal import Refusal, Sentence, carried
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.timing.child_process import answers_file, write_answer

TELL_EVERY_S = 0.3
"""Seconds between two answers on the progress."""
NICE = 19
"""Priority of the process: the lowest, so that visitors' passes go first."""
TOO_EARLY = Sentence("tuning-stopped", "Fine-tuning was stopped before any training began.")


def main() -> None:
    """Train what standard input asks for, and answer on standard output."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    answers = answers_file()
    tempfile.tempdir = sys.argv[1]
    serve(sys.stdin.buffer, answers)


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer the request that is read from ``questions``; more of them, or their end, stops it."""
    request: TuningRequest = pickle.load(questions)
    cancel = CancelToken()

    def wait_for_stop() -> None:
        questions.read(1)
        cancel.stop()

    threading.Thread(target=wait_for_stop, daemon=True, name="stop").start()
    try:
        for answer in trained(request, cancel):
            write_answer(answers, answer)
    except Refusal as refusal:
        write_answer(answers, carried(refusal))
    except Exception as error:
        # The output of this process is discarded: the parent logs its tracebacks.
        write_answer(answers, "".join(format_exception(error)))


def trained(request: TuningRequest, cancel: CancelToken) -> Iterator[TuningProgress | TuningAnswer]:
    """Yield the progress of a request, now and then, and at last what was trained."""
    from explorer.inference.runs import in_this_thread

    cancel.set_deadline(request.seconds)
    ended, told = "done", 0.0
    with in_this_thread():
        try:
            question = TuningQuestion(request.texts, request.ask, request.options, cancel)
        except Cancelled:
            raise Refusal(TOO_EARLY) from None
        try:
            for progress in question.run():
                if time.monotonic() - told > TELL_EVERY_S:
                    told = time.monotonic()
                    yield progress
        except Cancelled as cancelled:
            ended = cancelled.reason
        result = question.result()
        folders = {}
        if result.best:
            folders = FineTuned(request.family, ended == "done", result).save(request.folder)
        yield TuningAnswer(replace(result, best={}), ended, folders)


if __name__ == "__main__":
    main()
