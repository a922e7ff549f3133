"""``python -m benchmarks load``: many concurrent sessions, and checks of their answers."""

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
    PageRequest,
    Visitor,
    answers_of_class,
    first_difference,
    is_same,
    page_requests,
    requests_of_kinds,
    view_event,
)
from explorer.models.specs import MINI
from explorer.refusal import Refusal

WARM = 20
"""Warm-up requests, which do not count."""
MARKS = (0, 50, 100, 200, 300, 500)
"""Counts of answers at which the process is inspected; then after every thousand."""
MAX_SHOWN = 5
"""Wrong answers that are printed with their first difference."""
EVERY_S, FEWEST, MAX_RATIO = 1.0, 20, 10.0
"""Seconds between the presses of the visitor beside a class, the fewest presses that count, and the
goal for p95 over that of the visitor alone."""
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
    """Print the load's effect on times, answers and the process; return 1 for a wrong answer."""
    serve = (lambda: nullcontext((chosen.url.rstrip("/"), 0))) if chosen.url else served_app
    if chosen.programs:
        return run_class(chosen, serve)
    requests = requests_of_kinds(chosen.kind, chosen.sessions * chosen.requests, WARM)
    alone, _ = timed_answers(serve, requests, 1, quiet=True)
    many, wall = timed_answers(serve, requests, chosen.sessions)
    _print(f"{len(requests)} requests of {chosen.sessions} sessions at once, {wall:.0f} s")
    is_good = print_differences(requests, alone, many)
    for share in (50, 95):
        alone_ms, many_ms = (
            1e3 * np.percentile([a.seconds for a in answers], share) for answers in (alone, many)
        )
        ratio = many_ms / alone_ms
        _print(f"p{share}: {many_ms:.0f} ms, of one visitor {alone_ms:.0f} ms: ratio {ratio:.1f}")
    bare, (called, processor) = bare_seconds(requests), called_seconds(requests)
    _print(f"processor time of the endpoints' functions: {1e3 * processor:.0f} ms a question")
    for name, seconds in (
        ("bare forwards on one thread", bare),
        ("the endpoints' functions, called without a page", called),
    ):
        _print(f"throughput over that of {name}, one after another: {seconds / wall:.2f}")
    return 0 if is_good else 1


def print_differences(
    requests: Sequence[PageRequest], alone: list[Answer], many: list[Answer]
) -> bool:
    """Print the answers that differ from those of a lone visitor; return whether none do."""
    wrong = [n for n, pair in enumerate(zip(alone, many, strict=True)) if is_wrong(*pair)]
    failed = [answer.failure for answer in many if answer.failure]
    _print(f"wrong or crossed: {len(wrong)}; failed: {len(failed)} {sorted(set(failed))[:3]}")
    for n in wrong[:MAX_SHOWN]:
        difference = first_difference(alone[n].text, many[n].text)
        _print(f"  {requests[n].kind} {requests[n].values}: {difference}")
    return not wrong and not failed


def run_class(chosen: argparse.Namespace, serve: Serve) -> int:
    """Print a class's answers and a visitor's times meanwhile; return 1 if a goal is missed."""
    kinds = [kind for kind in chosen.kind if kind != VIEW]
    requests = requests_of_kinds(kinds, chosen.programs * chosen.requests, WARM)
    with serve() as (url, _):
        alone = answers_of_class(url, requests, 1)
        baseline = compare_seconds(url, lambda: False)
    # In another process, so that its work is not in the visitor's times.
    with serve() as (url, _), ProcessPoolExecutor(1, get_context("spawn")) as pool:
        started = time.perf_counter()
        class_answers = pool.submit(answers_of_class, url, requests, chosen.programs)
        during = compare_seconds(url, lambda: not class_answers.done())
        many, wall = class_answers.result(), time.perf_counter() - started
    _print(
        f"{len(requests)} questions of a class of {chosen.programs} at one address, {wall:.0f} s"
    )
    is_good = print_differences(requests, alone, many)
    ratio = np.percentile(during, 95) / np.percentile(baseline, 95)
    for when, times in ("alone", baseline), ("meanwhile", during):
        p50, p95 = (1e3 * np.percentile(times, share) for share in (50, 95))
        _print(f"a visitor {when}: {len(times)} presses, p50 {p50:.0f} ms, p95 {p95:.0f} ms")
    _print(f"p95 over that of the visitor alone: {ratio:.1f} (goal {MAX_RATIO})")
    return 0 if is_good and ratio <= MAX_RATIO else 1


def compare_seconds(url: str, is_running: Callable[[], bool]) -> list[float]:
    """Return the seconds that a visitor of the page waits for each Compare, one every second.

    Raises:
        ValueError: A Compare was not answered.
    """
    visitor, seconds = Visitor(url, view_event(url)), list[float]()
    for number in itertools.count():
        if number >= WARM + FEWEST and not is_running():
            return seconds
        answer = visitor.send(PageRequest(VIEW, (f"the [MASK] sat at {time.time():.3f}.", "mini")))
        if answer.failure:
            raise ValueError(f"The visitor got no answer: {answer.failure}")
        if number >= WARM:
            seconds.append(answer.seconds)
            time.sleep(max(0.0, EVERY_S - answer.seconds))
    return seconds


