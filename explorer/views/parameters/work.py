"""Weights stored against work: each published size as a point, on lines of equal use."""

from collections.abc import Mapping, Sequence
from math import log10
from typing import TYPE_CHECKING

from explorer.views.chart import chart_canvas
from explorer.views.numbers import NO_RUN, Numbers
from explorer.views.theme import COLOURS

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.analysis.parameters.sizes import Size

COLUMNS = ("model", "weights_stored", "gflop", "uses_of_a_weight_per_token")
HEIGHT, LENGTH = 420, 128
USES = (1, 4, 16)
"""How often a pass uses each stored weight, on the lines."""


def work_figure(sizes: "Sequence[Size]", length: int, texts: Mapping[str, str]) -> "go.Figure":
    """GFLOP of one pass over ``length`` tokens against stored weights; both axes logarithmic.

    On a line every stored weight is used equally often: two operations a token and use.
    """
    import plotly.graph_objects as go

    totals = [size.total for size in sizes]
    ends = [min(totals) / 2, max(totals) * 2]
    figure = go.Figure()
    for uses in USES:
        works = [2 * uses * length * weights / 1e9 for weights in ends]
        name = texts["uses"].format(n=uses)
        figure.add_trace(
            go.Scatter(x=ends, y=works, mode="lines", name=name, line={"dash": "dot", "width": 1})
        )
        # On a logarithmic axis Plotly takes an annotation's place as a power of ten.
        x, y = log10(ends[1]), log10(works[1])
        figure.add_annotation(
            x=x, y=y, text=name, showarrow=False, xanchor="right", yanchor="bottom"
        )
    for key in dict.fromkeys(size.spec.key for size in sizes):
        own = [size for size in sizes if size.spec.key == key]
        figure.add_trace(_points(own, key, length))
    figure.update_layout(
        height=HEIGHT, showlegend=False, margin_t=8, meta={"label": texts["label"]}
    )
    figure.update_xaxes(type="log", title=texts["weights"], tickformat="~s", dtick="D2")
    figure.update_yaxes(type="log", title=texts["work"].format(n=length), dtick="D2")
    return figure


def work_canvas(sizes: "Sequence[Size]", texts: Mapping[str, str]) -> str:
    """The chart at 128 tokens, and in words the most work beside the most weights."""
    rows = [
        (s.spec.name, s.total, gflop(s, LENGTH), gflop(s, LENGTH) * 1e9 / (2 * LENGTH * s.total))
        for s in sizes
    ]
    most, largest = max(rows, key=lambda row: row[2]), max(rows, key=lambda row: row[1])
    finding = texts["finding"].format(
        most=most[0],
        work=f"{most[2]:.1f}",
        weights=f"{most[1] / 1e6:.1f}",
        largest=largest[0],
        less=f"{largest[2]:.1f}",
        stored=f"{largest[1] / 1e6:.1f}",
        n=LENGTH,
    )
    numbers = Numbers(COLUMNS, rows, {**NO_RUN, "length": LENGTH})
    figure = work_figure(sizes, LENGTH, texts)
    return chart_canvas([figure], numbers, finding=finding, note=texts["note"])


def gflop(size: "Size", length: int) -> float:
    """Work of one pass over so many tokens, in 1e9 operations."""
    return sum(c * length**power for power, c in enumerate(size.flops)) / 1e9


def _points(sizes: "Sequence[Size]", key: str, length: int) -> "go.Scatter":
    import plotly.graph_objects as go

    work = [gflop(size, length) for size in sizes]
    return go.Scatter(
        x=[size.total for size in sizes],
        y=work,
        text=[size.spec.name for size in sizes],
        mode="lines+markers+text",
        textposition="top center",
        marker={"size": 11, "color": COLOURS[key].fill},
        line={"color": COLOURS[key].fill, "width": 1},
        hovertemplate="%{text}<br>%{x:,} weights, %{y:.2f} GFLOP<extra></extra>",
    )
