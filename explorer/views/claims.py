"""Charts and tables of the Claims tab: the ledger, its sources, the papers' tables."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from explorer.analysis.claims.ledger import (
    BenchmarkTable,
    CheckNote,
    Claim,
    ClaimsLedger,
    Retention,
    TaskDrop,
    VerdictShares,
)
from explorer.analysis.claims.outcomes import CheckResult, score
from explorer.analysis.claims.rule import number_verdict
from explorer.analysis.digits import capitalised, enumerated, signed
from explorer.analysis.records import Records
from explorer.views.chart import chart_canvas
from explorer.views.glossary import places
from explorer.views.markup import Markup, el, finding, join, note, script_json, table
from explorer.views.theme import page_colours

if TYPE_CHECKING:
    import plotly.graph_objects as go


ROW, AROUND = 30, 110
"""Height in pixels of a task's row, and of legend and axis."""


class BenchmarksData(TypedDict):
    """Published tables."""

    texts: dict[str, str]
    terms: dict[str, str]
    addresses: dict[str, str]
    tables: list[BenchmarkTable]


class ReportShares(TypedDict):
    """Claims of a report by verdict."""

    id: str
    name: str
    kind: str
    counts: dict[str, int]


class SharesData(TypedDict):
    """Claims by verdict, of all reports and of each."""

    texts: dict[str, Any]
    verdicts: dict[str, str]
    total: dict[str, int]
    reports: list[ReportShares]


class ClaimRow(TypedDict):
    """Claim as the ledger draws it."""

    id: str
    report: str
    claim: str
    models: tuple[str, ...]
    topic: str
    claimed: str
    source: str
    found: str
    verdict: str
    checks: tuple[str, ...]
    same: str
    live: list[str]
    numbers: list[str]


class LedgerData(TypedDict):
    """Claims with their sources, and what they can be filtered by."""

    texts: dict[str, Any]
    verdicts: dict[str, str]
    topics: dict[str, str]
    reports: dict[str, str]
    models: dict[str, str]
    addresses: dict[str, str]
    checks: dict[str, CheckNote]
    claims: list[ClaimRow]


class ChecksData(TypedDict):
    """Live checks: what each measures and expects."""

    texts: dict[str, str]
    checks: list[CheckNote]


class ChecksProgress(TypedDict):
    """Live checks that run, and how many are done."""

    running: list[str]
    names: list[str]
    done: int | None
    total: int
    stopped: bool
    texts: dict[str, str]


class ResultsData(ChecksProgress):
    """Progress of live checks, and their new results."""

    results: list[CheckResult]


def benchmarks_canvas(tables: Mapping[str, BenchmarkTable], texts: Mapping[str, str]) -> str:
    """Return the JSON of all benchmark tables; the browser sorts them and draws bars."""
    data: BenchmarksData = {
        "texts": dict(texts),
        "terms": places("perplexity"),
        "addresses": addresses(table.source for table in tables.values()),
        "tables": list(tables.values()),
    }
    return script_json(data)


def retention_finding(retention: Retention, texts: Mapping[str, str]) -> Markup:
    """Build the finding and the source of the scores."""
    overall = retention.overall
    sentence = texts["finding"].format(
        student=retention.student,
        reference=retention.reference,
        task=overall.task,
        kept=overall.kept,
        a=score(overall.student),
        b=score(overall.reference),
    )
    sentence += texts["worst" if retention.worst else "none_lost"].format(
        worst=enumerated(task.task for task in retention.worst),
        drop=retention.worst[0].drop if retention.worst else 0.0,
    )
    return join(
        finding(sentence),
        note(
            el("span", texts["published"], class_="badge"),
            " ",
            linked(retention.table.source),
            texts["split"].format(split=retention.table.split),
        ),
    )


def retention_canvas(retention: Retention, texts: Mapping[str, str]) -> str:
    """Return the chart of both systems' scores, and its numbers."""
    return chart_canvas([retention_figure(retention, texts)], retention_records(retention))


