"""What temperature does: distances, the soft loss and gradients over it, and where the dial is."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.views.chart import line
from explorer.views.theme import LOSSES

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT, STEPS = 360, 81
TICKS = (0.05, 0.2, 0.5, 1, 2, 5, 20)
ALWAYS = (1.0, 2.0)
"""Temperatures at which there is a point, whatever the steps: as the models are, as in training."""
LOOKS: dict[str, dict[str, Any]] = {
    "soft_loss": {"color": LOSSES["ce"], "width": 4.5},
    "soft_gradient": {"color": LOSSES["ce"], "width": 4.5},
    "ab": {"dash": "dot", "width": 2.25},
    "gradient": {"dash": "dot", "width": 2.25},
    "js": {"color": LOSSES["mlm"], "width": 2.25},
    "mean": {"color": LOSSES["cos"], "width": 2.25, "dash": "dash"},
}
"""A wide line below a dotted one: both are seen where they meet."""


def temperature_figures(ends: tuple[float, float], texts: Mapping[str, Any]) -> "list[go.Figure]":
    """Two charts without values: the browser has the logits, and each trace says what it wants.

    The last trace of each is a point on every line at the dial's temperature, the one shape a
    line across all of them.
    """
    steps = np.geomspace(*ends, STEPS).tolist()
    temperatures = sorted({*steps, *ALWAYS})
    charts = {
        "divergences": ("soft_loss", "ab", "js", "mean"),
        "gradients": ("soft_gradient", "gradient"),
    }
    return [_figure(temperatures, names, texts[title], texts) for title, names in charts.items()]


def _figure(
    temperatures: list[float], names: tuple[str, ...], title: str, texts: Mapping[str, Any]
) -> "go.Figure":
    import plotly.graph_objects as go

    figure = go.Figure(layout={"height": HEIGHT, "hovermode": "x unified"})
    for name in names:
        curve = line(temperatures, [], texts["names"][name], line=LOOKS[name], meta=name)
        figure.add_trace(curve.update(visible=name != "mean", hovertemplate="%{y:.4g}"))
    figure.add_scatter(mode="markers", marker_size=9, showlegend=False, hoverinfo="skip")
    figure.add_vline(ALWAYS[0], line_width=1.25)
    figure.update_layout(title=title)
    figure.update_xaxes(type="log", tickvals=TICKS, ticktext=[f"{t:g}" for t in TICKS])
    figure.update_xaxes(title=texts["temperature"], hoverformat=".3~g")
    figure.update_yaxes(type="log", dtick=1)
    return figure
