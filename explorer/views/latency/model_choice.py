"""Score against size and time: models, the reader's limits, and the Pareto front."""

import re
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import TYPE_CHECKING

from explorer.analysis.digits import memory, milliseconds, percent
from explorer.analysis.latency.model_choice import (
    Candidate,
    Comparison,
    Figure,
    VariantMeasures,
    frontier,
)
from explorer.analysis.records import Records
from explorer.views.chart import AxisValue, chart_canvas, label_sides
from explorer.views.markup import Markup, model_name, table
from explorer.views.theme import colour_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

COSTS: tuple[str, ...] = ("megabytes", "milliseconds")
MEASURES = (*COSTS, "score")
COLUMNS = (
    "model",
    *(f"{end}{name}" for name in MEASURES for end in ("", "low_", "high_")),
    "score_is_printed",
    "is_example",
    "meets_the_limits",
)
HEIGHT = 340


def choose_canvas(comparison: Comparison, titles: Mapping[str, str]) -> str:
    """Return a chart for each cost that is known, and a note on each one that is not."""
    fits = comparison.advice_of_all.fits
    rows = [
        [comparison.models[key].label]
        + [end for name in MEASURES for end in _ends(getattr(candidate, name))]
        + [key in comparison.printed, key in comparison.examples, key in fits]
        for key, candidate in comparison.candidates.items()
    ]
    known = {cost: _known(comparison.candidates, cost) for cost in COSTS}
    missing = [
        f"{titles[cost]}: {titles['unmeasured'].lower()}" for cost in COSTS if not known[cost]
    ]
    figures = [choose_figure(comparison, cost, titles) for cost, points in known.items() if points]
    return chart_canvas(figures, Records(COLUMNS, rows, {"text": None}), note="; ".join(missing))


Points = dict[str, tuple[Figure, Figure]]


def choose_figure(comparison: Comparison, name: str, titles: Mapping[str, str]) -> "go.Figure":
    """Draw a point per model, hollow where it misses a limit, and the Pareto front.

    Args:
        comparison: The models with their measurements, and the reader's limits.
        name: The cost on the horizontal axis.
        titles: The chart's texts.
    """
    import plotly.graph_objects as go

    limits, points = comparison.limits, _known(comparison.candidates, name)
    figure = go.Figure(layout={"title": f"{titles['score']}, {titles[f'against_{name}']}"})
    figure.update_layout(height=HEIGHT, showlegend=False, margin_t=12)
    ranked = comparison.ranked
    front = frontier({key: (x.value, y.value) for key, (x, y) in points.items() if key in ranked})
    steps = sorted((points[key][0].value, 100 * points[key][1].value) for key in front)
    style = {"shape": "hv", "dash": "dot", "width": 2}
    figure.add_scatter(
        x=[x for x, _ in steps], y=[y for _, y in steps], mode="lines", line=style, hoverinfo="skip"
    )
    limit, least = getattr(limits, name), limits.score
    highs = [x.high if isfinite(x.high) else x.value for x, _ in points.values()]
    across = (0.0, 1.15 * max([*highs, limit or 0.0]))
    up = _scores(points, least)
    for dot in _dots(comparison, points, titles, (across, up)):
        figure.add_trace(dot)
    if limit is not None:
        figure.add_vline(limit, line={"dash": "dash", "width": 1.5})
    if least is not None:
        figure.add_hline(100 * least, line={"dash": "dash", "width": 1.5})
    figure.update_xaxes(title=titles[name], range=across)
    figure.update_yaxes(title=titles["score"], range=up)
    return figure


Range = tuple[float, float]


def _dots(
    comparison: Comparison, points: Points, titles: Mapping[str, str], ranges: tuple[Range, Range]
) -> "Iterator[go.Scatter]":
    """Draw a circle with a name per model, and a diamond per variant of a model.

    A diamond has no name, which would not fit, and no score interval, which is its model's.
    """
    specs, fits = comparison.models, comparison.advice_of_all.fits
    labels = {key: _label(comparison, key, titles) for key in points}
    models = {
        key: point for key, point in points.items() if not isinstance(specs[key], VariantMeasures)
    }
    places = [((x.value, ranges[0]), (100 * y.value, ranges[1])) for x, y in models.values()]
    names, taken = [labels[key] for key in models], _whiskers(models, ranges)
    sides = dict(zip(models, label_sides(places, names, taken), strict=True))
    for key, point in points.items():
        dot = _dot(point, labels[key], colour_of(specs[key].key).fill, key in fits)
        if key in sides:
            yield dot.update(textposition=sides[key])
        else:
            symbol = dot.marker.symbol.replace("circle", "diamond")
            yield dot.update(mode="markers", error_y=None, marker_symbol=symbol)


