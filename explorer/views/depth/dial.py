"""How far the answer is from the usual one when a shared layer is applied more or fewer times."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from explorer.models.specs import ModelSpec
from explorer.views.chart import line

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 190


def dial_figure(spec: ModelSpec, most: int, texts: Mapping[str, Any]) -> "go.Figure":
    """KL from the usual answer over 1 to ``most`` applications; the browser has the values.

    Two upright lines: the usual depth, dotted, and where the dial stands.
    """
    import plotly.graph_objects as go

    times, usual = range(1, most + 1), spec.architecture.n_layers
    curve = line(times, [None] * most, texts["kl"], spec.key, mode="lines+markers")
    figure = go.Figure([curve], {"height": HEIGHT, "showlegend": False, "margin_t": 8})
    figure.update_layout(title=texts["dial_chart"])
    for style in ("dot", "solid"):
        figure.add_vline(usual, line={"width": 1.25, "dash": style})
    figure.update_xaxes(title=texts["times"], tickvals=[1, usual, most], range=[0.5, most + 0.5])
    figure.update_yaxes(rangemode="tozero", hoverformat=".3f")
    return figure
