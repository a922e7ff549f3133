"""Every sample of a measurement, its ratios on one scale, and the documents to take away."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.latency.family import FamilyLatency
from explorer.analysis.latency.ratio import Ratio
from explorer.analysis.latency.size_vs_time import row_label
from explorer.views.chart import chart_canvas
from explorer.views.latency.numbers import samples_numbers
from explorer.views.markup import Markup, el, model_name, table
from explorer.views.theme import COLOURS

if TYPE_CHECKING:
    import plotly.graph_objects as go

STRIP, AROUND = 56, 90
"""Pixels of a model's samples, and of axis and title."""
CLEAR = "rgba(0,0,0,0)"


@dataclass(frozen=True, slots=True)
class Mark:
    """One interval on a scale of ratios."""

    key: str
    label: str
    ratio: Ratio
    note: str = ""


def samples_canvas(result: FamilyLatency, texts: Mapping[str, str]) -> str:
    """The strip of samples, and each of them in the order in which it was taken."""
    return chart_canvas(
        [samples_figure(result, texts)], samples_numbers(result), note=texts["note"]
    )


def samples_figure(result: FamilyLatency, texts: Mapping[str, str]) -> "go.Figure":
    """A point for every sample of every model, a line at each median.

    The axis ends behind the slowest model's 98th percentile; zooming out shows the rest.
    """
    import plotly.graph_objects as go

    models = result.summary.models
    top = max(float(np.percentile(model.samples_ms, 98)) for model in models) * 1.05
    figure = go.Figure(layout={"height": AROUND + STRIP * len(models), "showlegend": False})
    for place, (row, model) in enumerate(zip(result.rows, models, strict=True)):
        name, colour = row_label(row, result.devices), COLOURS[row.spec.key].fill
        samples = model.samples_ms.tolist()
        figure.add_trace(
            go.Box(
                x=samples,
                y=[name] * len(samples),
                name=name,
                orientation="h",
                boxpoints="all",
                pointpos=0,
                jitter=0.7,
                fillcolor=CLEAR,
                line={"color": CLEAR},
                marker={"color": colour, "size": 6, "opacity": 0.5},
                hoveron="points",
                hovertemplate="%{x:.3f} ms<extra>%{y}</extra>",
            )
        )
        ends = {"x0": model.median_ms, "x1": model.median_ms}
        figure.add_shape(ends, y0=place - 0.42, y1=place + 0.42, line={"width": 3})
    figure.update_xaxes(title=texts["axis"], range=[0, top])
    figure.update_yaxes(autorange="reversed")
    return figure


def timing_table(result: FamilyLatency, head: Sequence[str], caption: str) -> Markup:
    """Median, interval, 90th percentile, first call, speed: one row per model and device."""
    rows: list[list[str | Markup]] = []
    for row, model in zip(result.rows, result.summary.models, strict=True):
        has_interval = np.isfinite(model.high_ms)
        span = f"{model.low_ms:,.2f} to {model.high_ms:,.2f}" if has_interval else "–"
        per_second = 1e3 * result.workload.tokens / model.median_ms
        rows.append(
            [
                model_name(row.spec.key, row_label(row, result.devices)),
                f"{model.median_ms:,.2f}",
                span,
                "–" if model.p90_ms is None else f"{model.p90_ms:,.2f}",
                f"{model.first_call_ms:,.0f}",
                f"{per_second:,.0f}",
                f"{result.gflops(row.spec) / model.median_ms * 1e3:,.1f}",
            ]
        )
    return table(list(head), rows, caption)


def ratio_scale(
    marks: Sequence[Mark], scale: tuple[float, float], lines: Mapping[float, str]
) -> Markup:
    """Ratios with their intervals on one scale, and named lines to compare them with.

    Args:
        marks: what is drawn, one row each.
        scale: the scale's two ends.
        lines: names by value, such as a published figure.
    """
    named = [_line(_place(value, scale), name) for value, name in lines.items()]
    rows = [_scale_row(mark, scale) for mark in marks]
    return el("div", el("div", *named, class_="lt-lines"), *rows, class_="lt-scale")


def _line(place: float, name: str) -> Markup:
    """A named line across all rows; towards the right end its name stands before it."""
    side = "lt-line end" if place > 65 else "lt-line"
    return el("div", el("span", name), class_=side, style=f"left:{place:.2f}%")


def _place(value: float, scale: tuple[float, float]) -> float:
    """Where a value stands on a scale, in percent of its width."""
    return float(np.clip(100 * (value - scale[0]) / (scale[1] - scale[0]), 0, 100))


def _scale_row(mark: Mark, scale: tuple[float, float]) -> Markup:
    ratio = mark.ratio
    left, right = _place(ratio.low, scale), _place(ratio.high, scale)
    interval = el("div", class_="lt-interval", style=f"left:{left:.2f}%;width:{right - left:.2f}%")
    point = el("div", class_="lt-point", style=f"left:{_place(ratio.ratio, scale):.2f}%")
    span = f" [{ratio.low:.2f}, {ratio.high:.2f}]" if np.isfinite(ratio.high) else ""
    numbers = el("span", el("small", mark.note), el("b", f"{ratio.ratio:.2f} ×"), span)
    return el(
        "div",
        el("div", model_name(mark.key, mark.label), numbers),
        el("div", interval, point, class_="lt-track"),
        class_="lt-row",
        data_model=mark.key,
    )


def downloads(documents: Mapping[str, str], lead: str) -> Markup:
    """Links that save documents made here, without asking the server again."""
    links = []
    for name, text in documents.items():
        kind = "text/csv" if name.endswith(".csv") else "application/json"
        packed = base64.b64encode(text.encode()).decode()
        links.append(
            el("a", name, href=f"data:{kind};base64,{packed}", download=name, class_="chip")
        )
    return el("p", lead, " ", *links, class_="note lt-downloads")


def recorded_table(report: Mapping[str, list], head: Sequence[str], caption: str) -> Markup:
    """A measurement recorded elsewhere, labelled as such and kept apart from this machine's.

    Where it was taken on several devices, every row says which.
    """
    several = len({m.get("device") for m in report["models"]}) > 1
    rows: list[list[str | Markup]] = [
        [
            model_name(m["model"], f"{m['name']} on {m['device']}" if several else m["name"]),
            f"{m['median_ms']:,.2f}",
            f"{m['gflops']:,.2f}",
            f"{m['gflops'] / m['median_ms'] * 1e3:,.1f}",
        ]
        for m in report["models"]
    ]
    return table(list(head), rows, caption)