STEPS = 24
"""Steps in which a whisker is followed."""


def _whiskers(points: Points, ranges: tuple[Range, Range]) -> "list[tuple[AxisValue, AxisValue]]":
    """Return places along every interval, which names avoid where they can."""
    places = []
    for x, y in points.values():
        places += [(across, y.value) for across in _along(x)]
        places += [(x.value, up) for up in _along(y)]
    return [((x, ranges[0]), (100 * y, ranges[1])) for x, y in places]


def _along(figure: Figure) -> list[float]:
    """Return the steps from one end of an interval to the other; none without one."""
    _, low, high = _ends(figure)
    if low is None or high is None or low == high:
        return []
    return [low + (high - low) * step / STEPS for step in range(STEPS + 1)]


def _label(comparison: Comparison, key: str, titles: Mapping[str, str]) -> str:
    """Return a model's name, marked where its score is a published one."""
    label = comparison.models[key].label
    return titles["printed"].format(label=label) if key in comparison.printed else label


def _dot(point: tuple[Figure, Figure], label: str, colour: str, fits: bool) -> "go.Scatter":
    import plotly.graph_objects as go

    x, y = point
    return go.Scatter(
        x=[x.value],
        y=[100 * y.value],
        error_x=_bar(x),
        error_y=_bar(y, 100),
        text=[label],
        mode="markers+text",
        marker={"size": 10, "color": colour, "symbol": "circle" if fits else "circle-open"},
        marker_line={"width": 2, "color": colour},
        hovertemplate="%{text}: %{x:.4~g}, %{y:.1f}%<extra></extra>",
    )


def _known(candidates: Mapping[str, Candidate], cost: str) -> Points:
    figures = {
        key: (getattr(candidate, cost), candidate.score) for key, candidate in candidates.items()
    }
    return {key: (x, y) for key, (x, y) in figures.items() if x and y}


def _scores(points: Points, least: float | None) -> tuple[float, float]:
    """Return the range of the score axis: all scores with a margin, within 0 and 100."""
    ends = [end for _, y in points.values() for end in (y.value, *_ends(y)[1:]) if end is not None]
    ends += [] if least is None else [least]
    low, high = 100 * min(ends), 100 * max(ends)
    margin = max(2, 0.25 * (high - low))
    return max(0, low - margin), min(100, high + margin)


def _bar(figure: Figure, unit: float = 1) -> dict[str, object] | None:
    """Return the error bar of a number; None without an interval."""
    value, low, high = _ends(figure)
    if value is None or low is None or high is None or low == high:
        return None
    ends = {"array": [unit * (high - value)], "arrayminus": [unit * (value - low)]}
    return {"type": "data", **ends, "thickness": 1.5, "width": 3}


def _ends(figure: Figure | None) -> tuple[float | None, float | None, float | None]:
    """Return a number and the ends of its interval; None for missing ones."""
    if figure is None:
        return None, None, None
    sure = isfinite(figure.low) and isfinite(figure.high)
    return (figure.value, figure.low, figure.high) if sure else (figure.value, None, None)


def choose_table(
    comparison: Comparison, verdicts: Mapping[str, str], head: tuple[str, ...]
) -> Markup:
    """Build the table of sizes, times, scores and verdicts."""
    specs = comparison.models
    rows: list[list[str | Markup]] = [
        [
            model_name(specs[key].key, specs[key].label, specs[key].size),
            _format_figure(candidate.megabytes, lambda n: memory(1e6 * n)),
            _format_figure(candidate.milliseconds, milliseconds),
            _format_figure(candidate.score, percent),
            verdicts[key],
        ]
        for key, candidate in comparison.candidates.items()
    ]
    return table(list(head), rows)


def _format_figure(figure: Figure | None, form: Callable[[float], str]) -> str:
    """Format a number with its interval, if there is one; the unit is printed once."""
    if figure is None:
        return "–"
    if figure.low == figure.high or not isfinite(figure.high):
        return form(figure.value)
    low, high = (re.sub(r"[^\d.,]+$", "", form(end)) for end in (figure.low, figure.high))
    return f"{form(figure.value)} [{low}, {high}]"
