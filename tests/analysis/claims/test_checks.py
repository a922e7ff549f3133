"""Checks meet claims: every test of a claim is measured, and live verdicts follow the ledger's."""

from contextlib import nullcontext
from dataclasses import replace

import pytest

from explorer.analysis.claims import checks as claims_checks
from explorer.analysis.claims import published as claims_published
from explorer.analysis.claims.checks import CHECKS, TIMED, check_result
from explorer.analysis.claims.ledger import claims_ledger
from explorer.analysis.claims.outcomes import CheckOutcome, Quantity
from explorer.models.architectures import CheckModels, random_network
from explorer.models.hub import ModelUnavailable
from explorer.models.specs import BASE
from explorer.refusal import Refusal

NO_WEIGHTS = (
    "LC01",
    "LC02",
    "LC04",
    "LC05",
    "LC06",
    "LC08",
    "LC09",
    "LC10",
    "LC11",
    "LC13",
    "LC14",
    "LC25",
    "LC26",
    "LC30",
    "LC31",
    "LC33",
)


def missing(key):
    raise ModelUnavailable(BASE[key], "it is not in the cache")


def few_words(spec):
    """Random weights for a vocabulary of 1,000: enough for a rank, and quick."""
    return random_network(replace(spec, architecture=replace(spec.architecture, d_vocab=1_000)))


BARE = CheckModels("base", missing, random=few_words)


@pytest.fixture(scope="module")
def measured():
    return {check: check_result(check, BARE) for check in NO_WEIGHTS}


def test_every_check_of_the_ledger_can_be_run_and_no_other():
    notes = {note.id: note for note in claims_ledger().checks}
    assert set(CHECKS) == set(notes)
    assert len(notes) == len(claims_ledger().checks) >= 30
    assert set(CHECKS) >= TIMED


@pytest.mark.long
def test_checks_without_weights_hold_with_no_checkpoint_at_all(measured):
    assert {result.status for result in measured.values()} == {"holds"}
    assert {i for i, r in measured.items() if r.published} == {"LC26", "LC30"}


@pytest.mark.long
def test_live_verdicts_follow_the_ledgers(measured):
    """Right claims hold, wrong ones do not; an imprecise number may be right in itself."""
    seen = 0
    for claim in claims_ledger().claims:
        checks = {test.check for test in claim.live}
        if not checks or not checks <= set(measured):
            continue
        holds = all(j.holds for check in checks for j in measured[check].claims[claim.id])
        seen += 1
        if claim.verdict in ("right", "wrong"):
            assert holds is (claim.verdict == "right"), (claim.id, claim.claim)
    assert seen > 80


def test_weights_that_cannot_be_had_are_waited_for():
    result = check_result("LC12", BARE)
    assert (result.status, result.claims, result.published) == ("waits", {}, False)
    assert "not in the cache" in result.text
    tuning = check_result("LC21", BARE)
    assert tuning.status == "waits"
    assert "no adapter" in tuning.text


def test_an_unknown_check_is_refused():
    with pytest.raises(Refusal, match="no such check"):
        check_result("<b>", BARE)


def test_a_wrong_measurement_turns_the_claims_verdict(monkeypatch):
    off = CheckOutcome(
        "",
        False,
        "",
        {
            "one_matrix": Quantity(1, ""),
            "factorised": Quantity(3e6, "3M"),
            "share": Quantity(99, ""),
        },
    )
    monkeypatch.setitem(CHECKS, "LC09", lambda specimens: off)
    result = check_result("LC09", BARE)
    assert result.status == "fails"
    claims = {c.id: c for c in claims_ledger().claims}
    turned = [i for i, judged in result.claims.items() if not all(j.holds for j in judged)]
    assert {claims[i].verdict for i in turned} >= {"right"}


def test_a_changed_cell_of_a_table_is_noticed(monkeypatch):
    real = claims_published._cell
    monkeypatch.setattr(
        claims_published,
        "_cell",
        lambda tables, name: Quantity(real(tables, name).value + 1, ""),
    )
    assert not claims_published.printed_cells(BARE).holds


@pytest.mark.long
def test_every_family_check_measures_what_its_claims_ask(tiny_family):
    specimens = CheckModels("mini", lambda key: nullcontext(tiny_family.loaded(key)))
    asked = set(CHECKS) - set(NO_WEIGHTS) - TIMED
    found = {check: claims_checks.check_result(check, specimens).status for check in asked}
    waiting = {check for check, status in found.items() if status == "waits"}
    assert waiting == {"LC21", "LC29", "LC36"}, "what needs adapters, which this family has none of"
    assert {found[check] for check in asked - waiting} <= {"holds", "fails", "undecided"}
