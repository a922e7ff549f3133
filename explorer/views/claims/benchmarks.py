"""Published tables as data for the browser, and what a model keeps of another's score."""

from collections.abc import Mapping
from dataclasses import asdict

from explorer.analysis.claims.benchmarks import BenchmarkTable, Retention, TaskDrop
from explorer.views.markup import Markup, el, finding, join, note, script_json


def benchmarks_canvas(tables: Mapping[str, BenchmarkTable], texts: Mapping[str, str]) -> str:
    """Every table; the browser sorts them and draws one column as bars."""
    return script_json({"texts": dict(texts), "tables": [asdict(t) for t in tables.values()]})


def retention_html(kept: Retention, texts: Mapping[str, str]) -> Markup:
    """The share of the score kept, task by task, as outlined bars: printed, not measured."""
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
    source = texts["source"].format(source=kept.table.source, split=kept.table.split)
    flags = [f for f in kept.table.flags if f.row in (kept.student, kept.reference)]
    remarks = [note(f"† {f.row}, {f.column}: {f.text}") for f in flags]
    return join(
        finding(sentence),
        note(el("span", texts["published"], class_="badge"), " ", source),
        _retention_table(kept, {f.column for f in flags}, texts),
        *remarks,
    )


def score(value: float) -> str:
    """A score with at least one decimal, as the papers print it."""
    text = f"{value:g}"
    return text if "." in text else f"{text}.0"


def _retention_table(kept: Retention, flagged: set[str], texts: Mapping[str, str]) -> Markup:
    heads = [texts["task"], kept.reference, kept.student, texts["drop"], texts["kept"]]
    top = el("tr", *(el("th", head, scope="col") for head in heads))
    rows = [_task_row(task, task.task in flagged) for task in kept.tasks]
    table = el("table", el("thead", top), el("tbody", *rows))
    return el(
        "div",
        table,
        class_="table bm-kept",
        tabindex="0",
        role="region",
        aria_label=texts["table"],
    )


def _task_row(task: TaskDrop, flagged: bool) -> Markup:
    share = min(100.0, max(0.0, task.kept))
    bar = el(
        "span", el("i", style=f"inline-size:{share:.1f}%"), class_="bm-bar", aria_hidden="true"
    )
    return el(
        "tr",
        el("th", task.task + (" †" if flagged else ""), scope="row"),
        el("td", score(task.reference)),
        el("td", score(task.student)),
        el("td", f"{-task.drop:+.1f}".replace("-", "−")),
        el("td", bar, f"{task.kept:.1f} %"),
    )
