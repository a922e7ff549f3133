"""Charts of a word in two sentences: its cosine at every layer, next to unrelated words."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.records import Records
from explorer.views.chart import band, chart_canvas, line

if TYPE_CHECKING:
    import plotly.graph_objects as go

Compared = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""By layer the cosine of two words, and of unrelated ones the mean and the ends of the band."""
Place = tuple[str, int, int]
"""A sentence, and where its word begins and ends."""
COLUMNS = ("model", "layer", "cosine", "unrelated", "low", "high")
HEIGHT = 270
MARGIN = 0.05
"""Room below and above the curves, in cosines."""


def meaning_figures(
    compared: Mapping[str, Compared], labels: Mapping[str, str], texts: Mapping[str, str]
) -> "list[go.Figure]":
    """Draw a chart for each model, on a common scale; dashes and the band are unrelated words."""
    import plotly.graph_objects as go

    lowest = min(float(np.min(values)) for values in compared.values())
    figures = []
    for key, (cosine, unrelated, low, high) in compared.items():
        layers = list(range(len(cosine)))
        ends = [(float(a), float(b)) for a, b in zip(low, high, strict=True)]
        dots = {"mode": "lines+markers"}
        traces = [
            *band(layers, ends, key, texts["band"]),
            line(layers, unrelated, texts["unrelated"], key, line_dash="dash"),
            line(layers, cosine, texts["cosine"], key, **dots),
        ]
        figure = go.Figure(traces, {"title": labels[key], "height": HEIGHT})
        names = [texts["embeddings"], *map(str, layers[1:])]
        figure.update_layout(hovermode="x unified")
        figure.update_xaxes(title=texts["layer"], tickvals=layers, ticktext=names)
        figure.update_yaxes(range=[min(0.0, lowest) - MARGIN, 1 + MARGIN], hoverformat=".3f")
        figures.append(figure)
    return figures


def meaning_canvas(
    compared: Mapping[str, Compared],
    labels: Mapping[str, str],
    uses: Sequence[Place],
    unrelated: Sequence[Place],
    texts: Mapping[str, Any],
) -> str:
    """Return the charts, and the sentences and words for the numbers' Python code."""
    rows = [
        (labels[key], layer, *map(float, values))
        for key, curves in compared.items()
        for layer, values in enumerate(zip(*curves, strict=True))
    ]
    first, second = uses
    header = {"text": None, "first": marked(first), "second": marked(second)}
    constants = {"FIRST": first, "SECOND": second, "UNRELATED": list(unrelated)}
    records = Records(COLUMNS, rows, header, constants)
    return chart_canvas(meaning_figures(compared, labels, texts), records)


def marked(place: Place) -> str:
    """Return a sentence with asterisks around its word."""
    text, start, end = place
    return f"{text[:start]}*{text[start:end]}*{text[end:]}"
