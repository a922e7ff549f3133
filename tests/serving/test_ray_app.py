"""The page and its models under Ray Serve, as processes of their own: ``serve run`` itself."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from benchmarks.questions import Visitor, is_same, page_requests, view_event
from explorer.ui.kit.strings import ELSEWHERE, WENT_AWAY
from tests.waiting import until

pytest.importorskip("ray", reason="no Ray here: pip install -r deploy/requirements-serve.txt")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
START = "import sys; from ray.serve.scripts import cli; sys.argv = ['serve', *sys.argv[1:]]; cli()"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A Ray of our own with the bundled family."""
    environment = os.environ | {
        "EXPLORER_CPUS": "0.25",
        "EXPLORER_FAMILY": "mini",
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(ROOT),
        "RAY_AUTH_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    log = (tmp_path_factory.mktemp("ray") / "log").open("w")
    process = subprocess.Popen(
        [sys.executable, "-c", START, "run", "explorer.serving.ray_app:app"],
        cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True,
    )  # fmt: skip
    url = "http://127.0.0.1:8000"
    try:
        until(lambda: answers(url), seconds=300)
        yield url
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(60)


def answers(url):
    try:
        return httpx.get(url, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def call(url, name, *values):
    api = f"{url}/gradio_api/call/{name}"
    event = httpx.post(api, json={"data": values}, timeout=60).raise_for_status().json()["event_id"]
    reply = httpx.get(f"{api}/{event}", timeout=300).text
    kind, _, said = reply[reply.rindex("event: ") + 7 :].partition("\ndata: ")
    return kind, json.loads(said)


def test_the_answers_are_those_of_one_process(url):
    from tests.endpoints import depth, predict, sentiment

    text = "She put the [MASK] on the table."
    for name, own, values in (
        ("predict", predict, (text, "mini", 5)),
        ("depth", depth, (text, "mini", "albert")),
        ("sentiment", sentiment, ("A lovely film.", "mini")),
    ):
        kind, (found,) = call(url, name, *values)
        assert kind == "complete"
        assert is_same(json.dumps(found), json.dumps(own(*values))), name


def test_nothing_is_timed_and_the_page_says_why(url):
    kind, said = call(url, "latency", "mini", 16, 1, 5, "cpu", "float32")
    assert kind == "error"
    assert ELSEWHERE in json.dumps(said)


def test_many_visitors_are_each_answered_as_one_alone(url):
    asked, view = page_requests(96, 400), view_event(url)
    one = Visitor(url, view)
    alone = [one.send(question) for question in asked]
    assert [answer.failure for answer in alone if answer.failure] == []
    again = page_requests(96, 400)

    def visit(session):
        visitor = Visitor(url, view)
        return [(n, visitor.send(again[n])) for n in range(session, len(again), 12)]

    with ThreadPoolExecutor(12) as pool:
        for n, answer in (pair for found in pool.map(visit, range(12)) for pair in found):
            assert is_same(alone[n].text, answer.text), again[n]


def replicas(model):
    """The processes that hold a model."""
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True)
    found = re.findall(rf"^\s*(\d+) ray::\S*:{model}\b", listed.stdout, re.MULTILINE)
    return [int(pid) for pid in found]


def test_a_machine_that_dies_in_mid_answer_is_a_sentence_and_the_next_answer_is_right(url):
    text = "He read a [MASK] in the garden."
    _, (before,) = call(url, "predict", text, "mini", 5)
    (victim,) = replicas("bert")
    said = []
    passage = " ".join(["The old house stood by the river and nobody lived in it."] * 60)
    asking = threading.Thread(
        target=lambda: said.append(call(url, "question", "Where did it stand?", passage, "mini"))
    )
    asking.start()
    asking.join(0.3)
    os.kill(victim, signal.SIGKILL)
    asking.join(120)
    kind, what = said[0]
    assert kind == "complete" or WENT_AWAY in json.dumps(what)
    until(lambda: replicas("bert") not in ([], [victim]), seconds=120)
    other = "He read a [MASK] in the kitchen."
    until(lambda: call(url, "predict", other, "mini", 5)[0] == "complete", seconds=120)
    _, (after,) = call(url, "predict", text, "mini", 5)
    assert after == before
    kind, (found,) = call(url, "predict", "She wrote a [MASK] at night.", "mini", 5)
    assert kind == "complete"
    assert len(found["models"]) == 3
