"""A chart on its way to the page: the figure, its numbers, and what a reader of its title hears."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from explorer.views.markup import script_json
from explorer.views.numbers import Numbers
from explorer.views.theme import COLOURS, DASHES, faint

if TYPE_CHECKING:
    import plotly.graph_objects as go

Ends = tuple[float, float]
ROUND = [float(f"{digit}e{power}") for power in range(-2, 6) for digit in (1, 2, 5)]
"""Where a logarithmic axis of times has its marks, each written in full."""


def chart_canvas(figures: "Sequence[go.Figure]", numbers: Numbers, **more: object) -> str:
    """The JSON of one picture of the page: charts side by side, and the rows that they draw.

    Args:
        figures: Without a template: the browser puts that of the page's light or dark beneath.
        numbers: What the menu saves and a screen reader reads.
        more: What else the picture's own module wants to know.
    """
    drawn = [figure_json(figure) for figure in figures]
    return script_json({"figures": drawn, "numbers": json.loads(numbers.json), **more})


def figure_json(figure: "go.Figure") -> dict[str, object]:
    """A figure as the browser gets it: without the look, which is the page's."""
    drawn = json.loads(figure.to_json())
    drawn["layout"].pop("template", None)
    return drawn


def line(
    xs: Sequence[float],
    ys: Sequence[float | None] | np.ndarray,
    name: str,
    model: str = "",
    **styled: object,
) -> "go.Scatter":
    """One curve in its model's colour, broken where a value is missing."""
    import plotly.graph_objects as go

    look = {"color": COLOURS[model].fill} if model else {}
    options = {"mode": "lines", "line": {**look, "width": 2.25}} | styled
    return go.Scatter(x=list(xs), y=list(ys), name=name, connectgaps=False, **options)


def band(
    xs: Sequence[float], ends: Sequence[Ends | None], model: str, name: str = ""
) -> "list[go.Scatter]":
    """A 95% band behind a curve: a shape for each stretch of neighbours that have two ends."""
    import plotly.graph_objects as go

    fill = faint(COLOURS[model].fill, 0.18)
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
        for run in _stretches(ends)
    ]


Spot = tuple[float, Ends]
"""A value and the two ends of its axis."""
SMALLEST, LETTER, LINE, GAP = (280.0, 230.0), 7.0, 14.0, 8.0
"""Pixels of a chart on a phone, of a letter, of a line of text, and from a point to its name."""
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
"""Where a name begins beside its point: in shares of its length, and lines above or below."""


def placed(
    points: "Sequence[tuple[Spot, Spot]]",
    names: Sequence[str],
    drawn: "Sequence[tuple[Spot, Spot]]" = (),
) -> list[str]:
    """On which side of its point each name stands, so that on a phone no two touch.

    ``drawn`` are places, of lines for instance, over which a name is put only for want of room.
    """
    at = [_on_phone(point) for point in points]
    taken = [(x - GAP / 2, y - GAP / 2, x + GAP / 2, y + GAP / 2) for x, y in at]
    taken += [(x - 1, y - 1, x + 1, y + 1) for x, y in map(_on_phone, drawn)]
    sides = []
    for point, name in zip(at, names, strict=True):
        boxes = {side: _box(point, name, *offset) for side, offset in SIDES.items()}
        best = min(boxes, key=lambda side: _cost(boxes[side], taken))
        sides.append(best)
        taken.append(boxes[best])
    return sides


Box = tuple[float, float, float, float]


def _on_phone(point: tuple[Spot, Spot]) -> tuple[float, float]:
    """Where a point is on the smallest chart: what is apart there is apart on a wider one."""
    x, y = point
    return SMALLEST[0] * _share(x), SMALLEST[1] * (1 - _share(y))


def _share(spot: Spot) -> float:
    value, (low, high) = spot
    return (value - low) / (high - low)


def _box(point: tuple[float, float], name: str, left: float, down: float) -> Box:
    long = LETTER * len(name)
    beside = 0 if left == -0.5 or down else GAP * (1 + 2 * left)
    x, y = point[0] + left * long + beside, point[1] + down * (GAP + LINE / 2)
    return x, y - LINE / 2, x + long, y + LINE / 2


def _cost(box: Box, taken: Sequence[Box]) -> float:
    """How much of a name lies over others or outside the chart."""
    outside = max(0, -box[0]) + max(0, box[2] - SMALLEST[0]) + max(0, -box[1])
    over = sum(
        max(0, min(box[2], one[2]) - max(box[0], one[0]))
        * max(0, min(box[3], one[3]) - max(box[1], one[1]))
        for one in taken
    )
    return over + LINE * outside


def dash(place: int) -> str:
    """The line style of the first, second ... model of one colour."""
    return DASHES[place % len(DASHES)]


def _end(ends: Sequence[Ends | None], i: int, side: int) -> float:
    found = ends[i]
    assert found is not None
    return found[side]


def _stretches(ends: Sequence[Ends | None]) -> list[list[int]]:
    runs: list[list[int]] = [[]]
    for i, found in enumerate(ends):
        if found is None:
            runs.append([])
        else:
            runs[-1].append(i)
    return [run for run in runs if len(run) > 1]
