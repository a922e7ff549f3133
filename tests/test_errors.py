"""docs/errors.md: a row for each refusal, found for every sentence, linked from wherever it is met."""

import io
import pickle
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import explorer
from explorer import limits
from explorer.library.command import main
from explorer.models.hub import ModelUnavailable
from explorer.models.specs import BASE
from explorer.refusal import Refusal, remedies, remedy_for
from explorer.ui.shell.routes import refusals_route
from explorer.views.markup import plain_card, refusal_message
from tests.markup import every, plain
from tests.refusals import refusals

FRAMES = ("{}", "7 is not available: {}", "7 contradicts itself: {}")
"""Sentences that quote a reason, besides the reason alone."""


def found(sentence):
    return next(filter(None, (remedy_for(frame.format(sentence)) for frame in FRAMES)), None)


def test_every_refusal_has_a_row_that_says_the_same():
    assert len(refusals()) > 120
    assert [sentence for sentence in refusals() if not found(sentence)] == []
    said = [row.sentence(n=7) for row in limits.rows() if row.message]
    assert [sentence for sentence in said if not remedy_for(sentence)] == []


def test_every_row_says_why_and_what_to_do_and_is_found_by_its_own_sentence():
    for remedy in remedies():
        assert remedy.section
        assert remedy.why
        assert remedy.what_to_do
        assert remedy_for(remedy.sentence.replace("…", "7")) == remedy


@pytest.mark.parametrize("sentence", ["", "7", "Something else is the matter with 7 and 9."])
def test_what_is_no_refusal_has_no_row(sentence):
    assert remedy_for(sentence) is None
    assert "href" not in refusal_message(sentence)


def test_a_traceback_says_what_to_do_also_from_another_process():
    with pytest.raises(Refusal) as raised:
        explorer.predict("no mask here", "mini")
    assert raised.value.__notes__ == [
        "What to do: write `[MASK]` for a word (docs/errors.md, “The text”)."
    ]
    error = ModelUnavailable(BASE["bert"], "its files are damaged or incomplete")
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
    assert len(ids) == len(remedies())
    sentence = "bert-base (google-bert/bert-base-uncased) is not available: its files are damaged."
    for part in (refusal_message("Nothing was measured."), plain_card("BERT", sentence)):
        targets = [link["href"] for link in every(part, href=...)]
        assert {target.removeprefix("refusals#") for target in targets} <= ids
    assert 'href="refusals#' in refusal_message("Nothing was measured.")


def test_the_page_of_refusals_has_every_cell_of_the_document():
    html = TestClient(Starlette(routes=[refusals_route()])).get("/refusals").text
    shown = plain(html)
    document = (Path(__file__).parents[1] / "docs" / "errors.md").read_text("utf-8")
    rows = [line.strip("|").split("|") for line in document.splitlines() if line.startswith("| ")]
    assert len(rows) > 130
    for sentence, _, _ in rows:
        assert sentence.strip().replace("it says", "It says") in shown
