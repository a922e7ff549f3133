"""Latency over lengths or batches: each model's time, and its time over the first one's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from explorer.analysis.latency.sweep import Sweep
from explorer.models.specs import ModelSpec
from explorer.views.chart import ROUND, Ends, band, chart_canvas, dash, line
from explorer.views.latency.measure import timed_said
from explorer.views.numbers import Numbers

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 340


@dataclass(frozen=True, slots=True)
class SweepLine:
    """One model's two lines by one statistic; the first model has no ratio to itself."""

    key: str
    label: str
    ms: list[float]
    ms_ends: list[Ends | None]
    ratio: list[float | None]
    ratio_ends: list[Ends | None]


def sweep_canvas(sweep: Sweep, titles: Mapping[str, str]) -> str:
    """Each model's milliseconds and its time over the first one's, with 95 % intervals."""
    specs = sweep.points[0].specs if sweep.points else ()
    places = [sweep.position(point) for point in sweep.points]
    lines = [sweep_line(sweep, spec) for spec in specs]
    said = timed_said(sweep.points[0].workload, (sweep.axis,)) if specs else {}
    columns = ("model", titles[sweep.axis], "ms", "low_ms", "high_ms")
    numbers = Numbers((*columns, "ratio", "low_ratio", "high_ratio"), _rows(places, lines), said)
    return chart_canvas(sweep_figures(places, lines, titles, titles[sweep.axis]), numbers)


def sweep_line(sweep: Sweep, spec: ModelSpec) -> SweepLine:
    """One model over the sweep, its time as its ratio to the first one's in the same rounds.

    Medians of their own could order two models the other way. Where ratios were refused, the line
    of the ratio has a gap and the time is the model's own median.
    """
    first = sweep.points[0].specs[0]
    times = [point.summary.model(spec.name) for point in sweep.points]
    base = [point.summary.model(first.name).median_ms for point in sweep.points]
    ratios = [None if spec is first else p.summary.ratio(spec.name) for p in sweep.points]
    found = [None if r is None else r.ratio.inverse for r in ratios]
    bands = [None if r is None else _ends(r.low, r.high) for r in found]
    return SweepLine(
        spec.key,
        spec.label,
        [
            m.median_ms if r is None else r.ratio * by
            for m, r, by in zip(times, found, base, strict=True)
        ],
        [
            _ends(m.low_ms, m.high_ms) if ends is None else (ends[0] * by, ends[1] * by)
            for m, ends, by in zip(times, bands, base, strict=True)
        ],
        [None if r is None else r.ratio for r in found],
        bands,
    )


def sweep_figures(
    places: Sequence[float], lines: Sequence[SweepLine], titles: Mapping[str, str], axis: str
) -> "list[go.Figure]":
    """Times with both axes logarithmic, and ratios around 1 where there is one to draw."""
    import plotly.graph_objects as go

    several = len({one.key for one in lines}) < len(lines)
    times, ratios = (
        go.Figure(layout={"title": titles[name], "height": HEIGHT}) for name in ("ms", "ratio")
    )
    for i, one in enumerate(lines):
        look = dash(i) if several else "solid"
        times.add_traces(_traces(places, (one.ms, one.ms_ends), one, look))
        if any(value is not None for value in one.ratio):
            ratios.add_traces(_traces(places, (one.ratio, one.ratio_ends), one, look))
    times.update_yaxes(type="log", tickvals=ROUND, tickformat=",", hoverformat=",.4g")
    ratios.add_hline(1, line_width=1.5)
    ratios.update_yaxes(rangemode="tozero", hoverformat=".3f")
    shown = [times, ratios] if ratios.data else [times]
    for figure in shown:
        figure.update_xaxes(
            type="log", title=axis, tickvals=places, ticktext=[f"{n:,}" for n in places]
        )
    return shown


def _traces(
    places: Sequence[float],
    drawn: tuple[Sequence[float | None], Sequence[Ends | None]],
    of: SweepLine,
    look: str,
) -> "list[go.Scatter]":
    """A line with its band; the ends stand at each point too, which may have no neighbour."""
    values, ends = drawn
    up, down = ([0.0] * len(values) for _ in range(2))
    for i, (value, found) in enumerate(zip(values, ends, strict=True)):
        if value is not None and found is not None:
            up[i], down[i] = found[1] - value, value - found[0]
    bars = {"type": "data", "array": up, "arrayminus": down, "thickness": 1.5, "width": 0}
    curve = line(places, values, of.label, of.key, mode="lines+markers", line_dash=look)
    return [*band(places, ends, of.key, of.label), curve.update(error_y=bars)]


def _rows(places: Sequence[float], lines: Sequence[SweepLine]) -> list[tuple[object, ...]]:
    none = (None, None)
    return [
        (
            *(one.label, place, one.ms[i], *(one.ms_ends[i] or none)),
            *(one.ratio[i], *(one.ratio_ends[i] or none)),
        )
        for one in lines
        for i, place in enumerate(places)
    ]


def _ends(low: float, high: float) -> Ends | None:
    """The two ends of an interval, where it has two."""
    return (low, high) if low > 0 and isfinite(high) else None