@contextmanager
def served_app() -> Iterator[tuple[str, int]]:
    """Run ``python app.py`` with the bundled family; yield its URL and process id once it is up."""
    with start.app() as (url, process):
        start.wait_for(url)
        yield url, process


def timed_answers(
    serve: Serve, requests: Sequence[PageRequest], sessions: int, quiet: bool = False
) -> tuple[list[Answer], float]:
    """Return the answers in the order of the requests, and the seconds that all took."""
    with serve() as (url, process):
        send_all(url, page_requests(WARM), 1)
        before = processor_seconds(process)
        answers = send_all(url, requests, sessions, Watch(process, quiet).one_more)
        if process and not quiet:
            each = (processor_seconds(process) - before) / len(requests)
            _print(f"processor time of the server: {1e3 * each:.0f} ms a question")
        return answers


def send_all(
    url: str,
    requests: Sequence[PageRequest],
    sessions: int,
    on_answer: Callable[[], object] = lambda: None,
) -> tuple[list[Answer], float]:
    """Return a server's answers to concurrent sessions, and the seconds that all took.

    ``on_answer`` is called after each answer.
    """
    view = view_event(url)
    answers: dict[int, Answer] = {}

    def visit(session: int) -> None:
        visitor = Visitor(url, view)
        for number in range(session, len(requests), sessions):
            answers[number] = visitor.send(requests[number])
            on_answer()

    started = time.perf_counter()
    with ThreadPoolExecutor(sessions) as pool:
        list(pool.map(visit, range(sessions)))
    return [answers[number] for number in range(len(requests))], time.perf_counter() - started


def is_wrong(alone: Answer, among_many: Answer) -> bool:
    """Return whether an answer differs from that of a single visitor."""
    return not among_many.failure and not is_same(alone.text, among_many.text)


class Watch:
    """Inspection of the server's process after given numbers of answers."""

    def __init__(self, process: int, quiet: bool) -> None:
        self.process, self.quiet = process, quiet or not process
        self._answers, self._lock = -1, threading.Lock()
        self.one_more()

    def one_more(self) -> None:
        """Count an answer; print the process's resources at the chosen counts."""
        with self._lock:
            self._answers += 1
            if not self.quiet and (self._answers in MARKS or self._answers % 1000 == 0):
                memory, threads, files = held_by(self.process)
                _print(f"after {self._answers:>5}: {memory} MB, {threads} threads, {files} files")


def processor_seconds(process: int) -> float:
    """Return the user and system CPU seconds of a process, on Linux."""
    stat = Path(f"/proc/{process}/stat")
    if not stat.exists():
        return 0.0
    user, system = stat.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def held_by(process: int) -> tuple[int, int, int]:
    """Return the resident megabytes, threads and open files of a process, on Linux."""
    folder = Path(f"/proc/{process}")
    if not folder.exists():
        return 0, 0, 0
    lines = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    resident = int(lines["VmRSS"].split()[0]) // 1024
    return resident, int(lines["Threads"]), len(list((folder / "fd").iterdir()))


def bare_seconds(requests: Sequence[PageRequest]) -> float:
    """Return the seconds of the three networks over every request's text, on one thread.

    0 if no request has a text.
    """
    import torch

    from explorer.models.forward import run_model, tokenize
    from explorer.models.loading import load_model

    torch.set_num_threads(1)
    loaded = [load_model(spec) for spec in MINI.values()]
    texts = [question.text for question in requests if question.text]
    if not texts:
        return 0.0
    sample = texts[:: max(1, len(texts) // 100)]
    for model in loaded:
        run_model(model, tokenize(model, sample[0]))
    started = time.perf_counter()
    for text in sample:
        for model in loaded:
            run_model(model, tokenize(model, text))
    return (time.perf_counter() - started) * len(texts) / len(sample)


def called_seconds(requests: Sequence[PageRequest]) -> tuple[float, float]:
    """Return the same answers' wall seconds in this process, and CPU seconds a request.

    A view is replaced by ``/predict``.
    """
    from explorer.ui.shell.api import ENDPOINTS

    def call(question: PageRequest) -> None:
        with suppress(Refusal):  # a refusal counts as an answer
            ENDPOINTS.get(question.kind, ENDPOINTS["predict"])(*question.values)

    for question in page_requests(WARM):
        call(question)
    started, cpu_start = time.perf_counter(), time.process_time()
    for question in requests:
        call(question)
    wall, processor = time.perf_counter() - started, time.process_time() - cpu_start
    return wall, processor / len(requests)


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
