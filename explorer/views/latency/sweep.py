"""Latency over lengths or batch sizes: each model's time, and its ratio to the first model's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from explorer.analysis.latency.family import Sweep
from explorer.analysis.latency.summary import LatencySummary
from explorer.analysis.records import Records
from explorer.models.specs import ModelSpec
from explorer.views.chart import ROUND_TICKS, Ends, band, chart_canvas, dash, line
from explorer.views.latency.measure import timed_header

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 340


@dataclass(frozen=True, slots=True)
class SweepLine:
    """A model's times and ratios to the first model; the first has no ratio.

    None at points whose times are not reported on this line's clock.
    """

    key: str
    label: str
    ms: list[float | None]
    ms_ends: list[Ends | None]
    ratio: list[float | None]
    ratio_ends: list[Ends | None]
    by_cpu: bool = False
    """True for CPU time in the place of a disturbed wall clock."""


def sweep_canvas(sweep: Sweep, titles: Mapping[str, str]) -> str:
    """Return the charts of times and of ratios to the first model, with 95% intervals."""
    specs = sweep.points[0].specs if sweep.points else ()
    places = [sweep.position(point) for point in sweep.points]
    lines = [line for cpu in (False, True) for line in sweep_lines(sweep, cpu)]
    varying = (sweep.axis, "clock")
    header = timed_header(sweep.points[0].workload, varying) if specs else {}
    columns = ("model", titles[sweep.axis], "ms", "low_ms", "high_ms")
    clock = sweep.points[0].workload.clock if specs else ""
    rows = _rows(places, lines, clock)
    records = Records((*columns, "ratio", "low_ratio", "high_ratio", "clock"), rows, header)
    return chart_canvas(sweep_figures(places, lines, titles, titles[sweep.axis]), records)


def sweep_lines(sweep: Sweep, by_cpu: bool) -> list[SweepLine]:
    """Compute every model's line on one clock; none of CPU time where no point needs it."""
    summaries = list(sweep.reported(by_cpu).values())
    if by_cpu and not any(summaries):
        return []
    specs = sweep.points[0].specs if sweep.points else ()
    return [sweep_line(summaries, specs[0], spec, by_cpu) for spec in specs]


def sweep_line(
    summaries: Sequence[LatencySummary | None], first: ModelSpec, spec: ModelSpec, by_cpu: bool
) -> SweepLine:
    """Compute one model's line; its time is its ratio, from paired rounds, times the first model's.

    Each model's own median could order two models the other way. A point without a summary is a
    gap.
    """
    found = [_point(summary, first, spec) for summary in summaries]
    return SweepLine(
        spec.key,
        f"{spec.label}, CPU time" if by_cpu else spec.label,
        [ms for ms, _, _, _ in found],
        [ends for _, ends, _, _ in found],
        [ratio for _, _, ratio, _ in found],
        [ends for _, _, _, ends in found],
        by_cpu,
    )


def _point(
    summary: LatencySummary | None, first: ModelSpec, spec: ModelSpec
) -> tuple[float | None, Ends | None, float | None, Ends | None]:
    """Return time and ratio of a model at one point, each with its interval."""
    if summary is None:
        return None, None, None, None
    base_ms = summary.model(first.name).median_ms
    held = None if spec is first else summary.ratio(spec.name)
    if held is None:
        own = summary.model(spec.name)
        return own.median_ms, _ends(own.low_ms, own.high_ms), None, None
    ratio = held.ratio.inverse
    ends = _ends(ratio.low, ratio.high)
    scaled = None if ends is None else (ends[0] * base_ms, ends[1] * base_ms)
    return ratio.ratio * base_ms, scaled, ratio.ratio, ends


def sweep_figures(
    positions: Sequence[float], lines: Sequence[SweepLine], titles: Mapping[str, str], axis: str
) -> "list[go.Figure]":
    """Draw times with both axes logarithmic and, if there are any, ratios around 1."""
    import plotly.graph_objects as go

    several = len({model.key for model in lines if not model.by_cpu}) < len(
        [model for model in lines if not model.by_cpu]
    )
    times, ratios = (
        go.Figure(layout={"title": titles[name], "height": HEIGHT}) for name in ("ms", "ratio")
    )
    for i, model in enumerate(lines):
        style = "dot" if model.by_cpu else dash(i) if several else "solid"
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


def _rows(
    positions: Sequence[float], lines: Sequence[SweepLine], clock: str
) -> list[tuple[object, ...]]:
    none = (None, None)
    return [
        (
            *(model.label, place, model.ms[i], *(model.ms_ends[i] or none)),
            *(model.ratio[i], *(model.ratio_ends[i] or none)),
            "compute" if model.by_cpu else clock,
        )
        for model in lines
        for i, place in enumerate(positions)
        if model.ms[i] is not None
    ]


def _ends(low: float, high: float) -> Ends | None:
    """Return the two ends of an interval; None where one is missing."""
    return (low, high) if low > 0 and isfinite(high) else None
