"""The fuzzer asks the same for a seed, and knows a failure from the answer or from the log."""

import argparse
import json
import logging
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from benchmarks import fuzz
from benchmarks.nonsense import Nonsense
from benchmarks.start import Traceback, tracebacks
from explorer.ui.kit.strings import UNEXPECTED
from explorer.ui.shell.api import ENDPOINTS, TABLE


@pytest.fixture(scope="module")
def settings(page):
    return json.loads(json.dumps(page.get_config_file(), default=str))


def test_a_seed_says_what_is_asked(settings):
    def plan(seed):
        source = Nonsense(seed)
        return [fuzz.random_request(source, settings, "s") for _ in range(200)]

    assert plan(1) == plan(1)
    assert plan(1) != plan(2)


def test_a_session_that_no_address_can_hold_is_asked_about_all_the_same():
    body = {"data": [], "fn_index": 1, "session_hash": "s"}
    asked = fuzz.page_request("x", body, json.dumps(body | {"session_hash": "\ud800"}))
    assert asked.stream.isascii()


def test_everything_that_answers_is_asked(settings):
    source = Nonsense(0)
    asked = [fuzz.random_request(source, settings, "s").name for _ in range(3000)]
    named = {d["api_name"] or str(d["id"]) for d in settings["dependencies"] if d["backend_fn"]}
    assert named | set(ENDPOINTS) | {"picture"} <= set(asked)


def test_a_good_answer_is_among_what_is_sent(settings):
    source = Nonsense(0)
    good = json.dumps({"data": TABLE[0].values()})
    # One question in some thousands: how many depends on how many functions the page has.
    assert any(fuzz.random_request(source, settings, "s").body == good for _ in range(30_000))


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ('data: {"msg":"process_completed","output":{"data":[1]},"success":true}', "answer"),
        ('data: {"msg":"process_completed","output":{"error":"No."},"success":false}', "refused"),
        ('data: {"msg":"process_completed","output":{"error":null},"success":false}', "silent"),
        ('data: {"error": "No.", "duration": 10, "visible": true}', "refused"),
        ('data: {"error": null, "visible": true}', "silent"),
        (f"data: {json.dumps(UNEXPECTED.format(mark='x'))}", "ours"),
        ('data: {"msg":"unexpected_error","message":"x"}', "broken"),
        ("", "broken"),
        ("data: [1]", "answer"),
    ],
)
def test_the_last_words_say_what_came_of_it(said, kind):
    assert fuzz.kind_of(said) == kind
    good = kind in ("answer", "refused")
    assert fuzz.Outcome(fuzz.FuzzRequest("", "", ""), kind).is_bad is not good


def logged(write):
    """What the server's log holds after ``write(logger)``, as Python writes it by itself."""
    lines, logger = [], logging.Logger("of the server")
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(logging.Formatter("%(message)s").format(record))
    logger.addHandler(handler)
    write(logger)
    return "\n".join(["started", *lines, '{"id": "0badcafe", "status": 200}']) + "\n"


def raised(error, cause=None):
    try:
        raise error from cause
    except Exception as caught:
        return caught


def test_a_traceback_is_found_with_its_request_and_its_causes_once():
    chained = raised(ValueError("broadcast"), raised(KeyError("x")))
    plain = raised(TypeError("two\n\n  lines"))
    group = ExceptionGroup("of tasks", [raised(OSError("gone"))])

    def write(logger):
        logger.error("failure %s", "0123abcd", exc_info=chained)
        logger.warning("nothing failed here")
        logger.error("failure %s", "deadbeef", exc_info=plain)
        logger.error("task", exc_info=raised(group))

    assert tracebacks(logged(write)) == [
        Traceback("0123abcd", "ValueError: broadcast"),
        Traceback("deadbeef", "TypeError: two"),
        Traceback("", "ExceptionGroup: of tasks (1 sub-exception)"),
    ]
    assert tracebacks(logged(lambda logger: logger.info("failure 0123abcd"))) == []


@pytest.mark.parametrize("mark", ["0123abcd", "ffffffff"])
def test_a_request_that_leaves_a_traceback_is_a_finding_though_it_was_refused(
    monkeypatch, capsys, mark
):
    @contextmanager
    def app(log):
        yield "http://nowhere", 0
        handler = logging.StreamHandler(log)
        logger = logging.Logger("of the server")
        logger.addHandler(handler)
        logger.error("failure %s", mark, exc_info=raised(ValueError("broadcast")))

    came = [fuzz.Outcome(fuzz.FuzzRequest("predict", "", "{}"), "refused", "", "0123abcd")]
    monkeypatch.setattr(fuzz.start, "app", app)
    monkeypatch.setattr(fuzz.start, "wait_for", lambda url: None)
    monkeypatch.setattr(fuzz, "send_all", lambda *_: iter(came))
    assert fuzz.run(argparse.Namespace(requests=1, seed=0, log=None)) == 1
    said = capsys.readouterr().out
    whose = "predict '{}'" if mark == "0123abcd" else "a request that is not known"
    assert f"traceback: {whose}: ValueError: broadcast" in said
    assert "tracebacks in the log: 1" in said


@pytest.fixture
def compares(monkeypatch):
    """Replace sending by a double, which answers one Compare; return the bodies of all Compares."""
    sent = []

    def send(_http, asked):
        if asked.name == fuzz.COMPARE:
            sent.append(asked.body)
        return fuzz.Outcome(asked, "hang" if asked.body in sent[1:] else "answer")

    monkeypatch.setattr(fuzz, "send", send)
    return sent


def test_a_compare_without_an_answer_ends_the_run(settings, compares):
    """The double answers the first Compare and not the second."""
    checks = fuzz.Checks("http://nowhere", settings, 1)
    outcomes = fuzz.one_visitor(checks, 400, 1)
    assert len(outcomes) == 202, "nothing is sent after the second Compare"
    assert [item.kind for item in outcomes if item.is_bad] == [fuzz.UNANSWERED]
    assert checks.has_failed.is_set()
    assert len(set(compares)) == 2, "each has a new text"


def test_a_compare_is_sent_after_every_hundred_requests_of_all(settings, compares, monkeypatch):
    monkeypatch.setattr(fuzz.httpx, "get", lambda *_, **__: SimpleNamespace(json=lambda: settings))
    monkeypatch.setattr(fuzz, "CHECKED", 300)
    assert len(list(fuzz.send_all("http://nowhere", 400, 1))) == 401
    assert len(compares) == 1
