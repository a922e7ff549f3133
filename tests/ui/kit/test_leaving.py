"""A visitor who leaves takes the work along: asked over HTTP by a client that vanishes."""

import json
import socket
import threading
from contextlib import contextmanager
from threading import Semaphore
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.middleware import Middleware

from benchmarks.served import event_number, served
from explorer.middleware.concurrency import ConcurrencyLimiter
from explorer.middleware.request_filter import RequestFilter
from explorer.middleware.routes import Routes
from explorer.models import run
from explorer.scheduling.job_queue import MEASUREMENTS
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK, MeasurementLock
from explorer.ui.depth import folds as depth_folds
from explorer.ui.depth import patching
from explorer.ui.distillation import folds
from explorer.ui.kit.blocks import Page
from explorer.ui.kit.canvas import Canvas
from explorer.ui.kit.jobs import LONG
from explorer.ui.kit.running import left_by_now
from tests.waiting import until

pytestmark = pytest.mark.processes
TEXT = " ".join(["The cat sat on the [MASK] of the house and looked at the garden"] * 2)
OTHER = TEXT.replace("cat", "dog", 1)
CHOICE = ["mini", 32, 1, "encoder", "compute", "cpu", "float32", 20]
LINES = (
    MEASUREMENTS,
    LONG,
    folds.LIVE.queue,
    patching.PATCHING.queue,
    depth_folds.SIMILARITY.queue,
)
WORKERS = 3
"""Passes that may be under way at once."""
JOBS = {
    "show_words": [None],
    "show_sweep": [None],
    "follow": [None, OTHER],
    "run_live": [None, 2, "copied", 300, 2.0, 5.0, 2.0, 1.0, 0],
    "sweep": CHOICE,
}
"""Handler -> its inputs; a session's own state is not sent."""


class Passes(list):
    """The passes of networks that have begun; unless they are free, each waits for a permit."""

    def __init__(self):
        self.free, self.permits = True, Semaphore(0)

    def begin(self):
        self.append(threading.get_ident())
        until(lambda: self.free or self.permits.acquire(blocking=False))


@pytest.fixture
def passes(tiny_family, few_questions, monkeypatch):
    """Passes of one row each."""
    passes, infer = Passes(), MeasurementLock.infer

    @contextmanager
    def held(slot):
        passes.begin()
        with infer(slot):
            yield

    monkeypatch.setattr(MeasurementLock, "infer", held)
    monkeypatch.setattr(run.batches, "__defaults__", (1,))
    monkeypatch.setattr(run.patch_batches, "__defaults__", (1,))
    yield passes
    passes.free = True


def join(http, session, event, *values):
    body = {"data": list(values), "fn_index": event, "session_hash": session}
    http.post("/gradio_api/queue/join", json=body).raise_for_status()
    return http.stream("GET", "/gradio_api/queue/data", params={"session_hash": session})


def event_of(page, name):
    """The number of the event of a job, by the job's name."""
    return next(n for n, f in page.fns.items() if f.name == name)


def is_idle(page):
    busy = [job for job in page._queue.active_jobs if job is not None]
    turns = [thread for thread in threading.enumerate() if thread.name == "turn"]
    return not busy and not turns


@pytest.mark.parametrize("handler", JOBS)
def test_no_job_goes_on_when_its_visitor_has_left(page, url, passes, handler):
    with httpx.Client(base_url=url, timeout=300) as http:
        question = json.dumps({"params": {"text": TEXT}, "number": 1, "keep": []})
        with join(http, handler, event_number(page, "on_view"), question) as reply:
            assert "process_completed" in reply.read().decode()
        until(lambda: is_idle(page))
        opened, passes.free = len(passes), False
        passes.permits.release(WORKERS + 1)
        with join(http, handler, event_of(page, handler), *JOBS[handler]) as reply:
            lines = reply.iter_lines()  # held: a reader that is let go of hangs up
            next(line for line in lines if "process_starts" in line)
            until(lambda: len(passes) > opened + WORKERS or MEASUREMENT_LOCK.is_measuring)
            # Those at work: one that is answered is known to the queue for a moment longer.
            asked = [event for job in page._queue.active_jobs for event in job or ()]
            assert asked
    until(lambda: not any(event.alive for event in asked))
    until(lambda: all(queued.cancel_token.cancelled for line in LINES for queued in line._waiting))
    n, passes.free = len(passes), True
    until(lambda: is_idle(page))
    assert len(passes) - n <= WORKERS, "those that were about to begin, and none after"
    assert not len(MEASUREMENTS)


def test_long_work_takes_no_turn_of_compare(page):
    """Four strips at once would else keep every other visitor's Compare until one is through."""
    turns = {name: page.fns[event_of(page, name)].concurrency_id for name in JOBS}
    compare = page.fns[event_number(page, "on_view")].concurrency_id
    assert [name for name, queued in turns.items() if queued == compare] == []


def test_a_picture_hears_that_its_visitor_has_left():
    begun, told = threading.Event(), threading.Event()

    def work(_question: dict) -> str:
        has_left = left_by_now()
        assert not has_left()
        begun.set()
        until(has_left)
        told.set()
        return "{}"

    with Page(analytics_enabled=False) as small:
        picture = Canvas("attention/wall", asks=work)
    small.queue()
    doors = [Middleware(RequestFilter, routes=Routes()), Middleware(ConcurrencyLimiter)]
    with served(small, app_kwargs={"middleware": doors}) as url:
        place = urlsplit(url)
        asked = {"data": {}, "component_id": picture._id, "fn_name": "work", "session_hash": "s"}
        body = json.dumps(asked)
        with socket.create_connection((place.hostname, place.port), timeout=60) as visitor:
            visitor.sendall(
                "POST /gradio_api/component_server/ HTTP/1.1\r\nHost: a\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
            )
            assert begun.wait(60)
        assert told.wait(60)
