"""The first requests after a start: none fails, whatever they ask and however many they are."""

import json
import os
import subprocess
import sys
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from explorer import gate
from explorer.timing.line import MOST_OF_ONE
from tests.browser.conftest import answers, free_port
from tests.waiting import until

ROOT = Path(__file__).parents[1]
LIGHT = {"stopped", "stop", "<lambda>"}
"""Handlers that touch no model: a stop button."""
REQUESTS = [
    ("parameters", [["bert-base-uncased", "albert-base-v2", "mini-albert"]]),
    ("predict", ["The cat sat on the [MASK].", "mini", 3]),
    ("attention", ["The cat sat on the mat.", "mini", "albert", 0, 0]),
    ("distillation", ["The cat sat on the [MASK].", "mini", 2.0]),
    ("parameters", [["albert-xxlarge-v2", "distilbert-base-uncased"]]),
    ("predict", ["A [MASK] is not a [MASK].", "mini", 50]),
    ("latency", ["mini", 8, 1, 1, "cpu", "float32"]),
    ("attention", ["The nurse was tired.", "mini", "bert", 1, 2]),
]
N_REQUESTS, N_THREADS = 40, 8


def asked(url: str, name: str, data: list) -> str:
    """The last event of one request to a named endpoint: ``complete`` or ``error``."""
    call = f"{url}/gradio_api/call/{name}"
    post = urllib.request.Request(
        call, json.dumps({"data": data}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(post, timeout=300) as reply:
        event = json.load(reply)["event_id"]
    with urllib.request.urlopen(f"{call}/{event}", timeout=300) as reply:
        lines = reply.read().decode().splitlines()
    return [line.removeprefix("event: ") for line in lines if line.startswith("event: ")][-1]


def failures_of_a_start(log: Path) -> list[str]:
    """What failed of the requests that came in the instant the port answered."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False"}
    command = [sys.executable, "app.py", "--port", str(port), "--family", "mini"]
    with log.open("w") as out:
        server = subprocess.Popen(
            command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, env=environment
        )
    try:
        until(lambda: answers(url))
        # /parameters alone at first: it reaches for transformers sooner than the others.
        kinds = [REQUESTS[0]] * N_THREADS + REQUESTS * (N_REQUESTS // len(REQUESTS))
        timed = [place for place, (name, _) in enumerate(kinds) if name == "latency"]
        for place in timed[MOST_OF_ONE:]:  # an address has no more places among those who measure
            kinds[place] = REQUESTS[1]
        with ThreadPoolExecutor(N_THREADS) as pool:
            ends = list(pool.map(lambda one: asked(url, *one), kinds[:N_REQUESTS]))
    finally:
        server.terminate()
        server.wait(20)
    return [f"{kinds[i][0]}: {end}" for i, end in enumerate(ends) if end != "complete"]


def test_the_requests_of_the_first_instant_are_all_answered(tmp_path):
    log = tmp_path / "app.log"
    assert failures_of_a_start(log) == [], log.read_text()[-3000:]


@pytest.mark.slow
def test_ten_starts_under_fire_lose_no_request(tmp_path):
    lost = [failures_of_a_start(tmp_path / f"{i}.log") for i in range(10)]
    assert lost == [[]] * 10


def test_every_handler_waits_for_the_imports(page, monkeypatch):
    from explorer.ui.kit import errors

    class Reached(Exception):
        pass

    def stand_in(_say):
        raise Reached

    monkeypatch.setattr(errors, "wait_for_gate", stand_in)
    waiting = []
    for function in page.fns.values():
        if function.fn is None or function.fn.__name__ in LIGHT:
            continue
        try:
            list(function.fn() or ())
        except Exception as error:
            if isinstance(error.__cause__, Reached):
                continue
        waiting.append(function.fn.__name__)
    assert waiting == []


def test_who_waits_longer_than_a_moment_is_told_once(monkeypatch):
    done, said = threading.Event(), []
    monkeypatch.setattr(gate, "_thread", None)
    monkeypatch.setattr(gate, "_import_all", lambda: done.wait(60))
    monkeypatch.setattr(gate, "PATIENCE_S", 0.05)

    def say():
        said.append("starting")
        done.set()

    gate.wait_for_gate(say)
    assert said == ["starting"]
    assert done.is_set()
    gate.wait_for_gate(say)
    assert said == ["starting"]


def test_the_imports_run_once_for_all_who_wait(monkeypatch):
    runs = []
    monkeypatch.setattr(gate, "_thread", None)
    monkeypatch.setattr(gate, "_import_all", lambda: runs.append(threading.current_thread().name))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: gate.wait_for_gate(), range(8)))
    assert runs == ["imports"]
