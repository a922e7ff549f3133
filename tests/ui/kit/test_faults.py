"""A mistake of ours over HTTP: one sentence for the visitor, the traceback and the id for us."""

import json
import logging

import gradio as gr
import httpx
import numpy as np
import pytest

from benchmarks.served import served
from explorer.refusal import Refusal
from explorer.ui.kit import strings
from explorer.ui.kit.blocks import Page
from explorer.ui.kit.errors import plain_errors
from explorer.ui.shell.page import launch_options

pytestmark = pytest.mark.processes
SECRET = "The words of a library."


class Fragile(gr.Textbox):
    """A control that fails with the values of its own that make it fail."""

    def preprocess(self, payload):
        if payload == "read":
            raise RecursionError(SECRET)
        if payload == "check":
            raise gr.Error(SECRET)
        return super().preprocess(payload)

    def postprocess(self, value):
        if value == "write":
            raise ValueError(SECRET)
        return super().postprocess(value)


def asked(text: str) -> dict:
    """An endpoint that fails as it is told to."""
    if text == "numpy":
        np.zeros(2) + np.zeros(3)
    if text == "gradio":
        raise gr.Error(SECRET)
    if text == "refusal":
        raise Refusal("Not this text.")
    return {"text": text}


def told(text):
    """An event of the page without a handler of ours around it."""
    yield "first"
    if text == "later":
        raise KeyError(SECRET)
    yield text


@pytest.fixture(scope="module")
def http():
    with Page(analytics_enabled=False) as page:
        said, written = Fragile(), Fragile()
        gr.Button().click(told, [said], [written], api_visibility="private")
        gr.api(plain_errors(asked, as_html=False), api_name="predict")
    with served(page, **launch_options()) as url, httpx.Client(base_url=url, timeout=300) as client:
        yield client


def called(http, text):
    """The id of the request to the endpoint, and what it says at the end."""
    reply = http.post("/gradio_api/call/predict", json={"data": [text]})
    event = reply.json()["event_id"]
    said = http.get(f"/gradio_api/call/predict/{event}").text
    return reply.headers["x-request-id"], json.loads(said.rpartition("data: ")[2])


def pressed(http, *values):
    """The same of the event of the page."""
    body = {"data": values, "fn_index": 0, "session_hash": "visitor"}
    reply = http.post("/gradio_api/queue/join", json=body)
    said = http.get("/gradio_api/queue/data", params={"session_hash": "visitor"}).text
    lines = [json.loads(line[5:]) for line in said.splitlines() if line.startswith("data:")]
    done = next(line for line in lines if line["msg"] == "process_completed")
    return reply.headers["x-request-id"], done["output"]


def failures(caplog):
    return [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize(
    ("ask", "value", "kind"),
    [
        (called, "numpy", ValueError),
        (called, "gradio", gr.Error),
        (pressed, "read", ValueError),
        (pressed, "write", ValueError),
        (pressed, "later", KeyError),
    ],
)
def test_a_mistake_is_one_sentence_and_one_traceback_under_the_requests_id(
    http, caplog, capfd, ask, value, kind
):
    with caplog.at_level(logging.ERROR):
        mark, said = ask(http, value)
    (record,) = failures(caplog)
    assert said["error"] == strings.UNEXPECTED.format(mark=mark)
    assert record.args == (mark,)
    assert isinstance(record.exc_info[1], kind)
    assert "Traceback" not in capfd.readouterr().err, "Gradio printed it once more"


@pytest.mark.parametrize(
    ("ask", "values", "said"),
    [
        (called, ["refusal"], "Not this text."),
        (pressed, ["check"], strings.NOT_OFFERED),
        (pressed, [1], strings.NOT_OFFERED),
        (pressed, [], strings.NOT_OFFERED),
        (pressed, ["a", "b"], strings.NOT_OFFERED),
    ],
)
def test_a_refusal_is_shown_as_it_is_and_leaves_no_traceback(
    http, caplog, capfd, ask, values, said
):
    assert ask(http, *values)[1]["error"] == said
    assert not failures(caplog)
    assert "Traceback" not in capfd.readouterr().err


def test_what_does_not_fail_is_answered(http):
    assert called(http, "x")[1] == [{"text": "x"}]
    assert "error" not in pressed(http, "x")[1]
