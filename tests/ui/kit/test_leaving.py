"""A visitor who leaves takes the work along: asked over HTTP by a client that vanishes."""

import json
import logging
import threading
import time
from contextlib import contextmanager

import httpx
import pytest

from explorer.bench.served import event_number
from explorer.models import rows
from explorer.timing.line import MEASUREMENTS
from explorer.timing.slot import SLOT, Slot
from tests.waiting import until

logger = logging.getLogger(__name__)
TEXT = " ".join(["The cat sat on the [MASK] of the house and looked at the garden"] * 2)
OTHER = TEXT.replace("cat", "dog", 1)
CHOICE = ["mini", 32, 1, "encoder", "compute", "cpu", "float32"]
PASS_S = 0.3
JOBS = {
    "show_words": [None],
    "show_sweep": [None],
    "follow": [None, OTHER],
    "run_live": [None, 2, "copied", 300, 2.0, 5.0, 2.0, 1.0, 0],
    "sweep": CHOICE,
}
"""Handler -> its inputs; a session's own state is not sent."""


@pytest.fixture
def passes(tiny_family, few_questions, monkeypatch):
    """When each pass of a network began; each takes its time, and one row."""
    begun, infer = [], Slot.infer

    @contextmanager
    def slowly(slot):
        begun.append(time.monotonic())
        time.sleep(PASS_S)
        with infer(slot):
            yield

    monkeypatch.setattr(Slot, "infer", slowly)
    monkeypatch.setattr(rows.batches, "__defaults__", (1,))
    monkeypatch.setattr(rows.patch_batches, "__defaults__", (1,))
    return begun


def join(http, session, event, *values):
    body = {"data": list(values), "fn_index": event, "session_hash": session}
    http.post("/gradio_api/queue/join", json=body).raise_for_status()
    return http.stream("GET", "/gradio_api/queue/data", params={"session_hash": session})


def event_of(page, name):
    """The number of an event by its handler's name, or by the picture that it draws."""
    found = (
        n
        for n, f in page.fns.items()
        if f"latency/{name}" in {getattr(o, "kind", "") for o in f.outputs}
    )
    return next(found, None) or event_number(page, name)


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
        opened = len(passes)
        with join(http, handler, event_of(page, handler), *JOBS[handler]) as reply:
            lines = reply.iter_lines()  # held: a reader that is let go of hangs up
            next(line for line in lines if "process_starts" in line)
            until(lambda: len(passes) > opened + 3 or measures(), seconds=60)
    left, n = time.monotonic(), len(passes)
    until(lambda: is_idle(page), seconds=60)
    took = time.monotonic() - left
    logger.info("%s ended after %.2f s and %d passes", handler, took, len(passes) - n)
    assert len(passes) - n <= 6, "those in flight, and none after"
    assert took < 4, "two seconds are the goal, on a machine that does nothing else"
    time.sleep(3 * PASS_S)
    assert is_idle(page)
    assert not len(MEASUREMENTS)


def test_long_work_takes_no_turn_of_compare(page):
    """Four strips at once would else keep every other visitor's Compare until one is through."""
    turns = {name: page.fns[event_of(page, name)].concurrency_id for name in JOBS}
    compare = page.fns[event_number(page, "on_view")].concurrency_id
    assert [name for name, turn in turns.items() if turn == compare] == []


def measures():
    """Whether somebody's measurement has begun."""
    return SLOT.is_measuring and not time.sleep(0.5)
