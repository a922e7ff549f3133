"""The claims tab's handlers: streamed, one failure does not end the others, choices that fit."""

import json

import pytest

from explorer.analysis.claims import checks as claims_checks
from explorer.links.page_state import PageState
from explorer.refusal import Refusal
from explorer.scheduling.job_queue import JobUpdate
from explorer.ui.claims import tab
from explorer.ui.claims import tab as folds
from explorer.ui.kit.jobs import Progress, handler
from explorer.ui.shell.tabs import values_of


def test_show_needs_no_model_and_no_text():
    values = values_of(tab, PageState())
    assert "114 of 185" in values[0]
    assert json.loads(values[3])["results"] == []


def test_all_checks_are_streamed_and_one_that_breaks_does_not_end_them(monkeypatch):
    def broken(specimens):
        raise RuntimeError("boom")

    kept = {"LC26": claims_checks.CHECKS["LC26"]}
    monkeypatch.setattr(claims_checks, "CHECKS", dict.fromkeys(claims_checks.CHECKS, broken) | kept)
    messages = [json.loads(message) for message, _ in handler(tab.CHECKS)(None)]
    assert messages[-1]["done"] == messages[0]["total"] == len(messages[-1]["results"])
    assert (messages[-1]["running"], messages[-1]["stopped"]) == ([], False)
    results = {r["id"]: r for r in messages[-1]["results"]}
    assert results["LC26"]["status"] == "holds"
    assert results["LC05"]["status"] == "failed"
    assert "boom" not in results["LC05"]["text"]
    assert results["LC21"]["status"] == "failed"


def test_a_stop_keeps_the_results_and_no_check_is_at_work():
    held = tab.CheckProgress((), ("LC26",))
    (message,) = tab.draw_checks(
        PageState(), JobUpdate(0, Progress(part=held), done=True, stopped=True)
    )
    told = json.loads(message)
    assert (told["stopped"], told["running"], told["done"]) == (True, [], 0)


def test_one_check_runs_alone():
    messages = [json.loads(m) for m in tab.run_one({"check": "LC26"}, PageState())]
    assert messages[0]["running"] == ["LC26"]
    assert messages[0]["names"] == ["Share of the score kept"]
    assert [r["id"] for r in messages[1]["results"]] == ["LC26"]


def test_each_press_takes_more_rounds_up_to_a_limit(monkeypatch):
    taken = []
    monkeypatch.setattr(tab, "_run", lambda check, state, presses: taken.append(presses))
    monkeypatch.setattr(tab, "_message", lambda *_: "")
    for press in (None, 1, 2, 3, 99, -4):
        list(tab.run_one({"check": "LC03", "press": press}, PageState()))
    assert taken == [1, 1, 2, 3, tab.MAX_PRESSES, 1]


@pytest.mark.parametrize("check", ["LC99", "<script>", "", None, {"a": 1}])
def test_an_unknown_check_gets_a_sentence(check):
    *_, last = tab.run_one({"check": check}, PageState())
    (result,) = json.loads(last)["results"]
    assert result["status"] == "failed"
    assert result["text"] == "There is no such check."


def test_every_table_offered_can_be_compared():
    choices = folds.table_choices()
    assert len(choices) > 15
    for _, table in choices:
        chosen, students, references, said, chart, html = folds.choose_retention(table, "", "")
        assert chosen["value"] == table
        rows = folds.row_choices(table)
        assert [c for c, _ in students.choices] == [c for c, _ in references.choices] == rows
        assert (students.value, references.value) == (rows[-1], rows[0])
        assert students.value != references.value
        assert "%" in html
        again = folds.show_retention(table, rows[-1], rows[0])
        assert [str(said), str(chart), str(html)] == list(map(str, again))


def test_the_calculator_opens_on_the_quoted_number_or_on_a_links():
    assert "96.9%" in folds.show_retention(*folds.START)[0]
    assert "96.9%" in folds.linked_retention("")[3]
    asked = ["bert-3", "Human", "DistilBERT"]  # the table has no DistilBERT
    _, student, reference, *_ = folds.linked_retention(json.dumps(asked))
    assert (student.value, reference.value) == ("Human", folds.row_choices("bert-3")[0])


@pytest.mark.parametrize("asked", ["{}", '["bert-3"]', '["none", "a", "b"]', "[1, 2, 3]"])
def test_a_link_of_another_shape_is_refused(asked):
    with pytest.raises(Refusal):
        folds.linked_retention(asked)


def test_checks_run_on_exact_weights_whatever_the_page_shows(tiny_family, monkeypatch):
    seen, lease = [], claims_checks.leased
    monkeypatch.setattr(
        claims_checks, "leased", lambda *where: seen.append(where[1:]) or lease(*where)
    )
    monkeypatch.setattr(claims_checks, "CHECKS", {"LC07": lambda s: s.leased("albert")})
    tab._run("LC07", PageState(dtype="bfloat16"))
    assert seen == [("cpu", "float32")]


def test_no_source_means_that_none_bears_the_claim_out():
    """Two of the unsupported claims cite a source, which does not say it."""
    from explorer.analysis.claims.ledger import claims_ledger, verdict_shares
    from explorer.ui.claims.strings import shares_finding

    ledger = claims_ledger()
    assert any(c.verdict == "unsupported" and c.source for c in ledger.claims)
    said = shares_finding(verdict_shares(ledger))
    assert "10 more have no source" in said
