"""``python -m benchmarks load``: many sessions at once, and what each is answered."""

import argparse
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import start
from benchmarks.questions import (
    KINDS,
    VIEW,
    Answer,
    Question,
    Visitor,
    answers_of_class,
    apart,
    asked_of,
    questions,
    same,
    view_event,
)
from explorer.models.specs import MINI
from explorer.refusal import Refusal

WARM = 20
"""Questions before the first that counts."""
MARKS = (0, 50, 100, 200, 300, 500)
"""Answers after which the process is looked at; then after every thousand."""
MOST_SHOWN = 5
"""Wrong answers that are shown with what is wrong in them."""
EVERY_S, FEWEST, MOST_RATIO = 1.0, 20, 10.0
"""From one press of the visitor beside a class to the next, how many count at the least, and the
goal: p95 over that of the visitor alone."""
Serve = Callable[[], Any]


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("load", help=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--sessions", type=int, default=24)
    parser.add_argument("--requests", type=int, default=20, help="of each session")
    parser.add_argument("--kind", nargs="+", choices=sorted({*KINDS}), default=KINDS)
    parser.add_argument("--url", help="a server that runs; else one is started for each part")
    parser.add_argument(
        "--programs",
        type=int,
        default=0,
        help="instead: a class, so many gradio_client programs at one address, and one visitor",
    )


def run(chosen: argparse.Namespace) -> int:
    """Print what the load did to times, answers and the process; 1 where an answer was wrong."""
    serve = (lambda: nullcontext((chosen.url.rstrip("/"), 0))) if chosen.url else served_app
    if chosen.programs:
        return run_class(chosen, serve)
    asked = asked_of(chosen.kind, chosen.sessions * chosen.requests, WARM)
    alone, _ = answered(serve, asked, 1, quiet=True)
    many, wall = answered(serve, asked, chosen.sessions)
    _print(f"{len(asked)} requests of {chosen.sessions} sessions at once, {wall:.0f} s")
    is_good = compared(asked, alone, many)
    for share in (50, 95):
        one, all_ = (
            1e3 * np.percentile([a.seconds for a in them], share) for them in (alone, many)
        )
        _print(f"p{share}: {all_:.0f} ms, of one visitor {one:.0f} ms: ratio {all_ / one:.1f}")
    bare, (called, processor) = bare_seconds(asked), called_seconds(asked)
    _print(f"processor time of the endpoints' functions: {1e3 * processor:.0f} ms a question")
    for what, seconds in (
        ("bare forwards on one thread", bare),
        ("the endpoints' functions, called without a page", called),
    ):
        _print(f"throughput over that of {what}, one after another: {seconds / wall:.2f}")
    return 0 if is_good else 1


def compared(asked: Sequence[Question], alone: list[Answer], many: list[Answer]) -> bool:
    """Print how many answers differ from those of one who asks alone; whether there are none."""
    wrong = [n for n, pair in enumerate(zip(alone, many, strict=True)) if is_wrong(*pair)]
    failed = [answer.failure for answer in many if answer.failure]
    _print(f"wrong or crossed: {len(wrong)}; failed: {len(failed)} {sorted(set(failed))[:3]}")
    for n in wrong[:MOST_SHOWN]:
        _print(f"  {asked[n].kind} {asked[n].values}: {apart(alone[n].said, many[n].said)}")
    return not wrong and not failed


def run_class(chosen: argparse.Namespace, serve: Serve) -> int:
    """Print how a class of programs is answered, and a visitor elsewhere; 1 off a goal."""
    kinds = [kind for kind in chosen.kind if kind != VIEW]
    asked = asked_of(kinds, chosen.programs * chosen.requests, WARM)
    with serve() as (url, _):
        alone = answers_of_class(url, asked, 1)
        lone = pressed(url, lambda: False)
    # In a process of its own: its work is not in the visitor's times.
    with serve() as (url, _), ProcessPoolExecutor(1, get_context("spawn")) as pool:
        begun = time.perf_counter()
        at_work = pool.submit(answers_of_class, url, asked, chosen.programs)
        meanwhile = pressed(url, lambda: not at_work.done())
        many, wall = at_work.result(), time.perf_counter() - begun
    _print(f"{len(asked)} questions of a class of {chosen.programs} at one address, {wall:.0f} s")
    is_good = compared(asked, alone, many)
    ratio = np.percentile(meanwhile, 95) / np.percentile(lone, 95)
    for who, them in ("alone", lone), ("meanwhile", meanwhile):
        p50, p95 = (1e3 * np.percentile(them, share) for share in (50, 95))
        _print(f"a visitor {who}: {len(them)} presses, p50 {p50:.0f} ms, p95 {p95:.0f} ms")
    _print(f"p95 over that of the visitor alone: {ratio:.1f} (goal {MOST_RATIO})")
    return 0 if is_good and ratio <= MOST_RATIO else 1


def pressed(url: str, goes_on: Callable[[], bool]) -> list[float]:
    """Seconds that a visitor of the page waits for each Compare, one every second.

    Raises:
        ValueError: a Compare was not answered.
    """
    visitor, seconds = Visitor(url, view_event(url)), list[float]()
    for number in itertools.count():
        if number >= WARM + FEWEST and not goes_on():
            return seconds
        answer = visitor.ask(Question(VIEW, (f"the [MASK] sat at {time.time():.3f}.", "mini")))
        if answer.failure:
            raise ValueError(f"The visitor got no answer: {answer.failure}")
        if number >= WARM:
            seconds.append(answer.seconds)
            time.sleep(max(0.0, EVERY_S - answer.seconds))
    return seconds


@contextmanager
def served_app() -> Iterator[tuple[str, int]]:
    """``python app.py`` with the bundled family, once it answers."""
    with start.app() as (url, process):
        start.wait_for(url)
        yield url, process


def answered(
    serve: Serve, asked: Sequence[Question], sessions: int, quiet: bool = False
) -> tuple[list[Answer], float]:
    """The answers in the order of the questions, and the seconds that all took."""
    with serve() as (url, process):
        ask_all(url, questions(WARM), 1)
        before = processor_seconds(process)
        answers = ask_all(url, asked, sessions, Watch(process, quiet).one_more)
        if process and not quiet:
            each = (processor_seconds(process) - before) / len(asked)
            _print(f"processor time of the server: {1e3 * each:.0f} ms a question")
        return answers


def ask_all(
    url: str,
    asked: Sequence[Question],
    sessions: int,
    heard: Callable[[], object] = lambda: None,
) -> tuple[list[Answer], float]:
    """The answers of a server to so many sessions at once, and the seconds that all took.

    ``heard`` is called after each answer.
    """
    view = view_event(url)
    answers: dict[int, Answer] = {}

    def visit(session: int) -> None:
        visitor = Visitor(url, view)
        for number in range(session, len(asked), sessions):
            answers[number] = visitor.ask(asked[number])
            heard()

    begun = time.perf_counter()
    with ThreadPoolExecutor(sessions) as pool:
        list(pool.map(visit, range(sessions)))
    return [answers[number] for number in range(len(asked))], time.perf_counter() - begun


def is_wrong(alone: Answer, among_many: Answer) -> bool:
    """Whether an answer is not the one that a single visitor gets."""
    return not among_many.failure and not same(alone.said, among_many.said)


class Watch:
    """Looks at the server's process after so many answers."""

    def __init__(self, process: int, quiet: bool) -> None:
        self.process, self.quiet = process, quiet or not process
        self._answers, self._lock = -1, threading.Lock()
        self.one_more()

    def one_more(self) -> None:
        """Count an answer; print what the process holds where it is time to."""
        with self._lock:
            self._answers += 1
            if not self.quiet and (self._answers in MARKS or self._answers % 1000 == 0):
                memory, threads, files = held_by(self.process)
                _print(f"after {self._answers:>5}: {memory} MB, {threads} threads, {files} files")


def processor_seconds(process: int) -> float:
    """Seconds that a process has computed in its own code and in the system's, on Linux."""
    about = Path(f"/proc/{process}/stat")
    if not about.exists():
        return 0.0
    own, system = about.read_text().rpartition(")")[2].split()[11:13]
    return (int(own) + int(system)) / os.sysconf("SC_CLK_TCK")


def held_by(process: int) -> tuple[int, int, int]:
    """Resident megabytes, threads and open files of a process, as Linux counts them."""
    about = Path(f"/proc/{process}")
    if not about.exists():
        return 0, 0, 0
    lines = dict(line.split(":", 1) for line in (about / "status").read_text().splitlines())
    resident = int(lines["VmRSS"].split()[0]) // 1024
    return resident, int(lines["Threads"]), len(list((about / "fd").iterdir()))


def bare_seconds(asked: Sequence[Question]) -> float:
    """The three networks over the text of every question, one after another on one thread.

    0 where no question has a text.
    """
    import torch

    from explorer.models.forward import run_model, tokenize
    from explorer.models.loading import load_model

    torch.set_num_threads(1)
    loaded = [load_model(spec) for spec in MINI.values()]
    texts = [question.text for question in asked if question.text]
    if not texts:
        return 0.0
    sample = texts[:: max(1, len(texts) // 100)]
    for one in loaded:
        run_model(one, tokenize(one, sample[0]))
    begun = time.perf_counter()
    for text in sample:
        for one in loaded:
            run_model(one, tokenize(one, text))
    return (time.perf_counter() - begun) * len(texts) / len(sample)


def called_seconds(asked: Sequence[Question]) -> tuple[float, float]:
    """The same answers worked out in this process: wall seconds, processor seconds a question.

    A view is what ``/predict`` answers.
    """
    from explorer.ui.shell.api import ENDPOINTS

    def call(question: Question) -> None:
        with suppress(Refusal):  # a refusal in a sentence is an answer too
            ENDPOINTS.get(question.kind, ENDPOINTS["predict"])(*question.values)

    for question in questions(WARM):
        call(question)
    begun, worked = time.perf_counter(), time.process_time()
    for question in asked:
        call(question)
    wall, processor = time.perf_counter() - begun, time.process_time() - worked
    return wall, processor / len(asked)


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
