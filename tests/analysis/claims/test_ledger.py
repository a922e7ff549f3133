"""The ledger is whole, refers only to what exists, and its numbers are read as printed."""

import json
import re

import pytest

from explorer.analysis.claims.ledger import (
    LEDGER,
    LiveTest,
    benchmark_tables,
    claims_ledger,
    verdict_shares,
)


def test_all_claims_are_there_with_their_verdicts():
    shares = verdict_shares(claims_ledger())
    assert dict(shares.total) == {"right": 114, "imprecise": 57, "wrong": 14, "unsupported": 10}
    by_report = {report: tuple(counts.values()) for report, counts in shares.reports.items()}
    assert by_report == {
        "A": (24, 14, 9, 2),
        "B": (12, 12, 0, 2),
        "C": (28, 11, 0, 3),
        "D": (23, 7, 1, 1),
        "E": (27, 13, 4, 2),
    }
    assert (shares.n_claims, shares.n_decided) == (195, 185)
    assert shares.right_share == pytest.approx(114 / 185), "no source, not counted"


def test_every_claim_is_complete():
    claims = claims_ledger().claims
    assert len({claim.id for claim in claims}) == 195
    for claim in claims:
        assert claim.claim
        assert claim.claimed or not claim.numbers, claim.id
        assert claim.found
        assert claim.verdict == "unsupported" or claim.source, claim.id
        assert not re.search(r"not read|not confirmed", claim.source + claim.found), claim.id


def test_reports_stay_nameless():
    text = LEDGER.read_text("utf-8")
    assert not re.search(r"\.txt\b|[0-9a-f]{12}|\bseed\b", text)


def test_table_cells_of_claims_exist():
    tables = benchmark_tables()
    cells = [t.quantity for c in claims_ledger().claims for t in c.live if t.check == "LC30"]
    assert len(cells) > 15
    for name in cells:
        table, row, column = name.split("/")
        assert tables[table].cell(row, column) is not None


@pytest.mark.parametrize(
    ("op", "value", "unit", "measured", "holds"),
    [
        ("rounds_to", 110e6, 10e6, 109_482_240, True),
        ("rounds_to", 340e6, 10e6, 335_141_888, True),
        ("rounds_to", 235e6, 1e6, 222_595_584, False),
        ("rounds_to", 11e6, 1e6, 11_683_584, False),
        ("rounds_to", 0.6, 0.1, 0.606, True),
        ("equals", 78.3, 0, 79.5, False),
        ("equals", 72.0, 0, 72.0, True),
        ("at_least", 1.6, 0, 1.6, True),
        ("at_most", 0.9, 0, 1.0, False),
    ],
)
def test_a_printed_number_is_held_to_its_own_precision(op, value, unit, measured, holds):
    assert LiveTest("LC00", "x", op, value, unit).holds(measured) is holds


def test_a_ledger_that_names_the_unknown_is_refused(tmp_path):
    raw = json.loads(LEDGER.read_text("utf-8"))
    raw["claims"][0]["checks"] = ["LC99"]
    path = tmp_path / "claims.json"
    path.write_text(json.dumps(raw), "utf-8")
    with pytest.raises(ValueError, match="A01"):
        claims_ledger.__wrapped__(path)


def test_the_drops_that_a_claim_quotes_are_differences_of_printed_scores():
    """DistilBERT's 82.2 on MNLI is 2.5 below the 84.7 of one printing of BERT."""
    (claim,) = (one for one in claims_ledger().claims if one.id == "A42")
    table = benchmark_tables()["distilbert-1"]
    said = claim.found.replace("−", "-")
    for task in ("SST-2", "QQP", "MRPC", "STS-B", "QNLI", "CoLA", "RTE", "WNLI"):
        drop = table.cell("DistilBERT", task) - table.cell("BERT-base", task)
        assert f"{task} {drop:+.1f}" in said
    pairs = re.findall(r"(-\d\.\d) vs ([\d.]+)", said)
    assert len(pairs) == 2
    for drop, other in pairs:
        assert table.cell("DistilBERT", "MNLI") - float(other) == pytest.approx(float(drop))


def test_every_report_has_a_name_that_says_what_it_is_about():
    names = claims_ledger().reports
    subjects = {report.name.removeprefix(f"Report {key}: ") for key, report in names.items()}
    assert len(subjects) == len(names) == 5
    assert all(len(subject) > 10 and "Report" not in subject for subject in subjects)
    assert all(report.kind for report in names.values()), "and what kind of text it is"
