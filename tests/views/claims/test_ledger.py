"""What the browser is sent: escaped, complete, and published numbers named as such."""

import json

from explorer.analysis.claims.benchmarks import benchmark_tables, retention
from explorer.analysis.claims.ledger import claims_ledger, verdict_shares
from explorer.analysis.claims.results import CheckResult, Judged
from explorer.ui.claims import words as texts
from explorer.views.claims import benchmarks
from explorer.views.claims import ledger as claims


def test_the_ledger_travels_whole_and_small():
    value = claims.ledger_canvas(claims_ledger(), texts.MODELS, texts.LEDGER)
    data = json.loads(value)
    assert len(data["claims"]) == 184
    assert len(value) < 200_000
    assert all(set(claim["live"]) <= set(claim["checks"]) for claim in data["claims"])


def test_shares_travel_with_every_report():
    ledger = claims_ledger()
    data = json.loads(claims.shares_canvas(verdict_shares(ledger), ledger, texts.SHARES))
    totals = {v: sum(r["counts"][v] for r in data["reports"]) for v in data["verdicts"]}
    assert totals == data["total"]


def test_results_cannot_end_a_script():
    result = CheckResult(
        "LC01", "fails", "</script><b>", "here", False, {"A01": (Judged("<i>", True),)}
    )
    value = claims.results_canvas({"running": [], "done": None, "total": 1}, [result])
    assert "<" not in value
    assert json.loads(value)["results"][0]["text"] == "</script><b>"


def shown(kept):
    """What stands above the bars, and the bars."""
    return benchmarks.retention_said(kept, texts.RETENTION) + benchmarks.retention_html(
        kept, texts.RETENTION
    )


def test_retention_says_that_it_is_published_and_marks_the_misprint():
    kept = retention(benchmark_tables()["distilbert-1"], "DistilBERT", "BERT-base")
    html = shown(kept)
    assert texts.RETENTION["published"] in html
    assert "96.9%" in html
    assert "MNLI †" in html
    assert "Printed 86.7" in html
    assert "CoLA †" not in html


def test_who_loses_nowhere_is_not_said_to_lose_most_somewhere():
    table = benchmark_tables()["albert-2"]
    ahead = shown(retention(table, "ALBERT-xxlarge", "BERT-large"))
    assert "104.1%" in ahead
    assert "loses on no task" in ahead
    assert "loses most" not in ahead
    same = shown(retention(table, "BERT-base", "BERT-base"))
    assert "loses on no task" in same
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
    assert f"loses most on {' and '.join(names)}, 2.0 points" in html


def test_retention_escapes_what_a_table_might_hold():
    from dataclasses import replace

    table = benchmark_tables()["distilbert-1"]
    hostile = replace(table, source="<script>alert(1)</script>")
    html = shown(retention(hostile, "DistilBERT", "ELMo"))
    assert "<script>" not in html


def test_a_share_over_a_hundred_is_drawn_to_scale_and_inside_its_track():
    import re

    kept = retention(benchmark_tables()["distilbert-1"], "DistilBERT", "BERT-base")
    html = str(benchmarks.retention_html(kept, texts.RETENTION))
    widths = [float(width) for width in re.findall(r"inline-size:([\d.]+)%", html)]
    shares = [task.kept for task in kept.tasks]
    assert max(shares) > 105
    assert max(widths) == 100
    for width, share in zip(widths, shares, strict=True):
        assert abs(width / max(widths) - share / max(shares)) < 0.002
    (marked,) = set(re.findall(r"inset-inline-start:([\d.]+)%", html))
    assert abs(float(marked) - 100 * 100 / max(shares)) < 0.1, "where 100% is"
