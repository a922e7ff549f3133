"""A cluster of three machines: a head with two pages behind nginx, and two with models.

They are namespaces of this machine; nothing else is pretended.
"""

import json
import logging
import shutil
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from benchmarks.questions import Visitor, is_same, page_requests, view_event
from explorer.middleware import validation
from explorer.models.specs import MODEL_KEYS
from explorer.ui.kit.strings import WENT_AWAY
from tests.inference import machines
from tests.inference.machines import ADDRESSES, FIRST, HEAD, RAY, ROOT, SECOND, TOOLS
from tests.waiting import until

pytest.importorskip("ray", reason="no Ray here: pip install -r deploy/requirements-serve.txt")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("nginx"), reason="no nginx here: apt-get install nginx"),
]
URL, PORTS = f"http://{ADDRESSES[HEAD]}:8080", (7861, 7862)
VISITORS = 4
DRAINED_S = 30
"""No answer of these visitors takes longer."""
logger = logging.getLogger(__name__)


class Cluster:
    """The machines, and what runs on them."""

    def __init__(self, folder):
        self.folder, self.pages = folder, {}
        self.conf = folder / "nginx.conf"
        written = (ROOT / "deploy" / "nginx.conf").read_text("utf-8")
        # All visitors of the test have one address.
        self.written = written.replace("rate=20r/s", "rate=999r/s").replace("40r/s", "999r/s")

    def start(self, name, *command):
        return machines.started(name, self.folder, *command)

    def join(self, name):
        """A machine of models takes part, and again whenever it was given up."""
        own = f"--node-ip-address={ADDRESSES[name]} --num-cpus=1 --block"
        ray = f"{TOOLS}/ray start --address={RAY} {own}"
        self.start(name, "sh", "-c", f"while :; do {ray}; sleep 1; done")

    def begin(self):
        """Start everything in the order of docs/serving.md."""
        head = (
            "--node-ip-address",
            ADDRESSES[HEAD],
            "--num-cpus",
            "0",
            "--temp-dir",
            self.folder / "ray",
        )
        self.start(
            HEAD, TOOLS / "ray", "start", "--head", "--include-dashboard=false", "--block", *head
        )
        until(lambda: opens(HEAD, 6379), 60)
        for name in (FIRST, SECOND):
            self.join(name)
        models = (
            "serve",
            "run",
            "--non-blocking",
            "--address",
            RAY,
            "explorer.serving.ray_app:models",
        )
        assert self.start(HEAD, TOOLS / models[0], *models[1:]).wait(300) == 0
        for port in PORTS:
            self.open_page(port)
        self.route()
        self.start(HEAD, "nginx", "-p", self.folder, "-c", self.conf, "-g", "daemon off;")
        until(lambda: answers(f"{URL}/"), 60)

    def open_page(self, port):
        """One page process, once it answers."""
        where = ("--host", ADDRESSES[HEAD], "--port", port, "--family", "mini")
        self.pages[port] = self.start(HEAD, TOOLS / "python", "app.py", "--models-at", RAY, *where)
        until(lambda: answers(f"http://{ADDRESSES[HEAD]}:{port}/"), 120)

    def route(self, drained=None):
        """The committed proxy, with one page marked down in its first upstream."""
        text = self.written.replace("127.0.0.1:", f"{ADDRESSES[HEAD]}:")
        if drained:
            server = f"server {ADDRESSES[HEAD]}:{drained}"
            text = text.replace(f"{server};", f"{server} down;", 1)
        self.conf.write_text(text)

    def reload(self, drained=None):
        self.route(drained)
        again = ("nginx", "-p", self.folder, "-c", self.conf, "-s", "reload")
        assert self.start(HEAD, *again).wait(20) == 0


def opens(name, port):
    try:
        return httpx.get(f"http://{ADDRESSES[name]}:{port}", timeout=2) is None
    except httpx.ConnectError:
        return False
    except httpx.HTTPError:
        return True


