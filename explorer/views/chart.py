"""Building blocks of charts: JSON with numbers, lines, bands, placement of labels."""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import numpy as np

from explorer.analysis.records import Records
from explorer.views.markup import script_json
from explorer.views.theme import DASHES, colour_of, faint

if TYPE_CHECKING:
    import plotly.graph_objects as go

Ends = tuple[float, float]
ROUND = [float(f"{digit}e{power}") for power in range(-2, 6) for digit in (1, 2, 5)]
"""Ticks of a logarithmic time axis."""
ROUND_TICKS: dict[str, object] = {"tickvals": ROUND, "ticktext": [f"{n:,g}" for n in ROUND]}
"""The same, written out: Plotly would print as many zeros behind 500 as behind 0.05."""


class Chart(TypedDict):
    """Figure as plotly writes it, without its template."""

    data: list[Any]
    layout: dict[str, Any]


class Numbers(TypedDict):
    """Rows of a picture, with the header and the constants of its files."""

    columns: list[str]
    rows: list[list[str | float | bool | None]]
    said: dict[str, Any]
    constants: dict[str, Any]


class ChartData(TypedDict):
    """Charts side by side, and the rows that they draw."""

    figures: list[Chart]
    numbers: Numbers
    finding: NotRequired[str]
    note: NotRequired[str]


def chart_canvas(figures: "Sequence[go.Figure]", records: Records, **more: object) -> str:
    """Return the JSON of charts side by side and of the rows that they draw.

    Args:
        figures: Figures without a template; the browser applies that of the light or dark page.
        records: Rows that the menu saves and a screen reader reads.
        more: Further values for the chart's own JavaScript module.
    """
    charts = [figure_json(figure) for figure in figures]
    return script_json({"figures": charts, "numbers": records.document(), **more})


def figure_json(figure: "go.Figure") -> Chart:
    """Return a figure as a dict without its template, which the browser adds."""
    document: Chart = json.loads(figure.to_json())
    document["layout"].pop("template", None)
    return document


ZERO_WIDTH = "\u200b"


def categories(names: Iterable[object]) -> list[str]:
    """Return names as categories of an axis: those that read alike are told apart invisibly."""
    shown = [str(name) for name in names]
    return [f"{name}{ZERO_WIDTH * shown[:i].count(name)}" for i, name in enumerate(shown)]


def line(
    xs: Sequence[float],
    ys: Sequence[float | None] | np.ndarray,
    name: str,
    model: str = "",
    **styled: object,
) -> "go.Scatter":
    """Return a curve in its model's colour, with gaps at missing values."""
    import plotly.graph_objects as go

    style = {"color": colour_of(model).fill} if model else {}
    options = {"mode": "lines", "line": {**style, "width": 2.25}} | styled
    return go.Scatter(x=list(xs), y=list(ys), name=name, connectgaps=False, **options)


def band(
    xs: Sequence[float], ends: Sequence[Ends | None], model: str, name: str = ""
) -> "list[go.Scatter]":
    """Return a 95% band: one shape per run of adjacent points that have an interval."""
    import plotly.graph_objects as go

    fill = faint(colour_of(model).fill, 0.18)
    return [
        go.Scatter(
            x=[*(xs[i] for i in run), *(xs[i] for i in reversed(run))],
            y=[*(_end(ends, i, 0) for i in run), *(_end(ends, i, 1) for i in reversed(run))],
            fill="toself",
            fillcolor=fill,
            mode="lines",
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
            name=name,
        )
        for run in _segments(ends)
    ]


AxisValue = tuple[float, Ends]
"""A value and the two ends of its axis' range."""
SMALLEST, LETTER, LINE, GAP, DOT = (280.0, 230.0), 7.0, 14.0, 8.0, 7.0
"""Pixels: chart on a phone, width of a letter, height of a line, distance of point and name."""
ROUNDS = 3
"""Rounds in which each name is placed anew beside all others."""
SIDES: dict[str, tuple[float, float]] = {
    "top right": (0, -1),
    "bottom right": (0, 1),
    "top left": (-1, -1),
    "bottom left": (-1, 1),
    "top center": (-0.5, -1),
    "bottom center": (-0.5, 1),
    "middle right": (0, 0),
    "middle left": (-1, 0),
}
"""Offset of a name from its point: share of the name's width, and lines down."""


