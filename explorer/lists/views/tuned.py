"""Fine-tuned models as rows, JSON, sentences, curves, and the card of a saved one."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.analysis.digits import capitalised, counted, memory, milliseconds, nats, percent
from explorer.analysis.records import Records
from explorer.lists.judge import Scored
from explorer.lists.tuned import BestModel, SeedRun, Standing, TuningProgress, TuningResult
from explorer.lists.views import tuned_strings as strings
from explorer.lists.views.summary import left_out_html
from explorer.views.chart import chart_canvas, line
from explorer.views.markup import Markup, el, finding, join, model_name, note, table

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.models.tuning.training import Curves

COLUMNS = (
    *("classifier", "model", "accuracy", "low", "high", "lowest_seed", "highest_seed"),
    *("macro_f1", "f1_low", "f1_high", "train_seconds", "ms_per_row", "megabytes"),
    *("peak_megabytes", "points_per_second", "points_per_megabyte"),
)
"""Of the table: a row for each classifier."""
CURVES = ("model", "training", "step", "train_loss", "loss", "accuracy")
"""Of the charts: a row for each epoch."""
HEIGHT = 300
THIN = 0.35
"""Opacity of the losses of single steps."""


def tuned_rows(result: TuningResult) -> list[tuple[Any, ...]]:
    """Return a row for each classifier, models first; none before a seed is finished."""
    standings = result.scores.standings if result.scores else {}
    return [_row(standing, result) for standing in standings.values()]


def _row(standing: Standing, result: TuningResult) -> tuple[Any, ...]:
    answers, accuracy, f1 = standing.answers, standing.accuracy, standing.macro_f1
    kind, column = answers.key
    peak = result.peak_bytes.get(column) if kind == "tuned" else None
    return (
        *(kind, column or None, accuracy.value, accuracy.low, accuracy.high),
        *(min(standing.by_seed), max(standing.by_seed), f1.value, f1.low, f1.high),
        *(answers.seconds, answers.ms_per_row, answers.megabytes),
        *(None if peak is None else peak / 1e6, standing.per_second, standing.per_megabyte),
    )


def as_json(result: TuningResult) -> dict[str, Any]:
    """Return options, division of the rows, scores, comparisons and courses as JSON."""
    scores, plan, options = result.scores, result.plan, asdict(result.options)
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in tuned_rows(result)]
    compared = scores.comparisons if scores else ()
    return {
        **options,
        "seeds": result.seeds,
        "labels": list(result.names),
        "rows": len(result.texts.rows),
        "folds": len(plan.splits),
        "tested": [result.texts.rows[place].number for place in plan.tested],
        "rates": dict(result.rates),
        "advice": scores.advice if scores else "",
        "classifiers": [{k: v if v == v else None for k, v in row.items()} for row in rows],
        "comparisons": [
            {
                "first": [*each.first],
                "second": [*each.second],
                "difference": each.difference,
                "p_value": each.p_value,
            }
            for each in compared
        ],
        "runs": [_run(key, run) for key, runs in result.runs.items() for run in runs],
    }


def _run(key: str, run: SeedRun) -> dict[str, Any]:
    return {
        "model": key,
        "seed": run.seed,
        "fold": run.fold,
        "seconds": run.seconds,
        "best_epoch": run.curves.best,
        "losses": [*run.curves.losses],
        "epochs": [asdict(epoch) for epoch in run.curves.epochs],
    }


def sentences(result: TuningResult) -> tuple[str, ...]:
    """Return the advice, how the rows were divided, the spread over seeds, and the cost."""
    if result.scores is None:
        return (strings.NO_SCORES, divided(result))
    standings = result.scores.standings.values()
    tuned = [each for each in standings if each.answers.key[0] == "tuned"]
    said = [spread(each) for each in tuned]
    return (result.scores.advice, divided(result), *said, cost(result))


def divided(result: TuningResult) -> str:
    """Return how the rows were divided, and the budget that all models had."""
    (train, early), plan = result.plan.early[0], result.plan
    template = strings.FOLDS if plan.has_folds else strings.SPLIT
    numbers = {
        "train": counted(len(train), "row"),
        "early": f"{len(early):,}",
        "tested": f"{len(plan.tested):,}",
        "epochs": counted(result.options.epochs, "epoch"),
        "seeds": counted(result.options.seeds, "seed"),
        "folds": len(plan.splits),
    }
    return template.format(**numbers)


def spread(standing: Standing) -> str:
    """Return a fine-tuned model's accuracy with its interval and its range over seeds."""
    low, high = min(standing.by_seed), max(standing.by_seed)
    return strings.SPREAD.format(
        name=capitalised(standing.answers.name),
        accuracy=scored(standing.accuracy),
        low=percent(low),
        high=percent(high),
        seeds=counted(len(standing.by_seed), "seed"),
    )


