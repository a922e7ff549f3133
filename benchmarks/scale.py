"""``python -m benchmarks scale``: the page's limit, with models that answer after a set time.

A replica is a slot of a semaphore: it holds one text for the time given and computes nothing, so
that any number of them fits on one machine. The page is the real one.
"""

import argparse
import itertools
import multiprocessing
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks import start
from benchmarks.load import processor_seconds
from benchmarks.questions import VIEW, Answer, PageRequest, Visitor, page_requests, view_event
from benchmarks.served import free_port
from explorer.context import configure
from explorer.inference import runs
from explorer.inference.backend import OnProgress
from explorer.inference.local import LocalBackend
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.models.specs import MINI, MODEL_KEYS, NetworkKey

TEXTS = 256
"""Number of texts that the visitors ask about in turn."""
NEXT = itertools.count()
KEPT_BYTES = 40 * 2**20
"""Cache of runs on all pages: room for those in progress, none for a text that comes again."""
SPAWN = multiprocessing.get_context("spawn")
Semaphores = Mapping[str, Any]
"""Semaphores of the models by key, shared by all pages."""


def add_command(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Declare the command and its flags."""
    parser = commands.add_parser("scale", help="the page's limit, with models that only wait")
    parser.set_defaults(run=run)
    parser.add_argument("--pages", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--replicas", type=int, nargs="+", default=[1, 2, 4, 8], help="each model")
    parser.add_argument("--visitors", type=int, nargs="+", default=[1, 4, 16, 48])
    parser.add_argument("--service-ms", type=float, default=100.0, help="of one text in a model")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each number of visitors")
    parser.add_argument(
        "--models-at", metavar="ADDRESS", help="the models of a Ray cluster instead"
    )


def run(chosen: argparse.Namespace) -> int:
    """Print throughput, times and the pages' CPU time; return 1 if an answer failed."""
    failed = 0
    for n_pages, n_replicas in itertools.product(chosen.pages, chosen.replicas):
        with pages(n_pages, n_replicas, chosen) as processes:
            for visitors in chosen.visitors:
                level = measured_level(processes, visitors, chosen.seconds)
                failed += level.failed
                sys.stdout.write(f"pages {n_pages}, replicas {n_replicas}, {level}\n")
                sys.stdout.flush()
    return 1 if failed else 0


@dataclass(frozen=True, slots=True)
class Level:
    """Results of a number of visitors, each of whom asks again as soon as there is an answer."""

    visitors: int
    per_second: float
    p50_ms: float
    p95_ms: float
    processor_ms: float
    """CPU time of all pages together, for one answer."""
    failed: int

    def __str__(self) -> str:
        return (
            f"visitors {self.visitors}: {self.per_second:.1f} answers a second, "
            f"p50 {self.p50_ms:.0f} ms, p95 {self.p95_ms:.0f} ms, "
            f"{self.processor_ms:.0f} ms of processor for each, {self.failed} failed"
        )


class DelayedBackend(LocalBackend):
    """Backend with precomputed answers, each delayed by the time of a pass."""

    def __init__(self, semaphores: Semaphores, service_s: float) -> None:
        super().__init__()
        self._semaphores, self._service_s = semaphores, service_s
        self._waiters = ThreadPoolExecutor(3 * 64, "waiter")
        self._precomputed: dict[tuple[str, str], Run] = {}

    def learn(self, text: str) -> None:
        """Precompute the answers about a text."""
        for key, spec in MINI.items():
            self._precomputed[key, text] = (
                super().run(NetworkKey(spec, "cpu", "float32"), text, None).result()
            )

    def run(self, key: NetworkKey, text: str, report: OnProgress | None) -> "Future[Run]":
        """Return the delayed run of a precomputed text; run any other text at once."""
        if (key.spec.key, text) not in self._precomputed:
            return super().run(key, text, report)
        return self._waiters.submit(self._after_a_while, key.spec.key, text)

    def _after_a_while(self, key: str, text: str) -> Run:
        with self._semaphores[key]:
            time.sleep(self._service_s)
        return replace(self._precomputed[key, text])


def texts() -> list[str]:
    """Return the texts that visitors ask about."""
    requests = page_requests(20 * TEXTS)
    return [question.text for question in requests if question.kind == VIEW][:TEXTS]


def serve(port: int, line: Semaphores, chosen: argparse.Namespace, kept_bytes: int) -> None:
    """Serve one page in this process until it is killed."""
    from explorer.ui.shell.page import build_page, launch_options

    if chosen.models_at:
        from explorer.serving.ray_client import connect

        connect(chosen.models_at)
    else:
        backend = DelayedBackend(line, chosen.service_ms / 1e3)
        configure(backend=backend)
        from explorer.ui.kit import running

        running.widen()
        for text in texts():
            backend.learn(text)
    runs.CACHE.limit = kept_bytes
    page = build_page(PageState(family="mini"))
    address = {"server_name": "127.0.0.1", "server_port": port, "quiet": True, "_frontend": False}
    page.launch(**(launch_options() | address))


@contextmanager
def pages(count: int, n_replicas: int, chosen: argparse.Namespace) -> Iterator[dict[str, int]]:
    """Serve pages over the same replicas; yield their URLs, each with its process id."""
    line = {key: SPAWN.Semaphore(n_replicas) for key in MODEL_KEYS}
    ports = [free_port() for _ in range(count)]
    shared = (line, chosen, KEPT_BYTES // count)
    processes = [SPAWN.Process(target=serve, args=(port, *shared)) for port in ports]
    for process in processes:
        process.start()
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    try:
        for url in urls:
            start.wait_for(url)
        pids = {url: int(process.pid or 0) for url, process in zip(urls, processes, strict=True)}
        measured_level(pids, 2 * count, 2.0)
        yield pids
    finally:
        for process in processes:
            process.kill()
            process.join()


def measured_level(processes: Mapping[str, int], visitors: int, seconds: float) -> Level:
    """Let visitors ask for a number of seconds, and return the level that they reach."""
    urls, sentences = list(processes), texts()
    view = view_event(urls[0])
    ends = time.monotonic() + seconds

    def visit(number: int) -> list[Answer]:
        visitor = Visitor(urls[number % len(urls)], view)
        answers: list[Answer] = []
        while time.monotonic() < ends:
            text = sentences[next(NEXT) % TEXTS]
            answers.append(visitor.send(PageRequest(VIEW, (text, "mini"))))
        return answers

    before, started = spent(processes), time.monotonic()
    with ThreadPoolExecutor(visitors) as pool:
        answers = list(itertools.chain.from_iterable(pool.map(visit, range(visitors))))
    elapsed, cpu_seconds = time.monotonic() - started, spent(processes) - before
    p50, p95 = 1e3 * np.percentile([answer.seconds for answer in answers], (50, 95))
    failed = sum(bool(answer.failure) for answer in answers)
    return Level(
        visitors, len(answers) / elapsed, p50, p95, 1e3 * cpu_seconds / len(answers), failed
    )


def spent(processes: Mapping[str, int]) -> float:
    """Return the CPU seconds of the pages so far, on Linux."""
    return sum(map(processor_seconds, processes.values()))