def retention_figure(retention: Retention, texts: Mapping[str, str]) -> "go.Figure":
    """Draw both systems' scores per task, joined by a line.

    The markers are outlined, because the scores are published and not measured here.
    """
    import plotly.graph_objects as go

    tasks = [task.task for task in retention.tasks]
    scores = [
        [task.reference for task in retention.tasks],
        [task.student for task in retention.tasks],
    ]
    figure = go.Figure(layout={"height": AROUND + ROW * len(tasks)})
    figure.add_trace(
        go.Scatter(
            x=[x for pair in zip(*scores, strict=True) for x in (*pair, None)],
            y=[task for task in tasks for _ in range(3)],
            mode="lines",
            line_width=2,
            hoverinfo="skip",
            showlegend=False,
        )
    )
    models = {row.name: row.model for row in retention.table.rows}
    for name, values, symbol in zip(
        (retention.reference, retention.student),
        scores,
        ("circle-open", "diamond-open"),
        strict=True,
    ):
        marker = {"symbol": symbol, "size": 11, "line": {"width": 2.5}}
        if colour := page_colours().get(models[name] or ""):
            marker["color"] = colour.fill
        points = go.Scatter(x=values, y=tasks, name=name, mode="markers", marker=marker)
        figure.add_trace(points.update(hovertemplate="%{y}: %{x}<extra>%{fullData.name}</extra>"))
    figure.update_xaxes(title=texts["axis"])
    figure.update_yaxes(autorange="reversed", type="category")
    return figure


def retention_table(retention: Retention, texts: Mapping[str, str]) -> Markup:
    """Build the table of scores, points lost and share kept per task, with notes on misprints."""
    flags = [f for f in retention.table.flags if f.row in (retention.student, retention.reference)]
    remarks = [note(f"† {f.row}, {f.column}: {f.text}") for f in flags]
    heads = [texts["task"], retention.reference, retention.student, texts["drop"], texts["kept"]]
    rows = [_task_row(task, task.task in {f.column for f in flags}) for task in retention.tasks]
    return join(el("div", table(heads, rows, texts["table"]), class_="bm-kept"), *remarks)


def retention_records(retention: Retention) -> Records:
    """Return the published scores of every task, with remarks on differing publications."""
    flags = {(f.row, f.column): f.text for f in retention.table.flags}
    columns = ("source", "task", "unit", "reference", "reference_score", "system", "score")
    more = ("points_lost", "share_kept_in_percent", "remark")
    rows = [
        [
            *(retention.table.source, task.task, task.unit, retention.reference, task.reference),
            *(
                retention.student,
                task.student,
                task.drop,
                task.kept,
                _remark(retention, task, flags),
            ),
        ]
        for task in retention.tasks
    ]
    return Records(columns + more, rows, {"state": {"table": retention.table.title}})


def _remark(
    retention: Retention, task: TaskDrop, flags: Mapping[tuple[str, str], str]
) -> str | None:
    remarks = (flags.get((row, task.task)) for row in (retention.reference, retention.student))
    return " ".join(text for text in remarks if text) or None


def _task_row(task: TaskDrop, is_flagged: bool) -> list[str | Markup]:
    return [
        task.task + (" †" if is_flagged else ""),
        score(task.reference),
        score(task.student),
        signed(-task.drop, 1),
        f"{task.kept:.1f}%",
    ]


def shares_canvas(shares: VerdictShares, ledger: ClaimsLedger, texts: Mapping[str, object]) -> str:
    """Return the JSON of the stacked bars: one for all claims, a thin one for each report."""
    data: SharesData = {
        "texts": dict(texts),
        "verdicts": dict(ledger.verdicts),
        "total": dict(shares.total),
        "reports": [
            {
                "id": report,
                "name": ledger.reports[report].name,
                "kind": ledger.reports[report].kind,
                "counts": dict(counts),
            }
            for report, counts in shares.reports.items()
        ],
    }
    return script_json(data)


def ledger_canvas(ledger: ClaimsLedger, models: Mapping[str, str], texts: Mapping[str, Any]) -> str:
    """Return the JSON of every claim with its source; the browser searches and filters them."""
    data: LedgerData = {
        "texts": dict(texts),
        "verdicts": dict(ledger.verdicts),
        "topics": dict(ledger.topics),
        "reports": {key: report.name for key, report in ledger.reports.items()},
        "models": dict(models),
        "addresses": addresses(text for c in ledger.claims for text in (c.source, c.found)),
        "checks": {check.id: check for check in ledger.checks},
        "claims": [
            _claim_row(claim, number_lines(claim, ledger, texts)) for claim in ledger.claims
        ],
    }
    return script_json(data)


