"""How words move through the layers: for each model the cosine to the first and the last state."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.alignment import AlignedWord, Groups, first_shown
from explorer.analysis.depth.trajectory import WordTrajectory
from explorer.views.chart import chart_canvas, line
from explorer.views.numbers import Numbers

if TYPE_CHECKING:
    import plotly.graph_objects as go

COLUMNS = ("model", "layer", "word", "cosine_to_start", "cosine_to_end")
HEIGHT = 250


def travel_figures(
    found: Mapping[str, WordTrajectory],
    labels: Mapping[str, str],
    at: int,
    texts: Mapping[str, Any],
) -> "list[go.Figure]":
    """One chart a model, all on one scale, for the word at ``at``."""
    import plotly.graph_objects as go

    lowest = min(min(t.to_start.min(), t.to_end.min()) for t in found.values())
    figures = []
    for key, travel in found.items():
        layers = range(len(travel.to_start))
        dots = {"mode": "lines+markers"}
        start = line(layers, travel.to_start[:, at], texts["start"], key, line_dash="dash", **dots)
        end = line(layers, travel.to_end[:, at], texts["end"], key, **dots)
        figure = go.Figure([start, end], {"title": labels[key], "height": HEIGHT})
        figure.update_layout(hovermode="x unified")
        names = [texts["embeddings"], *map(str, layers[1:])]
        figure.update_xaxes(title=texts["layer"], tickvals=list(layers), ticktext=names)
        figure.update_yaxes(range=[min(0.0, float(lowest)) - 0.02, 1.03], hoverformat=".3f")
        figures.append(figure)
    return figures


def travel_canvas(
    found: Mapping[str, WordTrajectory],
    labels: Mapping[str, str],
    groups: Mapping[str, Groups],
    words: Sequence[AlignedWord],
    texts: Mapping[str, Any],
) -> str:
    """The charts of the first mask, else of the last word; the browser shows any other."""
    first = first_shown(words)
    names = [word.text for word in words]
    constants = {"WORDS": names, "GROUPS": {labels[key]: groups[key] for key in found}}
    return chart_canvas(
        travel_figures(found, labels, first, texts),
        Numbers(COLUMNS, list(_rows(found, labels, names)), constants=constants),
        words=names,
        first=first,
        ways=[
            [np.round(way.T, 6).tolist() for way in (t.to_start, t.to_end)] for t in found.values()
        ],
        texts=dict(texts),
    )


def _rows(
    found: Mapping[str, WordTrajectory], labels: Mapping[str, str], names: Sequence[str]
) -> "list[tuple[object, ...]]":
    return [
        (labels[key], layer, name, travel.to_start[layer, i], travel.to_end[layer, i])
        for key, travel in found.items()
        for layer in range(len(travel.to_start))
        for i, name in enumerate(names)
    ]
