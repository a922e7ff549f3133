"""Latency over lengths or batches: two small charts, time and time relative to the first model."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from explorer.analysis.latency.paradox import size_label
from explorer.analysis.latency.sweep import Sweep
from explorer.models.specs import ModelSpec
from explorer.views.theme import COLOURS, figure_layout

Ends = tuple[float, float]
DASHES = ("solid", "dash", "dot", "dashdot")


def sweep_figure(sweep: Sweep, titles: dict[str, str]) -> go.Figure:
    """Median milliseconds per model with 95 % bands, both axes in factors of two."""
    figure = go.Figure()
    for number, spec in enumerate(sweep.points[0].specs if sweep.points else ()):
        models = [point.summary.model(spec.name) for point in sweep.points]
        band: list[Ends | None] = [(m.low_ms, m.high_ms) for m in models]
        _line(figure, sweep, (spec, number), ([m.median_ms for m in models], band))
    figure.update_layout(
        figure_layout(
            340,
            xaxis=_axis(sweep, titles),
            yaxis={
                "type": "log",
                "title": titles["ms"],
                "dtick": "D2",
                "gridcolor": "rgba(128,137,160,.25)",
            },
        )
    )
    return figure


def sweep_ratio_figure(sweep: Sweep, titles: dict[str, str]) -> go.Figure:
    """Each model's time over the first one's with its band: where it crosses 1, they swap.

    A point whose ratios were refused is a gap.
    """
    figure = go.Figure()
    for number, spec in enumerate(sweep.points[0].specs if sweep.points else ()):
        if not number:
            continue
        ratios = [point.summary.ratio(spec.name) for point in sweep.points]
        times = [None if r is None else r.ratio.inverse for r in ratios]
        if any(times):
            band = [None if t is None else (t.low, t.high) for t in times]
            middle = [None if t is None else t.ratio for t in times]
            _line(figure, sweep, (spec, number), (middle, band))
    figure.add_hline(y=1, line_color=COLOURS["bert"].fill, line_width=1.5)
    figure.update_layout(
        figure_layout(
            300,
            xaxis=_axis(sweep, titles),
            yaxis={
                "title": titles["ratio"],
                "rangemode": "tozero",
                "gridcolor": "rgba(128,137,160,.25)",
            },
        )
    )
    return figure


def _axis(sweep: Sweep, titles: dict[str, str]) -> dict[str, Any]:
    places = [sweep.position(point) for point in sweep.points]
    return {
        "type": "log",
        "title": titles[sweep.axis],
        "tickvals": places,
        "ticktext": [str(place) for place in places],
        "gridcolor": "rgba(128,137,160,.25)",
    }


def _line(
    figure: go.Figure,
    sweep: Sweep,
    model: tuple[ModelSpec, int],
    values: tuple[Sequence[float | None], Sequence[Ends | None]],
) -> None:
    """One model's line with its band; a band is drawn between points that both have one."""
    spec, number = model
    middle, band = values
    places = [sweep.position(point) for point in sweep.points]
    colour = COLOURS[spec.key].fill
    for stretch in _stretches(places, band):
        edge = [high for _, (_, high) in stretch] + [low for _, (low, _) in reversed(stretch)]
        along = [place for place, _ in stretch]
        figure.add_scatter(
            x=[*along, *reversed(along)],
            y=edge,
            fill="toself",
            fillcolor=colour,
            opacity=0.22,
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
        )
    figure.add_scatter(
        x=places,
        y=middle,
        mode="lines+markers",
        name=size_label(spec),
        marker={"size": 7},
        line={"color": colour, "dash": DASHES[number % 4] if _repeats(sweep) else "solid"},
        hovertemplate="%{y:.3g}",
    )


def _stretches(places: Sequence[int], band: Sequence[Ends | None]) -> list[list[tuple[int, Ends]]]:
    """Neighbouring points whose intervals have two ends, where there are at least two."""
    found: list[list[tuple[int, Ends]]] = [[]]
    for place, ends in zip(places, band, strict=True):
        if ends is not None and ends[0] > 0 and ends[1] < float("inf"):
            found[-1].append((place, ends))
        else:
            found.append([])
    return [stretch for stretch in found if len(stretch) > 1]


def _repeats(sweep: Sweep) -> bool:
    """Whether several models share a colour and need different lines."""
    keys = [spec.key for spec in sweep.points[0].specs]
    return len(set(keys)) < len(keys)
