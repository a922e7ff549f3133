"""An LSTM against one encoder layer: time for a token over the length of the text."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.analysis.layer.recurrent import NAMES, RecurrentPoint
from explorer.views.chart import ROUND, chart_canvas, line
from explorer.views.numbers import NO_RUN, Numbers

if TYPE_CHECKING:
    import plotly.graph_objects as go

COLUMNS = ("tokens", "network", "us_per_token", "gflop", "sequential_steps")
RATIOS = ("lstm_over_layer", "low", "high")
HEIGHT = 320


def recurrent_figure(
    points: Sequence[RecurrentPoint], model: str, texts: Mapping[str, Any]
) -> "go.Figure":
    """Both lines with logarithmic axes; the layer in its model's colour, the LSTM in ink."""
    import plotly.graph_objects as go

    lengths = [point.length for point in points]
    figure = go.Figure(layout={"title": texts["title"], "height": HEIGHT})
    for i, name in enumerate(NAMES):
        times = [point.us_per_token[i] for point in points]
        look: dict[str, Any] = {"mode": "lines+markers", "hovertemplate": texts["hover"]}
        look["customdata"] = [[point.steps[i], point.flops[i] / 1e9] for point in points]
        figure.add_trace(line(lengths, times, texts["names"][name], "" if i else model, **look))
    figure.update_xaxes(type="log", title=texts["length"], tickvals=lengths, ticktext=lengths)
    figure.update_yaxes(type="log", title=texts["time"], tickvals=ROUND, tickformat=",")
    return figure


def recurrent_canvas(points: Sequence[RecurrentPoint], model: str, texts: Mapping[str, Any]) -> str:
    """The chart and its numbers."""
    rows = [
        (
            *(point.length, name, point.us_per_token[i], point.flops[i] / 1e9, point.steps[i]),
            *((point.ratio.ratio, point.ratio.low, point.ratio.high) if i else (None,) * 3),
        )
        for point in points
        for i, name in enumerate(NAMES)
    ]
    figure = recurrent_figure(points, model, texts)
    return chart_canvas([figure], Numbers((*COLUMNS, *RATIOS), rows, NO_RUN))
