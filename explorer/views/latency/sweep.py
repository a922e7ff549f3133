"""Latency over lengths or batch sizes: each model's time, and its ratio to the first model's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from explorer.analysis.latency.family import Sweep
from explorer.analysis.records import Records
from explorer.models.specs import ModelSpec
from explorer.views.chart import ROUND_TICKS, Ends, band, chart_canvas, dash, line
from explorer.views.latency.measure import timed_header

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 340


@dataclass(frozen=True, slots=True)
class SweepLine:
    """A model's times and ratios to the first model; the first has no ratio."""

    key: str
    label: str
    ms: list[float]
    ms_ends: list[Ends | None]
    ratio: list[float | None]
    ratio_ends: list[Ends | None]


def sweep_canvas(sweep: Sweep, titles: Mapping[str, str]) -> str:
    """Return the charts of times and of ratios to the first model, with 95% intervals."""
    specs = sweep.points[0].specs if sweep.points else ()
    places = [sweep.position(point) for point in sweep.points]
    lines = [sweep_line(sweep, spec) for spec in specs]
    header = timed_header(sweep.points[0].workload, (sweep.axis,)) if specs else {}
    columns = ("model", titles[sweep.axis], "ms", "low_ms", "high_ms")
    records = Records((*columns, "ratio", "low_ratio", "high_ratio"), _rows(places, lines), header)
    return chart_canvas(sweep_figures(places, lines, titles, titles[sweep.axis]), records)


def sweep_line(sweep: Sweep, spec: ModelSpec) -> SweepLine:
    """Compute one model's line; its time is its ratio, from paired rounds, times the first model's.

    Each model's own median could order two models the other way. Without a ratio its line has a
    gap, and the time is the model's own median.
    """
    first = sweep.points[0].specs[0]
    times = [point.summary.model(spec.name) for point in sweep.points]
    base = [point.summary.model(first.name).median_ms for point in sweep.points]
    ratios = [None if spec is first else p.summary.ratio(spec.name) for p in sweep.points]
    inverses = [None if r is None else r.ratio.inverse for r in ratios]
    bands = [None if r is None else _ends(r.low, r.high) for r in inverses]
    return SweepLine(
        spec.key,
        spec.label,
        [
            m.median_ms if r is None else r.ratio * base_ms
            for m, r, base_ms in zip(times, inverses, base, strict=True)
        ],
        [
            _ends(m.low_ms, m.high_ms) if ends is None else (ends[0] * base_ms, ends[1] * base_ms)
            for m, ends, base_ms in zip(times, bands, base, strict=True)
        ],
        [None if r is None else r.ratio for r in inverses],
        bands,
    )


def sweep_figures(
    positions: Sequence[float], lines: Sequence[SweepLine], titles: Mapping[str, str], axis: str
) -> "list[go.Figure]":
    """Draw times with both axes logarithmic and, if there are any, ratios around 1."""
    import plotly.graph_objects as go

    several = len({model.key for model in lines}) < len(lines)
    times, ratios = (
        go.Figure(layout={"title": titles[name], "height": HEIGHT}) for name in ("ms", "ratio")
    )
    for i, model in enumerate(lines):
        style = dash(i) if several else "solid"
        times.add_traces(_traces(positions, model.ms, model.ms_ends, model, style))
        if any(value is not None for value in model.ratio):
            ratios.add_traces(_traces(positions, model.ratio, model.ratio_ends, model, style))
    times.update_yaxes(ROUND_TICKS, type="log", hoverformat=",.4g")
    ratios.add_hline(1, line_width=1.5)
    ratios.update_yaxes(rangemode="tozero", hoverformat=".3f")
    figures = [times, ratios] if ratios.data else [times]
    for figure in figures:
        figure.update_xaxes(
            type="log", title=axis, tickvals=positions, ticktext=[f"{n:,}" for n in positions]
        )
    return figures


def _traces(
    positions: Sequence[float],
    values: Sequence[float | None],
    ends: Sequence[Ends | None],
    model: SweepLine,
    style: str,
) -> "list[go.Scatter]":
    """Draw a line with its band, and error bars for points without an adjacent one."""
    up, down = ([0.0] * len(values) for _ in range(2))
    for i, (value, interval) in enumerate(zip(values, ends, strict=True)):
        if value is not None and interval is not None:
            up[i], down[i] = interval[1] - value, value - interval[0]
    bars = {"type": "data", "array": up, "arrayminus": down, "thickness": 1.5, "width": 0}
    curve = line(positions, values, model.label, model.key, mode="lines+markers", line_dash=style)
    return [*band(positions, ends, model.key, model.label), curve.update(error_y=bars)]


def _rows(positions: Sequence[float], lines: Sequence[SweepLine]) -> list[tuple[object, ...]]:
    none = (None, None)
    return [
        (
            *(model.label, place, model.ms[i], *(model.ms_ends[i] or none)),
            *(model.ratio[i], *(model.ratio_ends[i] or none)),
        )
        for model in lines
        for i, place in enumerate(positions)
    ]


def _ends(low: float, high: float) -> Ends | None:
    """Return the two ends of an interval; None where one is missing."""
    return (low, high) if low > 0 and isfinite(high) else None
