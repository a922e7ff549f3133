"""Two servers in turn: what each round asks, what it counts, and a small run."""

import itertools
import os
import re
import sys
import threading
from argparse import Namespace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from benchmarks import versus
from benchmarks.questions import KINDS, Answer, Visitor


def test_no_round_asks_what_another_has_asked():
    assert versus.requests_of_kinds(["predict"], 1, 0, "base")[0].values[1:] == ("base", 5)
    for kinds in (KINDS, ["predict"], ["on_view"], ["depth", "on_view"]):
        first, second = (
            versus.requests_of_kinds(kinds, 12, 0),
            versus.requests_of_kinds(kinds, 12, 12),
        )
        assert len(first) == len(second) == 12
        assert {question.kind for question in first} == {*kinds}
        assert not {q.text for q in first if q.text} & {q.text for q in second}


def test_work_of_the_machine_is_counted_in_seconds(monkeypatch, tmp_path):
    """In user, nice and system, and in nothing else; the second line is one processor's own."""
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 20 3 4000 500 60 7 0 0 0\ncpu0 50 10 1 2000 250 30 3 0 0 0\n")
    monkeypatch.setattr(versus, "Path", {"/proc/stat": stat}.get)
    assert versus.processor_seconds() == 123 / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def servers(monkeypatch):
    """A slow server that works hard and a fast one that does not; ``faults`` of them fail."""
    seconds, clock, faults = {"slow": 3.0, "fast": 1.0}, [0.0], []

    def ask_all(url, asked, sessions):
        clock[0] += 10 * seconds[url]
        said = [Answer("x", 0.1, "lost" if url in faults else "") for _ in asked]
        return said, seconds[url]

    monkeypatch.setattr(versus, "send_all", ask_all)
    monkeypatch.setattr(versus, "processor_seconds", lambda: clock[0])
    return faults


CHOSEN = Namespace(
    url="slow", over="fast", kind=["predict"], family="mini", sessions=2, requests=2, rounds=9
)


def test_the_first_is_compared_with_the_second(servers, capsys):
    assert versus.run(CHOSEN) == 0
    said = capsys.readouterr().out
    assert "wall time: 3.00 s over 1.00 s, ratio 3.00 [3.00, 3.00] (9 rounds of 4" in said
    assert "machine: 30.00 s over 10.00 s, ratio 3.00" in said
    assert "failed: 0" in said


def test_in_place_of_the_second_the_networks_alone(servers, monkeypatch, capsys):
    asked, seconds = [], itertools.count()
    monkeypatch.setattr(versus, "bare_seconds", lambda one: asked.append(one) or 0.5)
    monkeypatch.setattr(versus, "processor_seconds", lambda: float(next(seconds)))
    assert versus.run(Namespace(**{**vars(CHOSEN), "over": versus.BARE})) == 0
    assert "wall time: 3.00 s over 0.50 s, ratio 6.00" in capsys.readouterr().out
    assert [len(one) for one in asked] == [4] * 10


@pytest.mark.skipif(
    sys.platform != "linux", reason="needs Linux, where all of 127/8 is this machine"
)
def test_every_session_comes_from_an_address_of_its_own():
    met = []

    class Server(BaseHTTPRequestHandler):
        def do_POST(self):
            met.append((self.client_address[0], self.headers.get("x-forwarded-for")))
            self.send_error(400)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever).start()
    question = versus.requests_of_kinds(["predict"], 1, 0)[0]
    for _ in range(2):
        Visitor(f"http://127.0.0.1:{server.server_port}", 0).send(question)
    server.shutdown()
    server.server_close()
    assert len({address for address, _ in met} - {"127.0.0.1"}) == 2
    assert [header for _, header in met] == [None, None]


def test_what_failed_is_said(servers, capsys):
    servers.append("fast")
    assert versus.run(CHOSEN) == 1
    assert re.search(r"failed: 40\b", capsys.readouterr().out), "nine rounds and the first"
