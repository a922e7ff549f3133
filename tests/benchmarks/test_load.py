"""Many sessions at once: what is asked, what counts as the same answer, and a small run."""

import os
import re
import time
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest

from benchmarks import load
from benchmarks.questions import (
    ENDPOINTS,
    KINDS,
    VIEW,
    Answer,
    first_difference,
    is_same,
    page_requests,
)
from explorer import limits


def test_questions_are_of_every_kind_and_no_two_share_a_text():
    asked = page_requests(40)
    assert {q.kind for q in asked} == {VIEW, "parameters", *ENDPOINTS}
    texts = [q.text for q in asked if q.text]
    assert len(set(texts)) == len(texts)
    assert page_requests(10) == asked[:10], "and every run asks the same"
    assert not {q.text for q in page_requests(40, 40)} & set(texts), (
        "nor with those of another part"
    )


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ('{"token": "to", "p": 0.31234}', '{"token": "to", "p": 0.31235}', True),
        ('{"token": "to", "p": 0.31234}', '{"token": "in", "p": 0.31234}', False),
        ('{"token": "to", "p": 0.31}', '{"token": "to", "p": 0.35}', False),
        ("[1, 2]", "[1, 2, 3]", False),
        ("2 of 3 words", "2 of 3 words", True),
    ],
)
def test_answers_are_the_same_but_for_last_digits(one, other, alike):
    assert is_same(one, other) == alike
    assert load.is_wrong(Answer(one, 0.1), Answer(other, 0.2)) != alike


@pytest.fixture
def small(url, tiny_family, monkeypatch):
    """The random family served in this process; two questions before the first that counts."""

    @contextmanager
    def serve():
        yield url, 0

    monkeypatch.setattr(load, "WARM", 2)
    monkeypatch.setattr(load, "served_app", serve)
    return Namespace(sessions=3, requests=4, kind=KINDS, url=None, programs=0)


@pytest.mark.processes
def test_every_answer_among_many_is_that_of_one_visitor(small, capsys):
    assert load.run(small) == 0
    said = capsys.readouterr().out
    assert "12 requests of 3 sessions at once" in said
    assert "wrong or crossed: 0; failed: 0" in said
    assert len(re.findall(r"throughput over that of .*: \d", said)) == 2
    spent = float(re.search(r"processor time of the endpoints' functions: (\d+) ms", said)[1])
    assert spent > 0
    assert re.search(r"p95: \d+ ms, of one visitor \d+ ms: ratio \d", said)


@pytest.mark.processes
def test_questions_of_one_kind_are_asked_alone_even_those_without_a_text(small, capsys):
    small.kind, asked = ["parameters"], []
    ask = load.send_all
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            load, "send_all", lambda url, them, *a: asked.append(them) or ask(url, them, *a)
        )
        assert load.run(small) == 0
    assert {question.kind for question in asked[-1]} == {"parameters"}
    assert len(asked[-1]) == 12
    assert "throughput over that of bare forwards on one thread, one after another: 0.00" in (
        capsys.readouterr().out
    )


@pytest.fixture
def a_class(small, monkeypatch):
    """Four programs with two questions each, whose process is a thread of this one."""
    monkeypatch.setattr(load, "ProcessPoolExecutor", lambda n, _context: ThreadPoolExecutor(n))
    for name, value in {"WARM": 2, "FEWEST": 2, "EVERY_S": 0.05, "MAX_RATIO": 1e9}.items():
        monkeypatch.setattr(load, name, value)
    small.programs, small.requests = 4, 2
    return small


@pytest.mark.processes
def test_a_class_of_programs_at_one_address_is_answered_as_one_alone(a_class, capsys):
    assert load.run(a_class) == 0
    said = capsys.readouterr().out
    assert "8 questions of a class of 4 at one address" in said
    assert "wrong or crossed: 0; failed: 0" in said
    assert re.search(r"a visitor meanwhile: \d+ presses, p50 \d+ ms, p95 \d+ ms", said)


@pytest.mark.processes
def test_a_program_that_is_refused_for_want_of_room_has_failed(a_class, capsys, monkeypatch):
    monkeypatch.setattr(limits, "PROGRAMS", replace(limits.PROGRAMS, maximum=0))
    assert load.run(a_class) == 1
    assert "failed: 8 ['HTTPStatusError" in capsys.readouterr().out


@pytest.mark.processes
@pytest.mark.parametrize(("meanwhile_s", "code"), [(1.0, 0), (1.01, 1)])
def test_a_visitor_who_waits_too_long_beside_a_class_is_a_failure(
    a_class, monkeypatch, meanwhile_s, code
):
    waited = iter([[0.1] * 20, [meanwhile_s] * 20])
    monkeypatch.setattr(load, "MAX_RATIO", 10.0)
    monkeypatch.setattr(load, "compare_seconds", lambda *_: next(waited))
    monkeypatch.setattr(
        load, "answers_of_class", lambda _, asked, __: [Answer("a", 1)] * len(asked)
    )
    assert load.run(a_class) == code


@pytest.mark.processes
def test_a_crossed_answer_is_counted(small, monkeypatch, capsys):
    answered = load.timed_answers

    def crossed(serve, asked, sessions, quiet=False):
        answers, wall = answered(serve, asked, sessions, quiet)
        if sessions > 1:
            answers[1], answers[2] = answers[2], answers[1]
        return answers, wall

    monkeypatch.setattr(load, "timed_answers", crossed)
    assert load.run(small) == 1
    said = capsys.readouterr().out
    assert "wrong or crossed: 2" in said
    assert len(re.findall(r"^  \w+ \(.* \| ", said, re.MULTILINE)) == 2, "both are shown"


def test_what_is_wrong_in_an_answer_is_shown_with_what_stands_around_it():
    one, other = '{"a": 1, "b": 2.0001, "c": 3, "d": 4}', '{"a": 1, "b": 2.0002, "c": 5, "d": 4}'
    assert (
        first_difference(one, other)
        == '{"a": 1, "b": 2.0001, "c": 3, "d": 4} | {"a": 1, "b": 2.0002, "c": 5, "d": 4}'
    )
    assert first_difference("1,2,3,4,5,6", "1,2,3,4,7,6") == "2,3,4,5,6 | 2,3,4,7,6"
    assert first_difference("1,2", "1,2,3").endswith("| 1,2,3")


def test_what_a_process_holds_is_read():
    memory, threads, files = load.held_by(os.getpid())
    assert memory > 50
    assert threads >= 1
    assert files >= 3
    assert load.held_by(2**30) == (0, 0, 0)
    tick = 2 / os.sysconf("SC_CLK_TCK")
    before = time.process_time()
    found = load.processor_seconds(os.getpid())
    assert before - tick <= found <= time.process_time() + tick
    assert load.processor_seconds(2**30) == 0