def answers(url):
    try:
        return httpx.get(url, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c")
    try:
        with machines.network():
            cluster = Cluster(folder)
            cluster.begin()
            yield cluster
    except PermissionError as error:
        pytest.skip(str(error))


class Visitors:
    """Visitors that send one request after the other until they are stopped."""

    def __init__(self, kind=None):
        self.kind, self.ends, self.view = kind, threading.Event(), view_event(URL)
        self.pool = ThreadPoolExecutor(VISITORS)

    def visit(self, number):
        visitor, told = Visitor(URL, self.view), []
        visitor.http.cookies.set("bfe", f"visitor-{number}")
        visitor.http.timeout = 120
        for question in page_requests(2000, first=1000 * number + time.time_ns() % 997):
            if self.ends.is_set():
                break
            if self.kind in (None, question.kind):
                told.append((time.monotonic(), visitor.send(question)))
        return told

    def __enter__(self):
        self.told = [self.pool.submit(self.visit, n) for n in range(VISITORS)]
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.told = [one.result(300) for one in self.told]

    def all(self, after=0.0):
        return [answer for told in self.told for begun, answer in told if begun > after]


def failed(answer):
    return answer.failure or ("" if not answer.text.startswith("event: error") else answer.text)


def call(text):
    """``/predict`` of a program that waits until it is answered well."""
    (question,) = [q for q in page_requests(2) if q.kind == "predict"]
    asked = type(question)("predict", (text, "mini", 5))
    return Visitor(URL, 0).send(asked)


def test_the_answers_are_those_of_one_process(cluster):
    from tests.endpoints import predict

    for name in (FIRST, SECOND):
        until(lambda name=name: set(machines.models_of(name)) == set(MODEL_KEYS), 240)
    for n in range(6):
        text = f"She put the [MASK] on table {n}."
        answer = call(text)
        assert not failed(answer)
        (found,) = json.loads(answer.text.partition("data: ")[2])
        assert is_same(json.dumps(found), json.dumps(predict(text, "mini", 5)))


def test_pages_are_restarted_one_after_the_other_and_no_answer_fails(cluster):
    with Visitors() as crowd:
        time.sleep(3)
        for port in PORTS:
            cluster.reload(drained=port)
            time.sleep(DRAINED_S)
            cluster.pages[port].send_signal(signal.SIGTERM)
            cluster.pages[port].wait(30)
            cluster.open_page(port)
            cluster.reload()
            time.sleep(3)
    slowest = max(answer.seconds for answer in crowd.all())
    logger.info("%d answers, slowest %.1f s", len(crowd.all()), slowest)
    assert len(crowd.all()) > 40
    assert [failed(answer) for answer in crowd.all() if failed(answer)] == []


def test_a_page_that_dies_costs_its_visitors_one_answer_each(cluster):
    with Visitors() as crowd:
        time.sleep(4)
        killed = time.monotonic()
        cluster.pages[PORTS[0]].kill()
        time.sleep(8)
    lost = [[failed(answer) for _, answer in told if failed(answer)] for told in crowd.told]
    assert max(map(len, lost)) <= 1
    said = [one for told in lost for one in told]
    known = (WENT_AWAY, validation.NO_ANSWER, "peer closed connection", "None")
    assert [one for one in said if not any(sentence in one for sentence in known)] == []
    assert all(any(begun > killed + 1 for begun, _ in told) for told in crowd.told), "all go on"
    cluster.open_page(PORTS[0])


def test_a_machine_of_models_is_cut_off_and_comes_back(cluster):
    with Visitors("predict") as crowd:
        time.sleep(3)
        machines.cable(FIRST, "down")
        cut = time.monotonic()
        time.sleep(45)
        steady = time.monotonic()
        time.sleep(10)
    bad = [answer for answer in crowd.all() if failed(answer)]
    slowest = max(answer.seconds for answer in crowd.all())
    logger.info("%d of %d failed, slowest %.1f s", len(bad), len(crowd.all()), slowest)
    assert [failed(answer) for answer in bad if WENT_AWAY not in failed(answer)] == []
    assert [failed(answer) for answer in crowd.all(after=steady) if failed(answer)] == []
    assert len(crowd.all(after=cut)) > VISITORS
    machines.cable(FIRST, "up")
    until(lambda: set(machines.models_of(FIRST)) == set(MODEL_KEYS), 240)
    assert not failed(call("He read a [MASK] at the river."))
