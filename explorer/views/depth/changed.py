"""Four charts of the differences of two checkpoints, each with its control."""

from typing import TYPE_CHECKING

import numpy as np

from explorer.models.inside.changes import MatrixChange
from explorer.views.theme import PAGES, Colour, chart_template

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
    for trace in _weights(weights, fill):
        figure.add_trace(trace, 1, 1)
    for trace in _curves(cka, after, SHUFFLED, fill, start=0):
        figure.add_trace(trace, 1, 2)
    means = heads.js.mean(1), heads.control.mean(1) if heads.control is not None else None
    for trace in _curves(means, after, TWO_HEADS, fill, start=1):
        figure.add_trace(trace, 2, 1)
    for trace in _masks(masks, after, ONE_EARLIER.format(before=before), fill):
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


def _weights(weights: "Sequence[MatrixChange]", fill: str) -> "list[go.Scatter]":
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
    return [*lines, _control([layer + 1 for layer in layers], shuffled, SHUFFLED)]


def _curves(
    values: "tuple[np.ndarray, np.ndarray | None]", name: str, control: str, fill: str, start: int
) -> "list[go.Scatter]":
    import plotly.graph_objects as go

    curve, chance = values
    xs = list(range(start, start + len(curve)))
    drawn = go.Scatter(x=xs, y=curve, name=name, mode="lines+markers", line={"color": fill})
    return [drawn, *([] if chance is None else [_control(xs, chance, control)])]


def _control(xs: "Sequence[int]", ys: "Sequence[float] | np.ndarray", name: str) -> "go.Scatter":
    import plotly.graph_objects as go

    line = {"color": PAGES["light"].ink_soft, "dash": "dot"}
    return go.Scatter(x=list(xs), y=list(ys), name=name, mode="lines", line=line)


def _masks(masks: "MaskChange | None", after: str, control: str, fill: str) -> "list[go.Box]":
    import plotly.graph_objects as go

    if masks is None:
        return []
    grey = PAGES["light"].ink_soft
    return [
        go.Box(y=masks.kl, name=after, marker_color=fill, boxmean=True),
        go.Box(y=masks.one_earlier, name=control, marker_color=grey, boxmean=True),
    ]
