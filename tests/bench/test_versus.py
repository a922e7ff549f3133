"""Two servers in turn: what each round asks, what it counts, and a small run."""

import re
import time
from argparse import Namespace

import pytest

from explorer.bench import versus
from explorer.bench.questions import Answer


def test_no_round_asks_what_another_has_asked():
    for kind in (None, "predict", "on_view"):
        first, second = versus.asked_of(kind, 12, 0), versus.asked_of(kind, 12, 12)
        assert len(first) == len(second) == 12
        assert kind != "predict" or versus.asked_of(kind, 1, 0, "base")[0].values[1:] == ("base", 5)
        assert kind is None or {question.kind for question in first} == {kind}
        assert not {q.text for q in first if q.text} & {q.text for q in second}


def test_work_of_the_machine_is_counted_in_seconds():
    before, begun = versus.processor_seconds(), time.process_time()
    while time.process_time() < begun + 0.5:
        pass
    assert versus.processor_seconds() - before >= 0.4


@pytest.fixture
def servers(monkeypatch):
    """A slow server that works hard and a fast one that does not; ``faults`` of them fail."""
    seconds, clock, faults = {"slow": 3.0, "fast": 1.0}, [0.0], []

    def ask_all(url, asked, sessions):
        clock[0] += 10 * seconds[url]
        said = [Answer("x", 0.1, "lost" if url in faults else "") for _ in asked]
        return said, seconds[url]

    monkeypatch.setattr(versus, "ask_all", ask_all)
    monkeypatch.setattr(versus, "processor_seconds", lambda: clock[0])
    return faults


CHOSEN = Namespace(
    url="slow", over="fast", kind="predict", family="mini", sessions=2, requests=2, rounds=9
)


def test_the_first_is_compared_with_the_second(servers, capsys):
    assert versus.run(CHOSEN) == 0
    said = capsys.readouterr().out
    assert "wall time: 3.00 s over 1.00 s, ratio 3.00 [3.00, 3.00] (9 rounds of 4" in said
    assert "machine: 30.00 s over 10.00 s, ratio 3.00" in said
    assert "failed: 0" in said


def test_what_failed_is_said(servers, capsys):
    servers.append("fast")
    assert versus.run(CHOSEN) == 1
    assert re.search(r"failed: 40\b", capsys.readouterr().out), "nine rounds and the first"