def scored(score: Scored) -> str:
    """Return a share with its interval."""
    return f"{percent(score.value)} [{percent(score.low)}, {percent(score.high)}]"


def cost(result: TuningResult) -> str:
    """Return the time of one training and the peak memory of each model."""
    standings = result.scores.standings if result.scores else {}
    parts = []
    for key, label in result.labels.items():
        standing, peak = standings.get(("tuned", key)), result.peak_bytes.get(key)
        seconds = f"{standing.answers.seconds:.1f} s" if standing else ""
        most = memory(peak) if peak is not None else ""
        parts.append(
            strings.COST.format(label=label, cost=", ".join(filter(None, (seconds, most))))
        )
    return strings.COSTS.format(costs="; ".join(parts))


def curve_figures(
    curves: Mapping[str, Sequence["Curves"]], labels: Mapping[str, str]
) -> "list[go.Figure]":
    """Return the charts of loss and of accuracy by step; a line for each model, seed and fold.

    Thin lines are the losses of the training steps, all others are measured on the rows for early
    stopping.
    """
    import plotly.graph_objects as go

    figures = []
    for title, axis in ((strings.LOSS, strings.NATS), (strings.ACCURACY, strings.SHARE)):
        layout = {"title": title, "height": HEIGHT, "yaxis": {"title": axis, "rangemode": "tozero"}}
        figures.append(go.Figure(layout=layout | {"xaxis": {"title": strings.STEP}}))
    for key, of_model in curves.items():
        for n, course in enumerate(of_model):
            steps = [epoch.step for epoch in course.epochs]
            style = {"legendgroup": key, "showlegend": n == 0, "mode": "lines+markers"}
            every = [*range(1, len(course.losses) + 1)]
            thin = {"legendgroup": key, "showlegend": False, "opacity": THIN, "hoverinfo": "skip"}
            losses, right = [e.loss for e in course.epochs], [e.accuracy for e in course.epochs]
            figures[0].add_trace(line(every, course.losses, labels[key], key, **thin))
            figures[0].add_trace(line(steps, losses, labels[key], key, **style))
            figures[1].add_trace(line(steps, right, labels[key], key, **style))
    return figures


def curves_of(result: TuningResult) -> dict[str, list["Curves"]]:
    """Return the courses of all trainings, by column."""
    return {key: [run.curves for run in runs] for key, runs in result.runs.items()}


def charts(
    curves: Mapping[str, Sequence["Curves"]],
    labels: Mapping[str, str],
    header: Mapping[str, object],
) -> str:
    """Return the JSON of the charts of loss and accuracy, with the numbers that they draw."""
    rows = [
        (key, number, epoch.step, epoch.train_loss, epoch.loss, epoch.accuracy)
        for key, of_model in curves.items()
        for number, course in enumerate(of_model, 1)
        for epoch in course.epochs
    ]
    return chart_canvas(curve_figures(curves, labels), Records(CURVES, rows, header))


def live_charts(progress: TuningProgress, header: Mapping[str, object]) -> str:
    """Return the charts of the trainings so far, with the one that runs now; empty before any."""
    curves = {key: [run.curves for run in runs] for key, runs in progress.runs.items()}
    if progress.live:
        curves[progress.live.column].append(progress.live.curves)
    if not any(course.losses for of_model in curves.values() for course in of_model):
        return ""
    return charts(curves, progress.labels, header)


def progress_html(progress: TuningProgress) -> Markup:
    """Return a bar, what is trained now, and by model the trainings, seconds and memory so far."""
    share = progress.done / progress.total if progress.total else 0
    bar = el("progress", max="1", value=f"{share:.4f}", aria_hidden="true")
    said = el("p", _now(progress), role="status")
    return join(el("div", bar, said, class_="tx-progress"), _work_table(progress))


def _now(progress: TuningProgress) -> str:
    live = progress.live
    if live is None:
        return strings.BASELINES
    losses = live.curves.losses
    return strings.NOW.format(
        label=progress.labels[live.column],
        n=len(progress.runs[live.column]) + 1,
        all=progress.trainings,
        step=len(losses),
        steps=live.curves.steps,
        loss=nats(losses[-1]) if losses else "",
    )


