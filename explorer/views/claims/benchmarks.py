"""Published tables as data for the browser, and what a model keeps of another's score."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from explorer.analysis.claims.benchmarks import BenchmarkTable, Retention, TaskDrop
from explorer.analysis.digits import signed
from explorer.views.chart import chart_canvas
from explorer.views.claims.sources import addresses, linked
from explorer.views.glossary import places
from explorer.views.markup import Markup, el, finding, join, note, script_json, table
from explorer.views.numbers import Numbers
from explorer.views.theme import COLOURS

if TYPE_CHECKING:
    import plotly.graph_objects as go

ROW, AROUND = 30, 110
"""Pixels of a task, and of legend and axis."""


def benchmarks_canvas(tables: Mapping[str, BenchmarkTable], texts: Mapping[str, str]) -> str:
    """Every table; the browser sorts them and draws one column as bars."""
    return script_json(
        {
            "texts": dict(texts),
            "terms": places("perplexity"),
            "addresses": addresses(table.source for table in tables.values()),
            "tables": [asdict(t) for t in tables.values()],
        }
    )


def retention_said(kept: Retention, texts: Mapping[str, str]) -> Markup:
    """The finding, and where the scores are printed."""
    overall = kept.overall
    sentence = texts["finding"].format(
        student=kept.student,
        reference=kept.reference,
        task=overall.task,
        kept=overall.kept,
        a=score(overall.student),
        b=score(overall.reference),
    )
    sentence += texts["worst" if kept.worst else "none_lost"].format(
        worst=" and ".join(task.task for task in kept.worst),
        drop=kept.worst[0].drop if kept.worst else 0.0,
    )
    return join(
        finding(sentence),
        note(
            el("span", texts["published"], class_="badge"),
            " ",
            linked(kept.table.source),
            texts["split"].format(split=kept.table.split),
        ),
    )


def retention_canvas(kept: Retention, texts: Mapping[str, str]) -> str:
    """The chart of both systems' scores with every task as it is printed."""
    return chart_canvas([retention_figure(kept, texts)], retention_numbers(kept))


def retention_figure(kept: Retention, texts: Mapping[str, str]) -> "go.Figure":
    """Both systems' scores on one line per task, joined by what is lost between them.

    Outlined, since they are printed and not measured.
    """
    import plotly.graph_objects as go

    tasks = [task.task for task in kept.tasks]
    scores = [[task.reference for task in kept.tasks], [task.student for task in kept.tasks]]
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
    models = {row.name: row.model for row in kept.table.rows}
    for name, values, symbol in zip(
        (kept.reference, kept.student), scores, ("circle-open", "diamond-open"), strict=True
    ):
        marker = {"symbol": symbol, "size": 11, "line": {"width": 2.5}}
        if colour := COLOURS.get(models[name] or ""):
            marker["color"] = colour.fill
        points = go.Scatter(x=values, y=tasks, name=name, mode="markers", marker=marker)
        figure.add_trace(points.update(hovertemplate="%{y}: %{x}<extra>%{fullData.name}</extra>"))
    figure.update_xaxes(title=texts["axis"])
    figure.update_yaxes(autorange="reversed", type="category")
    return figure


def retention_table(kept: Retention, texts: Mapping[str, str]) -> Markup:
    """Every task's two scores, the points lost and the share kept, with what was misprinted."""
    flags = [f for f in kept.table.flags if f.row in (kept.student, kept.reference)]
    remarks = [note(f"† {f.row}, {f.column}: {f.text}") for f in flags]
    heads = [texts["task"], kept.reference, kept.student, texts["drop"], texts["kept"]]
    rows = [_task_row(task, task.task in {f.column for f in flags}) for task in kept.tasks]
    return join(el("div", table(heads, rows, texts["table"]), class_="bm-kept"), *remarks)


def retention_numbers(kept: Retention) -> Numbers:
    """Every task as it is printed; what differs from other printings is said beside it."""
    flags = {(f.row, f.column): f.text for f in kept.table.flags}
    columns = ("source", "task", "unit", "reference", "reference_score", "system", "score")
    more = ("points_lost", "share_kept_in_percent", "remark")
    rows = [
        [
            *(kept.table.source, task.task, task.unit, kept.reference, task.reference),
            *(kept.student, task.student, task.drop, task.kept, _remark(kept, task, flags)),
        ]
        for task in kept.tasks
    ]
    return Numbers(columns + more, rows)


def _remark(kept: Retention, task: TaskDrop, flags: Mapping[tuple[str, str], str]) -> str | None:
    both = (flags.get((row, task.task)) for row in (kept.reference, kept.student))
    return " ".join(text for text in both if text) or None


def score(value: float) -> str:
    """A score with at least one decimal, as the papers print it."""
    text = f"{value:g}"
    return text if "." in text else f"{text}.0"


def _task_row(task: TaskDrop, is_flagged: bool) -> list[str | Markup]:
    return [
        task.task + (" †" if is_flagged else ""),
        score(task.reference),
        score(task.student),
        signed(-task.drop, 1),
        f"{task.kept:.1f}%",
    ]
