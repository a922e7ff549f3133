"""What the browser is sent: escaped, complete, and published numbers named as such."""

import json

from explorer.analysis.claims.ledger import (
    benchmark_tables,
    claims_ledger,
    retention,
    verdict_shares,
)
from explorer.analysis.claims.outcomes import CheckResult, ClaimVerdict
from explorer.ui.claims import strings
from explorer.views import claims


def test_the_ledger_travels_whole_and_small():
    value = claims.ledger_canvas(claims_ledger(), strings.MODELS, strings.LEDGER)
    data = json.loads(value)
    assert len(data["claims"]) == 195
    assert len(value) < 200_000
    assert all(set(claim["live"]) <= set(claim["checks"]) for claim in data["claims"])


def test_the_numbers_of_a_claim_stand_beside_those_of_its_sources():
    data = json.loads(claims.ledger_canvas(claims_ledger(), strings.MODELS, strings.LEDGER))
    lines = {claim["id"]: claim["numbers"] for claim in data["claims"]}
    assert lines["D24"] == [
        "Parameters of ALBERT-base, in millions: 11 claimed, 12 (ALBERT Table 1, ALBERT-base), "
        "11.68 (count of the released model) and 11.22 (count of the released model, counted with "
        "the pre-training head and without the pooler) in the sources (imprecise)"
    ]
    assert lines["B03"] == [
        "Year of DistilBERT: 2019 claimed, 2019 (DistilBERT) in the sources (right)"
    ]
    assert "at least 100 claimed, 97.33 (" in lines["B13"][0]
    assert lines["A12"] == []
    assert all(bool(lines[c.id]) == bool(c.numbers) for c in claims_ledger().claims)


def test_shares_travel_with_every_report():
    ledger = claims_ledger()
    data = json.loads(claims.shares_canvas(verdict_shares(ledger), ledger, strings.SHARES))
    totals = {v: sum(r["counts"][v] for r in data["reports"]) for v in data["verdicts"]}
    assert totals == data["total"]


def test_results_cannot_end_a_script():
    result = CheckResult(
        "LC01", "fails", "</script><b>", "here", False, {"A01": (ClaimVerdict("<i>", True),)}
    )
    value = claims.results_canvas({"running": [], "done": None, "total": 1}, [result])
    assert "<" not in value
    assert json.loads(value)["results"][0]["text"] == "</script><b>"


def shown(kept):
    """What stands above the chart, and the table below it."""
    return claims.retention_finding(kept, strings.RETENTION) + claims.retention_table(
        kept, strings.RETENTION
    )


def test_retention_says_that_it_is_published_and_marks_the_misprint():
    kept = retention(benchmark_tables()["distilbert-1"], "DistilBERT", "BERT-base")
    html = shown(kept)
    assert strings.RETENTION["published"] in html
    assert "96.9%" in html
    assert "MNLI †" in html
    assert "Printed 86.7" in html
    assert "CoLA †" not in html


def test_who_loses_nowhere_is_not_said_to_lose_most_somewhere():
    table = benchmark_tables()["albert-2"]
    ahead = shown(retention(table, "ALBERT-xxlarge", "BERT-large"))
    assert "104.1%" in ahead
    assert "matches or beats it on every task" in ahead
    assert "loses most" not in ahead
    same = shown(retention(table, "BERT-base", "BERT-base"))
    assert "matches or beats it on every task" in same
    behind = shown(retention(table, "ALBERT-base", "BERT-base"))
    assert "loses most on RACE, 4.2 points" in behind


def test_tasks_that_lose_the_same_are_all_named():
    from dataclasses import replace

    table = benchmark_tables()["distilbert-1"]
    rows = tuple(
        replace(row, values=(77.0, *(90.0 if row.name == "BERT-base" else 88.0,) * 9))
        for row in table.rows
    )
    names = [column.label for column in table.columns[1:]]
    html = shown(retention(replace(table, rows=rows), "DistilBERT", "BERT-base"))
    assert f"loses most on {', '.join(names[:-1])} and {names[-1]}, 2.0 points" in html


def test_retention_escapes_what_a_table_might_hold():
    from dataclasses import replace

    table = benchmark_tables()["distilbert-1"]
    hostile = replace(table, source="<script>alert(1)</script>")
    html = shown(retention(hostile, "DistilBERT", "ELMo"))
    assert "<script>" not in html


def test_the_scores_are_drawn_as_printed_and_joined_task_by_task():
    table = benchmark_tables()["distilbert-1"]
    kept = retention(table, "DistilBERT", "BERT-base")
    joined, reference, student = claims.retention_figure(kept, strings.RETENTION).data
    rows = {
        row.name: dict(zip((c.label for c in table.columns), row.values, strict=True))
        for row in table.rows
    }
    for trace in (reference, student):
        assert list(trace.x) == [rows[trace.name][task] for task in trace.y]
        assert len(trace.x) == len(kept.tasks) == 10
    assert list(joined.x)[:3] == [reference.x[0], student.x[0], None]
    assert reference.marker.color != student.marker.color
    drawn = json.loads(claims.retention_canvas(kept, strings.RETENTION))["numbers"]
    found = {row[drawn["columns"].index("task")]: row for row in drawn["rows"]}
    share = drawn["columns"].index("share_kept_in_percent")
    assert abs(found["Score"][share] - 100 * 77 / 79.5) < 0.05
    assert "86.7" in found["MNLI"][drawn["columns"].index("remark")]
