"""The middleware of the served page, over HTTP."""

import json
import re
import time

import pytest

from benchmarks.served import event_number
from explorer.middleware import validation
from explorer.scheduling.job_queue import MAX_OF_ONE, MEASUREMENTS
from explorer.ui.attention import tab as attention
from explorer.ui.first import preview
from explorer.ui.kit import asked as kit_asked
from explorer.ui.kit import strings
from explorer.ui.latency import strings as latency_texts
from explorer.ui.shell import view

ELSEWHERE = "https://elsewhere.example"


def asked(http, event, *values):
    """The request's name and what came of an event."""
    body = {"data": list(values), "fn_index": event, "session_hash": "someone"}
    joined = http.post("/gradio_api/queue/join", json=body)
    joined.raise_for_status()
    with http.stream("GET", "/gradio_api/queue/data?session_hash=someone") as reply:
        said = [json.loads(line.removeprefix("data:")) for line in reply.iter_lines() if line]
    (done,) = [message for message in said if message["msg"] == "process_completed"]
    return joined.headers["x-request-id"], done


@pytest.mark.long
def test_uploads_and_monitoring_are_shut(http):
    reply = http.post("/gradio_api/upload", files={"files": b"x" * 100})
    assert (reply.status_code, reply.json()) == (403, {"detail": "This page accepts no files."})
    for path in ("/monitoring", "/monitoring/summary"):
        assert http.get(path).status_code == 404


def test_a_question_that_is_too_long_is_told_the_limit(http):
    def pieces():
        yield b'{"data": ["'
        yield from [b"x" * 2**16] * 5
        yield b'"]}'

    for content in (pieces(), b"x" * 2**20):
        reply = http.post("/gradio_api/call/predict", content=content)
        assert reply.status_code == 413
        assert "256 KB" in reply.json()["detail"]


@pytest.mark.parametrize("method", ["POST", "OPTIONS"])
def test_another_sites_script_is_never_answered_in_a_visitors_name(http, method):
    headers = {"origin": ELSEWHERE, "access-control-request-method": "POST"}
    content = json.dumps({"data": []}) if method == "POST" else None
    reply = http.request(method, "/gradio_api/call/predict", headers=headers, content=content)
    assert "access-control-allow-credentials" not in reply.headers
    assert "access-control-allow-origin" not in reply.headers, "this server is at home"
    assert "x-request-id" in reply.headers
    assert "content-security-policy" in reply.headers


def test_another_site_may_still_read_what_a_public_page_says_to_everybody(http):
    headers = {"origin": ELSEWHERE, "host": "explorer.example"}
    reply = http.get("/gradio_api/info", headers=headers)
    assert reply.headers["access-control-allow-origin"] == "*", "and nothing of the request"
    assert "access-control-allow-credentials" not in reply.headers


@pytest.mark.parametrize(
    "handler", ["chosen_values", None], ids=["not offered", "the browser's own"]
)
def test_a_choice_that_is_not_offered_is_refused_in_our_words(http, page, capfd, handler):
    labels = {"chosen_values": latency_texts.DEVICE_LABEL, None: strings.DEVICE_LABEL}
    event, asks = next(
        (n, [i.value if i.label != labels[handler] else "tpu" for i in f.inputs])
        for n, f in page.fns.items()
        if getattr(f.fn, "__name__", None) == handler
        and labels[handler] in [getattr(i, "label", "") for i in f.inputs]
    )
    _, done = asked(http, event, *asks)
    assert not done["success"]
    assert done["output"]["error"] == strings.NOT_OFFERED
    assert "Traceback" not in "".join(capfd.readouterr())


def test_a_failure_on_our_side_names_the_request(http, page, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("broken")

    monkeypatch.setattr(view, "get_runs", broken)
    question = json.dumps({"params": {"text": "a [MASK]"}, "number": 1, "keep": []})
    name, done = asked(http, event_number(page, "on_view"), question)
    found = re.search(r"error (\w+)", json.dumps(done["output"]))
    assert found[1] == name
    assert f"failure {name}" in caplog.text


def test_a_failure_of_a_picture_names_the_request_too(http, page, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("broken")

    monkeypatch.setattr(kit_asked, "get_runs", broken)
    number = next(
        number
        for number, part in page.blocks.items()
        if hasattr(part, attention.exact_heads.__name__)
    )
    body = {"data": {"params": {}}, "component_id": number, "fn_name": "exact_heads"}
    reply = http.post("/gradio_api/component_server/", json=body | {"session_hash": "someone"})
    name = reply.headers["x-request-id"]
    assert reply.json() == {"detail": strings.UNEXPECTED.format(mark=name)}
    assert f"failure {name}" in caplog.text


def test_a_failing_route_of_ours_is_a_sentence_with_one_stack(http, monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(preview, "ASSETS", tmp_path)
    reply = http.get("/preview.png")
    name = reply.headers["x-request-id"]
    assert (reply.status_code, reply.json()) == (
        500,
        {"detail": validation.FAILED.format(mark=name)},
    )
    assert "content-security-policy" in reply.headers
    assert f"failure {name}" in caplog.text
    assert caplog.text.count("Traceback") == 1


def test_a_program_that_measures_without_end_leaves_places_for_others(http):
    """Each of its questions is a session of its own: the address is what it has but once."""

    def endless(sign):
        while True:
            sign.check()
            time.sleep(0.01)
            yield 0

    held = [MEASUREMENTS.start(endless, address="127.0.0.1") for _ in range(MAX_OF_ONE)]
    try:
        body = {"data": ["mini", 8, 1, 1, "cpu", "float32"]}
        event = http.post("/gradio_api/call/latency", json=body).json()["event_id"]
        said = http.get(f"/gradio_api/call/latency/{event}").text
        assert "2 measurements from your address are waiting or running" in said
        assert len(MEASUREMENTS) == len(held)
    finally:
        for turn in held:
            turn.stop()
            turn.thread.join(60)


def test_a_stream_that_nobody_knows_of_is_404_only_for_a_proxy_that_asks_others(http):
    stream = "/gradio_api/queue/data?session_hash=of-nobody"
    alone, behind = http.get(stream), http.get(stream, headers={"x-others": "1"})
    assert (alone.status_code, behind.status_code) == (200, 404)
    assert "session_not_found" in alone.text


def test_a_session_that_waits_for_nothing_here_may_wait_at_another_process(http, page):
    asked(http, event_number(page, "on_view"), json.dumps({"params": {}, "number": 1, "keep": []}))
    assert "someone" in page._queue.pending_messages_per_session
    stream = "/gradio_api/queue/data?session_hash=someone"
    assert http.get(stream, headers={"x-others": "1"}, timeout=10).status_code == 404