def _work_table(progress: TuningProgress) -> Markup:
    rows: list[list[str | Markup]] = []
    for key, label in progress.labels.items():
        seconds = sum(run.seconds for run in progress.runs[key])
        live, peak = progress.live, progress.peak_bytes[key]
        seconds += live.seconds if live and live.column == key else 0.0
        done = f"{len(progress.runs[key])} / {progress.trainings}"
        most = memory(peak) if peak is not None else ""
        rows.append([model_name(key, label), done, f"{seconds:.1f} s", most])
    return table(strings.WORK, rows)


def tuned_html(result: TuningResult, texts: Mapping[str, str]) -> Markup:
    """Return the advice, the sentences on rows and cost, and the table of all classifiers.

    ``texts`` are the strings of the rows that are left out.
    """
    first, *others = sentences(result)
    standings = result.scores.standings.values() if result.scores else ()
    return join(
        finding(first),
        *(el("p", line, class_="tx-second") for line in others),
        table(strings.HEAD, [_cells(each, result) for each in standings]) if standings else None,
        left_out_html(result.texts.left_out, texts),
        *(note(str(refusal)) for refusal in result.missing.values()),
        note(strings.NOTE) if standings else None,
    )


def _cells(standing: Standing, result: TuningResult) -> list[str | Markup]:
    answers, (kind, column) = standing.answers, standing.answers.key
    peak = result.peak_bytes.get(column) if kind == "tuned" else None
    low, high = percent(min(standing.by_seed)), percent(max(standing.by_seed))
    name = capitalised(answers.name)
    return [
        model_name(column, name) if column else name,
        scored(standing.accuracy),
        f"{low} to {high}" if len(standing.by_seed) > 1 else "",
        scored(standing.macro_f1),
        f"{answers.seconds:.1f} s" if answers.seconds else "",
        memory(peak) if peak is not None else "",
        milliseconds(answers.ms_per_row) if answers.ms_per_row else "",
        memory(1e6 * answers.megabytes) if answers.megabytes else "",
        f"{standing.per_second:.2f}" if answers.seconds else "",
        f"{standing.per_megabyte:.2f}" if answers.megabytes else "",
    ]


def places_html(
    folders: Mapping[str, Path], before: Mapping[str, str], *, is_local: bool
) -> Markup:
    """Return where the models are saved, and how they are opened, if the reader has the machine.

    ``before`` names the models that were fine-tuned, by column.
    """
    parent = next(iter(folders.values())).parent
    if not is_local:
        return note(strings.SAVED_THERE.format(folder=parent.name))
    opens = " ".join(f"--model {key}={path}" for key, path in folders.items())
    key, path = next(iter(folders.items()))
    changed = strings.CHANGED.format(before=before[key], after=path)
    return join(
        note(strings.SAVED.format(folder=parent)),
        el("pre", el("code", f"python app.py {opens}\n{changed}"), class_="tx-command"),
    )


def figure(result: TuningResult) -> "go.Figure":
    """Return the charts of loss and accuracy in one figure, one above the other."""
    from plotly.subplots import make_subplots

    both = make_subplots(2, 1, shared_xaxes=True, subplot_titles=(strings.LOSS, strings.ACCURACY))
    for row, chart in enumerate(curve_figures(curves_of(result), result.labels), 1):
        for trace in chart.data:
            trace.showlegend = trace.showlegend and row == 1
            both.add_trace(trace, row, 1)
    both.update_yaxes(title=strings.NATS, row=1)
    both.update_yaxes(title=strings.SHARE, row=2)
    return both.update_xaxes(title=strings.STEP, row=2)


def card(result: TuningResult, key: str, best: BestModel) -> str:
    """Return the README.md of a saved model: its base, its rows, its training and its score."""
    spec, options = best.spec, result.options
    standing = result.scores.standings.get(("tuned", key)) if result.scores else None
    base = spec.repo or spec.name
    (train, early) = result.plan.early[0]
    score = spread(standing) if standing else strings.NO_SCORES
    curves = best.run.curves
    return strings.CARD.format(
        front=strings.FRONT.format(base=spec.repo) if spec.repo else "",
        label=spec.label,
        base=f"{base}@{spec.revision}" if spec.revision else base,
        labels=", ".join(result.names),
        columns=", ".join(f"{role}: {name}" for role, name in result.texts.columns.items()),
        rows=counted(len(result.texts.rows), "row"),
        train=f"{len(train):,}",
        early=f"{len(early):,}",
        tested=f"{len(result.plan.splits[0][1]):,}",
        method=strings.METHODS[options.method],
        epochs=counted(options.epochs, "epoch"),
        rate=result.rates[key],
        seed=best.run.seed,
        best=curves.best + 1,
        done=len(curves.epochs),
        score=score,
    )
