"""Four charts of the differences of two checkpoints, each with its control."""

from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.records import Records
from explorer.models.inside.changes import MatrixChange
from explorer.views.chart import chart_canvas
from explorer.views.theme import PAGES, Colour, chart_template, colour_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from explorer.analysis.depth.changed import HeadChange, MaskChange

TITLES = {
    "weights": "Weights: distance from {before}, in lengths of the matrix",
    "states": "Token states: CKA of {before} and {after}",
    "heads": "Heads: JS of {before} and {after}, nats",
    "masks": "Random masks: KL from {before}, nats",
    "no_masks": "Random masks: no masked-LM head reads them",
}
SHUFFLED, TWO_HEADS = "shuffled", "two heads of one layer"
ONE_EARLIER = "{before}, one layer earlier"
HEIGHT = 380
GREY = "#7b8496"
"""Colour of the controls on the page, in either theme."""


def changed_canvas(  # noqa: PLR0913 - the four quantities of a change
    names: tuple[tuple[str, str], tuple[str, str]],
    weights: "Sequence[MatrixChange]",
    cka: "tuple[np.ndarray, np.ndarray]",
    heads: "HeadChange",
    masks: "MaskChange | None",
    records: Records,
) -> str:
    """Return the JSON of the four charts, weights first; ``names`` are labels and columns."""
    import plotly.graph_objects as go

    (before, after), (_, column) = names
    fill, named = colour_of(column).fill, {"before": before, "after": after}
    means = heads.js.mean(1), heads.control.mean(1) if heads.control is not None else None
    charts = {
        "weights": _weights(weights, fill, GREY),
        "states": _curves(cka, after, SHUFFLED, (fill, GREY), start=0),
        "heads": _curves(means, after, TWO_HEADS, (fill, GREY), start=1),
    }
    if masks is not None:
        charts["masks"] = _masks(masks, after, ONE_EARLIER.format(before=before), (fill, GREY))
    figures = []
    for name, traces in charts.items():
        figure = go.Figure(traces, layout={"title": TITLES[name].format(**named), "height": HEIGHT})
        if name == "weights" and all(change.distance for change in weights):
            figure.update_yaxes(type="log")  # a small distance is beside a control of about 1.4
        else:
            figure.update_yaxes(rangemode="tozero")
        if name == "masks":
            figure.update_layout(showlegend=False)
        else:
            figure.update_xaxes(title="layer", dtick=1)
        figures.append(figure)
    return chart_canvas(figures, records)


def changed_figure(  # noqa: PLR0913 - the four quantities of a change
    columns: tuple[str, str],
    weights: "Sequence[MatrixChange]",
    cka: "tuple[np.ndarray, np.ndarray]",
    heads: "HeadChange",
    masks: "MaskChange | None",
    colours: dict[str, Colour],
) -> "go.Figure":
    """Draw weights, states, heads and predictions; grey is each one's control."""
    from plotly.subplots import make_subplots

    before, after = columns
    named = {"before": before, "after": after}
    fill = colours[after].fill if after in colours else PAGES["light"].ink
    names = ("weights", "states", "heads", "masks" if masks else "no_masks")
    titles = [TITLES[name].format(**named) for name in names]
    figure = make_subplots(2, 2, subplot_titles=titles, vertical_spacing=0.16)
    grey = PAGES["light"].ink_soft
    for trace in _weights(weights, fill, grey):
        figure.add_trace(trace, 1, 1)
    for trace in _curves(cka, after, SHUFFLED, (fill, grey), start=0):
        figure.add_trace(trace, 1, 2)
    means = heads.js.mean(1), heads.control.mean(1) if heads.control is not None else None
    for trace in _curves(means, after, TWO_HEADS, (fill, grey), start=1):
        figure.add_trace(trace, 2, 1)
    for trace in _masks(masks, after, ONE_EARLIER.format(before=before), (fill, grey)):
        figure.add_trace(trace, 2, 2)
    figure.update_xaxes(title_text="layer")
    figure.update_xaxes(title_text="", row=2, col=2)
    figure.update_yaxes(rangemode="tozero")
    page = PAGES["light"]
    return figure.update_layout(
        template=chart_template("light"),
        paper_bgcolor=page.paper,
        plot_bgcolor=page.paper,
        height=720,
        showlegend=False,
        margin={"t": 60},
    )


def _weights(weights: "Sequence[MatrixChange]", fill: str, grey: str) -> "list[go.Scatter]":
    import plotly.graph_objects as go

    by_name: dict[str, list[MatrixChange]] = {}
    for change in weights:
        if change.layer is not None:
            by_name.setdefault(change.matrix, []).append(change)
    symbols = ("circle", "square", "diamond", "x", "triangle-up", "star")
    lines = [
        go.Scatter(
            x=[change.layer + 1 for change in changes if change.layer is not None],
            y=[change.distance for change in changes],
            name=name,
            mode="lines+markers",
            line={"color": fill, "width": 1},
            marker={"symbol": symbol, "size": 7},
        )
        for (name, changes), symbol in zip(by_name.items(), symbols, strict=False)
    ]
    layers = sorted({change.layer for change in weights if change.layer is not None})
    shuffled = [
        float(np.mean([c.shuffled for c in weights if c.layer == layer])) for layer in layers
    ]
    return [*lines, _control([layer + 1 for layer in layers], shuffled, SHUFFLED, grey)]


def _curves(
    values: "tuple[np.ndarray, np.ndarray | None]",
    name: str,
    control: str,
    colours: tuple[str, str],
    start: int,
) -> "list[go.Scatter]":
    import plotly.graph_objects as go

    (curve, chance), (fill, grey) = values, colours
    xs = list(range(start, start + len(curve)))
    drawn = go.Scatter(x=xs, y=curve, name=name, mode="lines+markers", line={"color": fill})
    return [drawn, *([] if chance is None else [_control(xs, chance, control, grey)])]


def _control(
    xs: "Sequence[int]", ys: "Sequence[float] | np.ndarray", name: str, grey: str
) -> "go.Scatter":
    import plotly.graph_objects as go

    line = {"color": grey, "dash": "dot"}
    return go.Scatter(x=list(xs), y=list(ys), name=name, mode="lines", line=line)


def _masks(
    masks: "MaskChange | None", after: str, control: str, colours: tuple[str, str]
) -> "list[go.Box]":
    import plotly.graph_objects as go

    if masks is None:
        return []
    fill, grey = colours
    return [
        go.Box(y=masks.kl, name=after, marker_color=fill, boxmean=True),
        go.Box(y=masks.one_earlier, name=control, marker_color=grey, boxmean=True),
    ]
