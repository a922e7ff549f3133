"""A shared layer's heads over its applications, as data for a strip of pictures."""

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.alignment import Alignment
from explorer.analysis.depth.drift import SharedDrift, content_rows
from explorer.models.specs import ModelSpec
from explorer.views.chart import chart_canvas, line
from explorer.views.numbers import Numbers

if TYPE_CHECKING:
    import plotly.graph_objects as go

COLUMNS = ("layer", "head", "js_from_first_nats", "js_from_layer_before_nats")
HEIGHT = 260
SHOWN = 32
"""The first words of a text: a tile of more would be larger than the strip has room for."""


def shared_drift_figure(
    drift: SharedDrift, spec: ModelSpec, texts: Mapping[str, Any]
) -> "go.Figure":
    """A line for each head: the Jensen-Shannon divergence from its first application, nats."""
    import plotly.graph_objects as go

    layers = range(1, len(drift.from_first) + 1)
    lines = [
        line(layers, drift.from_first[:, head], texts["head"].format(head=head + 1), spec.key)
        for head in range(drift.from_first.shape[1])
    ]
    figure = go.Figure(lines, {"height": HEIGHT, "showlegend": False, "margin_t": 8})
    figure.update_xaxes(title=texts["application"], tickvals=list(layers))
    top = max(0.01, 1.05 * float(drift.from_first.max()))
    figure.update_yaxes(title=texts["nats"], range=[0, top], hoverformat=".3f")
    return figure


def shared_drift_canvas(
    drift: SharedDrift,
    attention: np.ndarray,
    spec: ModelSpec,
    alignment: Alignment,
    texts: Mapping[str, Any],
) -> str:
    """The strip's JSON: the tiles as one byte a cell, ``round(255 sqrt(a))``, and the distances."""
    tiles = np.rint(255 * np.sqrt(np.clip(attention[..., :SHOWN, :SHOWN], 0, 1))).astype(np.uint8)
    constants = {
        "GROUPS": {spec.label: alignment.groups[spec.key]},
        "READ": content_rows(alignment),
    }
    return chart_canvas(
        [shared_drift_figure(drift, spec, texts)],
        Numbers(COLUMNS, _rows(drift), constants=constants),
        model=spec.key,
        texts=dict(texts),
        size=tiles.shape[-1],
        heads=tiles.shape[1],
        tiles=base64.b64encode(np.ascontiguousarray(tiles).tobytes()).decode("ascii"),
        step=np.round(drift.step, 7).tolist(),
    )


def _rows(drift: SharedDrift) -> list[list[object]]:
    return [
        [layer + 1, head + 1, js, drift.step[layer - 1, head] if layer else None]
        for layer, heads in enumerate(drift.from_first)
        for head, js in enumerate(heads)
    ]
