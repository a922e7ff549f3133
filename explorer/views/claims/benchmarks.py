"""Published tables as data for the browser, and what a model keeps of another's score."""

from collections.abc import Mapping
from dataclasses import asdict

from explorer.analysis.claims.benchmarks import BenchmarkTable, Retention, TaskDrop
from explorer.analysis.digits import signed
from explorer.views.claims.sources import addresses, linked
from explorer.views.glossary import places
from explorer.views.markup import Markup, el, finding, join, note, script_json, table
from explorer.views.numbers import Numbers

HUNDRED = 100.0


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


def retention_html(kept: Retention, texts: Mapping[str, str]) -> Markup:
    """The share of the score kept, task by task, as outlined bars: printed, not measured."""
    flags = [f for f in kept.table.flags if f.row in (kept.student, kept.reference)]
    remarks = [note(f"† {f.row}, {f.column}: {f.text}") for f in flags]
    return join(_retention_table(kept, {f.column for f in flags}, texts), *remarks)


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


def _retention_table(kept: Retention, flagged: set[str], texts: Mapping[str, str]) -> Markup:
    heads = [texts["task"], kept.reference, kept.student, texts["drop"], texts["kept"]]
    whole = max(HUNDRED, *(task.kept for task in kept.tasks))
    rows = [_task_row(task, task.task in flagged, whole) for task in kept.tasks]
    return el("div", table(heads, rows, texts["table"]), class_="bm-kept")


def _task_row(task: TaskDrop, is_flagged: bool, whole: float) -> list[str | Markup]:
    """One task; a full track is ``whole`` percent, and where that is over 100 a line marks 100."""
    line = el("b", style=f"inset-inline-start:{100 * HUNDRED / whole:.1f}%")
    bar = el(
        "span",
        el("i", style=f"inline-size:{100 * max(0.0, task.kept) / whole:.1f}%"),
        line if whole > HUNDRED else None,
        class_="bm-bar",
        aria_hidden="true",
    )
    return [
        task.task + (" †" if is_flagged else ""),
        score(task.reference),
        score(task.student),
        signed(-task.drop, 1),
        join(bar, f"{task.kept:.1f}%"),
    ]
