"""Plotly figure of the rows of any result: bars, lines or heatmaps, a colour for each model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from explorer.analysis.records import Records
from explorer.models.specs import label_of
from explorer.views.theme import COLOURS, PAGES, chart_template

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True, slots=True)
class Sketch:
    """Roles of a result's columns in its figure."""

    mark: str
    """``bars``, ``lines`` or ``heatmap``."""
    across: str
    """Column of the horizontal axis."""
    value: str
    """Column of the length, height or shade."""
    down: str = ""
    """Column of a heatmap's vertical axis."""
    panels: str = "model"
    """Columns whose values tell the panels or lines apart, separated by spaces; the first tells the
    colour."""


def sketch(records: Records, how: Sketch) -> "go.Figure":
    """Draw the rows; each panel of a heatmap, and each line or group of bars, is one model's."""
    places = {name: records.columns.index(name) for name in records.columns}
    panels: dict[tuple[Any, ...], list[Sequence[Any]]] = {}
    for row in records.rows:
        panels.setdefault(tuple(row[places[name]] for name in how.panels.split()), []).append(row)
    values = {
        panel: [
            [row[places[name]] for row in part]
            for name in (how.across, how.down, how.value)
            if name
        ]
        for panel, part in panels.items()
    }
    figure = _heatmaps(values, how) if how.mark == "heatmap" else _curves(values, how)
    page = PAGES["light"]
    return figure.update_layout(
        template=chart_template("light"), paper_bgcolor=page.paper, plot_bgcolor=page.paper
    )


def _title(panel: tuple[Any, ...]) -> str:
    return " ".join([label_of(str(panel[0])), *map(str, panel[1:])])


def _curves(values: dict[tuple[Any, ...], list[list[Any]]], how: Sketch) -> "go.Figure":
    import plotly.graph_objects as go

    figure = go.Figure(layout={"xaxis_title": how.across, "yaxis_title": how.value})
    for panel, (x, y) in values.items():
        colour = COLOURS[panel[0]].fill if panel[0] in COLOURS else None
        if how.mark == "bars":
            trace = go.Bar(x=x, y=y, name=_title(panel), marker_color=colour)
        else:
            trace = go.Scatter(x=x, y=y, name=_title(panel), line_color=colour, mode="lines")
        figure.add_trace(trace)
    return figure


def _heatmaps(values: dict[tuple[Any, ...], list[list[Any]]], how: Sketch) -> "go.Figure":
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    titles = [_title(panel) for panel in values]
    figure = make_subplots(1, max(1, len(values)), subplot_titles=titles or None)
    for column, (x, y, z) in enumerate(values.values(), 1):
        figure.add_trace(go.Heatmap(x=x, y=y, z=z, coloraxis="coloraxis"), row=1, col=column)
    figure.update_xaxes(title_text=how.across)
    figure.update_yaxes(title_text=how.down, autorange="reversed", col=1)
    return figure.update_layout(coloraxis={"colorbar_title": how.value, "colorscale": "Blues"})
