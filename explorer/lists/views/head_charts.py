"""Charts of the models' own heads on labelled rows: reliability, and confusion of labels."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from explorer.lists.results import LabelledList
from explorer.views.chart import line
from explorer.views.theme import colour_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 340
Texts = Mapping[str, str]
Row = tuple[object, ...]


def reliability(result: LabelledList, texts: Texts) -> Iterator[tuple["go.Figure", list[Row]]]:
    """Draw how often each own head is right against its confidence; nothing where none is scored.

    A point is a bin of about equally many rows, with the 95% interval of its share.
    """
    import plotly.graph_objects as go

    if not result.heads.scores:
        return
    figure = go.Figure(layout={"title": texts["reliability"], "height": HEIGHT})
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"width": 1, "dash": "dot"}, showlegend=False
    )
    figure.data[0].hoverinfo = "skip"
    rows: list[Row] = []
    lowest = 1.0
    for key, each in result.heads.scores.items():
        bins, name = each.calibration.bins, result.labels[key]
        confidences = [of.confidence for of in bins]
        shares = [of.right.value for of in bins]
        trace = line(confidences, shares, name, key, mode="lines+markers")
        trace.line.width = 1
        trace.error_y = {
            "type": "data",
            "array": [of.right.high - of.right.value for of in bins],
            "arrayminus": [of.right.value - of.right.low for of in bins],
            "thickness": 1.5,
            "width": 3,
            "color": colour_of(key).fill,
        }
        trace.customdata = [of.n for of in bins]
        trace.hovertemplate = texts["reliable"] + "<extra>%{fullData.name}</extra>"
        figure.add_trace(trace)
        lowest = min(lowest, *confidences)
        rows += [
            (texts["reliability"], name, of.confidence, of.right.value, of.right.low, of.right.high)
            for of in bins
        ]
    figure.update_xaxes(
        title=texts["confidence"], tickformat=".0%", range=[max(0.0, lowest - 0.05), 1.02]
    )
    figure.update_yaxes(title=texts["share_right"], tickformat=".0%", range=[-0.02, 1.02])
    yield figure, rows