def label_sides(
    points: "Sequence[tuple[AxisValue, AxisValue]]",
    names: Sequence[str],
    occupied: "Sequence[tuple[AxisValue, AxisValue]]" = (),
) -> list[str]:
    """Choose the side of its point for each name so that names do not overlap on a phone.

    ``occupied`` are further occupied points, such as those of lines, to avoid where possible.
    """
    pixels = [_on_phone(point) for point in points]
    taken = [(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in pixels]
    taken += [(x - 1, y - 1, x + 1, y + 1) for x, y in map(_on_phone, occupied)]
    boxes = [
        {side: _box(point, name, *offset) for side, offset in SIDES.items()}
        for point, name in zip(pixels, names, strict=True)
    ]
    alone = [{side: _cost(box, taken) for side, box in of_one.items()} for of_one in boxes]
    orders = [[*range(first, len(boxes)), *range(first)] for first in range(max(1, len(boxes)))]

    @cache  # every order and every round asks for the same pairs
    def covered(i: int, side: str, other: int, at: str) -> float:
        return _overlap(boxes[i][side], [boxes[other][at]])

    _, sides = min((_settled(covered, alone, order) for order in orders), key=lambda best: best[0])
    return sides


def _settled(
    covered: Callable[[int, str, int, str], float], alone: list[dict[str, float]], order: list[int]
) -> tuple[float, list[str]]:
    """Place names in an order, then each anew beside all others; return the overlap and sides.

    ``covered`` is the area that two names share, each at a side of its point; ``alone`` is what
    each costs without the other names.
    """
    sides: dict[int, str] = {}
    for _ in range(ROUNDS):
        for i in order:
            others = [placed for placed in sides.items() if placed[0] != i]
            costs = {
                side: cost + sum(covered(i, side, *other) for other in others)
                for side, cost in alone[i].items()
            }
            sides[i] = min(costs, key=costs.__getitem__)
    overlap = sum(
        alone[i][sides[i]]
        + sum(covered(i, sides[i], j, sides[j]) for j in range(i + 1, len(alone)))
        for i in range(len(alone))
    )
    return overlap, [sides[i] for i in range(len(alone))]


Box = tuple[float, float, float, float]


def _on_phone(point: tuple[AxisValue, AxisValue]) -> tuple[float, float]:
    """Return a point's pixels on the smallest chart; names apart there are apart on wider ones."""
    x, y = point
    return SMALLEST[0] * _axis_share(x), SMALLEST[1] * (1 - _axis_share(y))


def _axis_share(axis_value: AxisValue) -> float:
    value, (low, high) = axis_value
    return (value - low) / (high - low)


def _box(point: tuple[float, float], name: str, left: float, down: float) -> Box:
    length = LETTER * len(name)
    beside = 0 if left == -0.5 or down else GAP * (1 + 2 * left)
    x, y = point[0] + left * length + beside, point[1] + down * (GAP + LINE / 2)
    return x, y - LINE / 2, x + length, y + LINE / 2


def _cost(box: Box, taken: Sequence[Box]) -> float:
    """Return a penalty for overlap with occupied boxes and for leaving the chart."""
    outside = max(0, -box[0]) + max(0, box[2] - SMALLEST[0]) + max(0, -box[1])
    return _overlap(box, taken) + LINE * outside


def _overlap(box: Box, others: Sequence[Box]) -> float:
    """Return the area of a box that others cover, each counted by itself."""
    return sum(
        max(0, min(box[2], other[2]) - max(box[0], other[0]))
        * max(0, min(box[3], other[3]) - max(box[1], other[1]))
        for other in others
    )


def dash(index: int) -> str:
    """Return the line style of the first, second ... model of one colour."""
    return DASHES[index % len(DASHES)]


def _end(ends: Sequence[Ends | None], i: int, side: int) -> float:
    interval = ends[i]
    assert interval is not None
    return interval[side]


def _segments(ends: Sequence[Ends | None]) -> list[list[int]]:
    runs: list[list[int]] = [[]]
    for i, interval in enumerate(ends):
        if interval is None:
            runs.append([])
        else:
            runs[-1].append(i)
    return [run for run in runs if len(run) > 1]