def _claim_row(claim: Claim, numbers: list[str]) -> ClaimRow:
    return {
        "id": claim.id,
        "report": claim.report,
        "claim": claim.claim,
        "models": claim.models,
        "topic": claim.topic,
        "claimed": claim.claimed,
        "source": claim.source,
        "found": claim.found,
        "verdict": claim.verdict,
        "checks": claim.checks,
        "same": claim.same,
        "live": list(dict.fromkeys(test.check for test in claim.live)),
        "numbers": numbers,
    }


def number_lines(claim: Claim, ledger: ClaimsLedger, texts: Mapping[str, Any]) -> list[str]:
    """Return a line for each number of a claim: what it says, its sources and its verdict."""
    lines = []
    for number in claim.numbers:
        quantity = ledger.quantities[number.quantity]
        values = [
            texts["value"].format(
                value=plain(source.value),
                where=", ".join(filter(None, (source.where, source.condition))),
            )
            for source in quantity.sources
        ]
        line = texts["number"].format(
            name=capitalised(quantity.name),
            claimed=texts["says"][number.op].format(value=plain(number.value)),
            sources=enumerated(values),
            verdict=ledger.verdicts[number_verdict(number, quantity)].lower(),
        )
        lines.append(line)
    return lines


def plain(x: float) -> str:
    """Format a value of a source in four digits, and a count or a year in all of its digits."""
    return f"{x:.4g}" if abs(x) < 1000 else f"{x:.0f}"


def results_canvas(progress: ChecksProgress, results: Sequence[CheckResult]) -> str:
    """Return the JSON of new results of live checks, which the browser adds to earlier ones."""
    data: ResultsData = {**progress, "results": list(results)}
    return script_json(data)


def checks_canvas(ledger: ClaimsLedger, texts: Mapping[str, str]) -> str:
    """Return the JSON of every live check: what it measures and the expected result."""
    data: ChecksData = {"texts": dict(texts), "checks": list(ledger.checks)}
    return script_json(data)


PAPER = re.compile(r"arXiv[: ](\d{4}\.\d{4,5})(?: ?(v\d+))?")
_DISTILLATION = (
    "https://github.com/huggingface/transformers/tree/v4.40.0/"
    "examples/research_projects/distillation"
)
_ALBERT = "https://github.com/google-research/albert"
_BERT = "https://github.com/google-research/bert"
ELSEWHERE: Mapping[str, str] = {
    "Hugging Face distillation README": _DISTILLATION,
    "Hugging Face distillation code": _DISTILLATION,
    "DistilBERT code README": _DISTILLATION,
    "Hugging Face docs albert.md": "https://huggingface.co/docs/transformers/model_doc/albert",
    "Hugging Face docs": "https://huggingface.co/docs/transformers/model_doc/albert",
    "google-research/albert issue 76": f"{_ALBERT}/issues/76",
    "google-research issue 150": "https://github.com/google-research/google-research/issues/150",
    "google-research/bert README": _BERT,
    "ALBERT code README": _ALBERT,
    "albert README": _ALBERT,
    "distilbert-base-uncased pytorch_model.bin": "https://huggingface.co/distilbert/distilbert-base-uncased",
    "bert-base-uncased pytorch_model.bin": "https://huggingface.co/google-bert/bert-base-uncased",
    "GLUE leaderboard": "https://gluebenchmark.com/leaderboard",
}
"""Addresses of sources without an arXiv number, by their names in ledger and tables."""


def addresses(texts: Iterable[str]) -> dict[str, str]:
    """Return the address of each source named in the texts, the longest names first."""
    all_texts = "\n".join(texts)
    links = {name: address for name, address in ELSEWHERE.items() if name in all_texts}
    for paper in PAPER.finditer(all_texts):
        links[paper[0]] = f"https://arxiv.org/abs/{paper[1]}{paper[2] or ''}"
    return dict(sorted(links.items(), key=lambda link: -len(link[0])))


def linked(text: str) -> Markup:
    """Return a source's text with its names as links."""
    links = addresses([text])
    if not links:
        return join(text)
    parts = re.split(f"({'|'.join(map(re.escape, links))})", text)
    return join(
        *(
            el("a", part, href=links[part], target="_blank", rel="noopener")
            if part in links
            else part
            for part in parts
        )
    )
