"""Weights stored against work: each published size as a point, on lines of equal use."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log10
from typing import TYPE_CHECKING

from explorer.views.chart import placed
from explorer.views.theme import COLOURS

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.analysis.parameters.sizes import Size

Ends = tuple[float, float]
HEIGHT, ROOM = 420, 1.6
"""Pixels, and how far beyond the smallest and the largest an axis goes."""
USES = (1, 4, 16)
"""How often a pass uses each stored weight, on the lines."""
STEPS = 60


def work_figure(sizes: "Sequence[Size]", length: int, texts: Mapping[str, str]) -> "go.Figure":
    """GFLOP of one pass over ``length`` tokens against stored weights; both axes logarithmic.

    On a line every stored weight is used equally often: two operations a token and use.
    """
    import plotly.graph_objects as go

    across = _ends([size.total for size in sizes])
    up = _ends([gflop(size, length) for size in sizes])
    lines = {uses: [2 * uses * length * x / 1e9 for x in across] for uses in USES}
    figure = go.Figure([_line(across, line) for line in lines.values()])
    sides = _sides(sizes, length, across, up)
    for key in dict.fromkeys(size.spec.key for size in sizes):
        own = [size for size in sizes if size.spec.key == key]
        figure.add_trace(_points(own, key, length, sides))
    for uses in USES:
        figure.add_annotation(_end_of_line(uses, length, across[1], up[1]))
    label = texts["label"].format(n=length)
    figure.update_layout(
        height=HEIGHT, showlegend=False, margin={"t": 22, "r": 40}, meta={"label": label}
    )
    figure.update_xaxes(
        type="log", range=_powers(across), title=texts["weights"], tickformat="~s", dtick="D2"
    )
    figure.update_yaxes(
        type="log", range=_powers(up), title=texts["work"].format(n=length), **_ticks(up)
    )
    return figure


def gflop(size: "Size", length: int) -> float:
    """Work of one pass over so many tokens, in 1e9 operations."""
    return sum(c * length**power for power, c in enumerate(size.flops)) / 1e9


def _ends(values: Sequence[float]) -> Ends:
    return min(values) / ROOM, max(values) * ROOM


def _powers(ends: Ends) -> list[float]:
    return [log10(end) for end in ends]


def _ticks(ends: Ends) -> dict[str, list]:
    """Round numbers, written out: Plotly prints 20 and 50 as a small 2 and 5."""
    round_ones = [first * 10.0**power for power in range(-3, 6) for first in (1, 2, 5)]
    values = [value for value in round_ones if ends[0] <= value <= ends[1]]
    return {"tickvals": values, "ticktext": [f"{value:,g}" for value in values]}


def _end_of_line(uses: int, length: int, right: float, top: float) -> dict[str, object]:
    """A line's number where it leaves the frame, outside: no name of a size can reach it."""
    end = 2 * uses * length * right / 1e9
    shown = {"text": f"{uses}\u202f×", "showarrow": False}
    if end <= top:  # places on a logarithmic axis are powers of ten
        return {**shown, "x": 1, "xref": "paper", "xanchor": "left", "y": log10(end)}
    x = log10(top * 1e9 / (2 * uses * length))
    return {**shown, "x": x, "y": 1, "yref": "paper", "yanchor": "bottom"}


def _sides(sizes: "Sequence[Size]", length: int, across: Ends, up: Ends) -> dict[str, str]:
    """On which side of its point each size has its name, apart from names, points and lines."""
    x, y = ((log10(low), log10(high)) for low, high in (across, up))
    at = [(log10(s.total), log10(gflop(s, length))) for s in sizes]
    ends = [
        pair
        for (one, start), (other, end) in pairwise(zip(sizes, at, strict=True))
        if one.spec.key == other.spec.key
        for pair in [(start, end)]
    ]
    for uses in USES:
        shift = log10(2 * uses * length / 1e9)
        ends.append(((x[0], x[0] + shift), (x[1], x[1] + shift)))
    drawn = [((px, x), (py, y)) for px, py in _along(ends)]
    labels = [size.spec.label for size in sizes]
    sides = placed([((px, x), (py, y)) for px, py in at], labels, drawn)
    return dict(zip(labels, sides, strict=True))


def _along(ends: "Sequence[tuple[Ends, Ends]]") -> list[Ends]:
    """Places along straight lines, as near to each other as a name is high."""
    shares = [step / STEPS for step in range(STEPS + 1)]
    return [
        (x0 + share * (x1 - x0), y0 + share * (y1 - y0))
        for (x0, y0), (x1, y1) in ends
        for share in shares
    ]


def _line(across: Ends, works: list[float]) -> "go.Scatter":
    import plotly.graph_objects as go

    dotted = {"dash": "dot", "width": 1}
    return go.Scatter(x=across, y=works, mode="lines", line=dotted, opacity=0.6, hoverinfo="skip")


def _points(
    sizes: "Sequence[Size]", key: str, length: int, sides: Mapping[str, str]
) -> "go.Scatter":
    import plotly.graph_objects as go

    labels = [size.spec.label for size in sizes]
    return go.Scatter(
        x=[size.total for size in sizes],
        y=[gflop(size, length) for size in sizes],
        text=labels,
        customdata=[size.spec.name for size in sizes],
        mode="lines+markers+text",
        textposition=[sides[label] for label in labels],
        cliponaxis=False,
        marker={"size": 11, "color": COLOURS[key].fill},
        line={"color": COLOURS[key].fill, "width": 1},
        hovertemplate="%{customdata}<br>%{x:,} weights, %{y:.2f} GFLOP<extra></extra>",
    )
