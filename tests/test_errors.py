"""docs/errors.md: a row for each refusal, found by its code, linked from wherever it is met."""

import io
import json
import pickle
import re

import httpx
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import explorer
from explorer import limits
from explorer.library.command import main
from explorer.middleware.validation import refusal_in, refusal_json
from explorer.models.hub import ModelUnavailable
from explorer.models.loading import DAMAGED
from explorer.models.specs import BASE
from explorer.refusal import DOCUMENT, Refusal, Sentence, code_of, joined, remedies
from explorer.ui.shell.routes import refusals_route
from explorer.views.markup import plain_card, refusal_message
from tests.markup import every, plain
from tests.refusals import refusals

FRAMES = (
    *("{}", "… is not available: {}.", "… has {}.", "… has, as its …, {}."),
    "… holds {}, …, and no model.safetensors.",
)
"""Sentences that quote a reason, and the reason without one."""


def is_in_order(pieces, text):
    return re.search(".*".join(map(re.escape, pieces)), text, re.DOTALL)


def test_every_code_has_a_row_that_says_the_same_and_every_row_has_a_refusal():
    assert len(refusals()) > 320
    rows = remedies()
    assert {code for code, _ in refusals()} == set(rows)
    wrong = []
    for code, text in refusals():
        pieces = [piece.strip(" .") for piece in rows[code].sentence.split("…")]
        if not any(is_in_order(pieces, frame.format(text)) for frame in FRAMES):
            wrong.append((code, text))
    assert wrong == []


def test_every_row_says_why_and_what_to_do_under_a_code_of_its_own():
    lines = DOCUMENT.read_text("utf-8").splitlines()
    written = [line for line in lines if line.startswith("| ") and "| it says |" not in line]
    assert len(written) == len(remedies())
    for code, remedy in remedies().items():
        assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", code)
        assert remedy.section
        assert remedy.why
        assert remedy.what_to_do


@pytest.mark.parametrize(
    "sentence",
    ["", "The text has no [MASK]: mask a word first.", Sentence("", "No."), "empty-text"],
)
def test_what_has_no_code_has_no_row_whatever_it_says(sentence):
    assert "href" not in refusal_message(sentence)
    assert not hasattr(Refusal(sentence), "__notes__")


def test_a_code_survives_what_is_done_to_a_sentence():
    sentence = Sentence("wrong-type", "“{name}” must be {kind}.")
    filled = sentence.format(name="text", kind="a list")
    assert filled == "“text” must be a list."
    refusal = pickle.loads(pickle.dumps(Refusal(filled)))
    assert refusal.code == code_of(str(refusal)) == code_of(filled) == "wrong-type"
    both = joined([str(refusal), "And so on."])
    assert (both.code, both) == ("wrong-type", "“text” must be a list. And so on.")
    assert code_of(json.loads(json.dumps(sentence))) == ""


def test_an_http_refusal_carries_its_code():
    assert refusal_json(limits.BODY.sentence())["code"] == "request-too-large"
    reply = httpx.Response(413, json=refusal_json(limits.BODY.sentence()))
    refusal = refusal_in(reply)
    assert (refusal.code, str(refusal)) == ("request-too-large", limits.BODY.sentence())
    assert refusal_json("Not Found") == {"detail": "Not Found"}
    assert refusal_in(httpx.Response(500, text="")).code == ""


def test_a_traceback_says_what_to_do_also_from_another_process():
    with pytest.raises(Refusal) as raised:
        explorer.predict("no mask here", "mini")
    assert raised.value.__notes__ == [
        "What to do: write `[MASK]` for a word (docs/errors.md, “The text”)."
    ]
    error = ModelUnavailable(BASE["bert"], DAMAGED)
    assert pickle.loads(pickle.dumps(error)).__notes__ == error.__notes__
    assert len(error.__notes__) == 1


def test_a_shell_says_it_once_for_many_lines(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"no mask\nnor here")))
    assert main(["predict", "-"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line[:7] for line in lines] == ["line 1:", "What to", "line 2:"]


def test_messages_and_cards_link_to_rows_that_the_page_of_refusals_has():
    html = TestClient(Starlette(routes=[refusals_route()])).get("/refusals").text
    ids = {row["id"] for row in every(html, "tr", id=...)}
    assert ids == set(remedies())
    missing = ModelUnavailable(BASE["bert"], DAMAGED)
    for part in (refusal_message(str(missing)), plain_card("BERT", str(missing))):
        assert [link["href"] for link in every(part, href=...)] == ["refusals#damaged-files"]


def test_the_page_of_refusals_has_every_cell_of_the_document():
    html = TestClient(Starlette(routes=[refusals_route()])).get("/refusals").text
    shown = plain(html)
    document = DOCUMENT.read_text("utf-8")
    rows = [line.strip("|").split("|") for line in document.splitlines() if line.startswith("| ")]
    assert len(rows) > 330
    for _, sentence, _, _ in rows:
        assert sentence.strip().replace("it says", "It says") in shown
