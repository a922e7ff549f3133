"""Claims as HTML: the shares of right and wrong claims, and the wrong ones, as claims/*.js."""

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.analysis.digits import capitalised
from explorer.views.markup import Markup, el, join, table

GLYPHS = {"right": "✓", "imprecise": "≈", "wrong": "✕", "unsupported": "?"}
LISTED, VERDICT = 12, "wrong"
"""Claims that are listed, and their verdict: those that the page opens with."""


def shares_html(data: Mapping[str, Any]) -> Markup:
    """Draw the JSON of ``shares_canvas``: one bar of all claims and a thin one per report."""
    texts, verdicts = data["texts"], data["verdicts"]
    key = [
        el("li", el("i", GLYPHS[verdict], data_verdict=verdict), name)
        for verdict, name in verdicts.items()
    ]
    segments = [
        el(
            "span",
            el("b", str(n)),
            el("span", f" {verdicts[v].lower()}"),
            **_part(v, n, data["total"]),
        )
        for v, n in _counted(data["total"], verdicts)
    ]
    return join(
        el("div", *segments, class_="cs-total", role="img", aria_label=texts["label"]),
        el("ul", *key, class_="cs-key", aria_hidden="true"),
        el(
            "details",
            el("summary", texts["rule"]),
            el(
                "dl",
                *(part for v in verdicts for part in _rule(v, data)),
                *(part for report in data["reports"] for part in _kind(report, texts)),
            ),
            class_="cs-rule",
        ),
        el("p", texts["reports"], class_="note"),
        el("div", *(_report(report, data) for report in data["reports"]), class_="cs-reports"),
    )


def _rule(verdict: str, data: Mapping[str, Any]) -> tuple[Markup, Markup]:
    name, text = data["verdicts"][verdict], data["texts"]["rules"][verdict]
    return el("dt", name), el("dd", text)


def _kind(report: Mapping[str, Any], texts: Mapping[str, Any]) -> tuple[Markup, Markup]:
    kind = texts["kind"].format(kind=report["kind"], n=sum(report["counts"].values()))
    return el("dt", report["name"]), el("dd", capitalised(kind))


def _counted(counts: Mapping[str, int], verdicts: Mapping[str, str]) -> Sequence[tuple[str, int]]:
    return [(verdict, counts[verdict]) for verdict in verdicts if counts.get(verdict)]


def _part(verdict: str, n: int, counts: Mapping[str, int]) -> dict[str, str]:
    grow = f"flex-grow:{n / sum(counts.values()):.6g}"
    return {"class_": "cs-segment", "data_verdict": verdict, "style": grow}


def _report(report: Mapping[str, Any], data: Mapping[str, Any]) -> Markup:
    counts, n = report["counts"], sum(report["counts"].values())
    thin = [
        el("i", data_verdict=verdict, style=f"flex-grow:{count / n:.6g}")
        for verdict, count in _counted(counts, data["verdicts"])
    ]
    decided = n - counts.get("unsupported", 0)
    share = data["texts"]["right_share"].format(
        share=int(100 * counts["right"] / decided + 0.5), n=decided
    )
    name = el("span", report["name"], class_="cs-name")
    return el(
        "span",
        name,
        el("span", *thin, class_="cs-thin"),
        el("span", share, class_="cs-share"),
        class_="cs-report",
    )


def ledger_html(data: Mapping[str, Any]) -> Markup:
    """List the first wrong claims of the JSON of ``ledger_canvas``, each with what is right."""
    texts, claims = data["texts"], data["claims"]
    wrong = [claim for claim in claims if claim["verdict"] == VERDICT]
    rows = [
        [claim["claim"], data["verdicts"][VERDICT], claim["found"] or texts["no_source"]]
        for claim in wrong[:LISTED]
    ]
    caption = texts["opened"].format(n=len(wrong), total=len(claims))
    return table([texts["claim"], texts["verdict"], texts["source"]], rows, caption)
