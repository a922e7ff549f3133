"""``python -m benchmarks scale``: the page's limit, with models that answer after a set time.

A replica is a place in a line: it holds one text for the time given and computes nothing, so that
any number of them fits on one machine. The page is the real one.
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
from benchmarks.questions import VIEW, Answer, Question, Visitor, questions, view_event
from benchmarks.served import free_port
from explorer.inference import runs
from explorer.inference.backend import OnProgress
from explorer.inference.local import LocalBackend
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.models.specs import MINI, MODEL_KEYS, NetworkKey
from explorer.ui.kit import running

TEXTS = 256
"""Asked in turn, by all visitors together."""
NEXT = itertools.count()
KEPT_BYTES = 40 * 2**20
"""Of runs, on all pages: those under way, and none that is there when its text comes again."""
SPAWN = multiprocessing.get_context("spawn")
Line = Mapping[str, Any]
"""The semaphore of each model, shared by all pages."""


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
    """Print throughput, times and the pages' processor time; 1 where an answer failed."""
    failed = 0
    for n_pages, n_replicas in itertools.product(chosen.pages, chosen.replicas):
        with pages(n_pages, n_replicas, chosen) as found:
            for visitors in chosen.visitors:
                level = asked(found, visitors, chosen.seconds)
                failed += level.failed
                sys.stdout.write(f"pages {n_pages}, replicas {n_replicas}, {level}\n")
                sys.stdout.flush()
    return 1 if failed else 0


@dataclass(frozen=True, slots=True)
class Level:
    """What came of so many visitors, each of whom asks again as soon as there is an answer."""

    visitors: int
    per_second: float
    p50_ms: float
    p95_ms: float
    processor_ms: float
    """Of all pages together, for one answer."""
    failed: int

    def __str__(self) -> str:
        return (
            f"visitors {self.visitors}: {self.per_second:.1f} answers a second, "
            f"p50 {self.p50_ms:.0f} ms, p95 {self.p95_ms:.0f} ms, "
            f"{self.processor_ms:.0f} ms of processor for each, {self.failed} failed"
        )


class Standing(LocalBackend):
    """Models whose answers were computed before; each is held back as long as a pass takes."""

    def __init__(self, line: Line, service_s: float) -> None:
        super().__init__()
        self._line, self._service_s = line, service_s
        self._waiters = ThreadPoolExecutor(3 * 64, "waiter")
        self._known: dict[tuple[str, str], Run] = {}

    def learn(self, text: str) -> None:
        """Compute the answers about a text, for later."""
        for key, spec in MINI.items():
            self._known[key, text] = (
                super().run(NetworkKey(spec, "cpu", "float32"), text, None).result()
            )

    def run(self, where: NetworkKey, text: str, report: OnProgress | None) -> "Future[Run]":
        """The run of a text that was learnt; of another one at once."""
        if (where.spec.key, text) not in self._known:
            return super().run(where, text, report)
        return self._waiters.submit(self._after_a_while, where.spec.key, text)

    def _after_a_while(self, key: str, text: str) -> Run:
        with self._line[key]:
            time.sleep(self._service_s)
        return replace(self._known[key, text])


def texts() -> list[str]:
    """What visitors ask about."""
    made = questions(20 * TEXTS)
    return [question.text for question in made if question.kind == VIEW][:TEXTS]


def serve(port: int, line: Line, chosen: argparse.Namespace, kept_bytes: int) -> None:
    """One page, in a process of its own, until that is ended."""
    from explorer.ui.shell.page import build_page, launch_options

    if chosen.models_at:
        from explorer.serving.ray_client import connect

        connect(chosen.models_at)
    else:
        place = Standing(line, chosen.service_ms / 1e3)
        runs.BACKEND[:] = [place]
        running.widen()
        for text in texts():
            place.learn(text)
    runs.CACHE.limit = kept_bytes
    page = build_page(PageState(family="mini"))
    where = {"server_name": "127.0.0.1", "server_port": port, "quiet": True, "_frontend": False}
    page.launch(**(launch_options() | where))


@contextmanager
def pages(count: int, n_replicas: int, chosen: argparse.Namespace) -> Iterator[dict[str, int]]:
    """So many pages over the same replicas: their addresses, each with its process."""
    line = {key: SPAWN.Semaphore(n_replicas) for key in MODEL_KEYS}
    ports = [free_port() for _ in range(count)]
    each = (line, chosen, KEPT_BYTES // count)
    begun = [SPAWN.Process(target=serve, args=(port, *each)) for port in ports]
    for one in begun:
        one.start()
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    try:
        for url in urls:
            start.wait_for(url)
        found = {url: int(one.pid or 0) for url, one in zip(urls, begun, strict=True)}
        asked(found, 2 * count, 2.0)
        yield found
    finally:
        for one in begun:
            one.kill()
            one.join()


def asked(found: Mapping[str, int], visitors: int, seconds: float) -> Level:
    """Let visitors ask for so long."""
    urls, about = list(found), texts()
    view = view_event(urls[0])
    ends = time.monotonic() + seconds

    def visit(number: int) -> list[Answer]:
        visitor = Visitor(urls[number % len(urls)], view)
        told: list[Answer] = []
        while time.monotonic() < ends:
            text = about[next(NEXT) % TEXTS]
            told.append(visitor.ask(Question(VIEW, (text, "mini"))))
        return told

    before, begun = spent(found), time.monotonic()
    with ThreadPoolExecutor(visitors) as pool:
        told = list(itertools.chain.from_iterable(pool.map(visit, range(visitors))))
    took, worked = time.monotonic() - begun, spent(found) - before
    p50, p95 = 1e3 * np.percentile([answer.seconds for answer in told], (50, 95))
    failed = sum(bool(answer.failure) for answer in told)
    return Level(visitors, len(told) / took, p50, p95, 1e3 * worked / len(told), failed)


def spent(found: Mapping[str, int]) -> float:
    """Processor seconds of the pages so far, as Linux counts them."""
    return sum(map(processor_seconds, found.values()))
