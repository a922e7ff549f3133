"""Layers against layers: CKA of every layer with every other, as one heatmap."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import floor
from typing import TYPE_CHECKING, Any

from explorer.analysis.depth.similarity import LayerSimilarity
from explorer.views.chart import chart_canvas
from explorer.views.numbers import Numbers
from explorer.views.theme import COLOURS

if TYPE_CHECKING:
    import plotly.graph_objects as go

Pair = tuple[int, int]
COLUMNS = ("model", "layer", "other_model", "other_layer", "cka", "cka_shuffled")
HEIGHT = 520


def similarity_figure(
    found: LayerSimilarity,
    labels: Mapping[str, str],
    pairs: Sequence[Pair],
    texts: Mapping[str, Any],
) -> "go.Figure":
    """A cell a pair of layers, on one scale that ends at 1; ``pairs`` are outlined."""
    import plotly.graph_objects as go

    names = [_name(labels[key], layer, texts) for key, layer in found.rows]
    said = [
        [[row, column, chance] for column, chance in zip(names, line, strict=True)]
        for row, line in zip(names, found.shuffled.tolist(), strict=True)
    ]
    cells = go.Heatmap(
        z=found.cka.tolist(),
        customdata=said,
        hovertemplate=texts["cell"] + "<extra></extra>",
        autocolorscale=True,
        zmin=floor(10 * found.cka.min()) / 10,
        zmax=1,
        xgap=1,
        ygap=1,
        colorbar={"orientation": "h", "thickness": 10, "y": -0.02, "yanchor": "top"},
    )
    figure = go.Figure(cells, {"height": HEIGHT, "margin_t": 8, "meta": {"label": texts["cka"]}})
    for pair in pairs:
        colour = COLOURS[found.rows[pair[1]][0]].fill
        for row, column in (pair, pair[::-1]):
            ends = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
            figure.add_shape(type="rect", line={"width": 2.5, "color": colour}, **ends)
    _edges(figure, found, labels)
    return figure


def _name(label: str, layer: int, texts: Mapping[str, Any]) -> str:
    return texts["layer" if layer else "embeddings"].format(model=label, n=layer)


def _edges(figure: "go.Figure", found: LayerSimilarity, labels: Mapping[str, str]) -> None:
    """Each model's name in the middle of its layers, and a line where the next one begins."""
    middles, names, start = [], [], 0
    for key, layers in groupby(found.rows, lambda row: row[0]):
        end = start + len(list(layers))
        middles.append((start + end - 1) / 2)
        names.append(labels[key])
        if start:
            figure.add_vline(start - 0.5, line_width=1.5)
            figure.add_hline(start - 0.5, line_width=1.5)
        start = end
    axis = {"tickvals": middles, "ticktext": names, "showgrid": False, "zeroline": False}
    figure.update_xaxes(axis, side="top")
    figure.update_yaxes(axis, autorange="reversed", tickangle=-90)


def similarity_canvas(
    found: LayerSimilarity,
    labels: Mapping[str, str],
    pairs: Sequence[Pair],
    sentences: Sequence[str],
    texts: Mapping[str, Any],
) -> str:
    """The heatmap and what chance gives; ``sentences`` are for whoever computes it again."""
    chance = found.shuffled
    said = texts["chance"].format(low=f"{chance.min():.2f}", high=f"{chance.max():.2f}")
    rows = [
        (labels[key], layer, labels[other], at, found.cka[r, c], chance[r, c])
        for r, (key, layer) in enumerate(found.rows)
        for c, (other, at) in enumerate(found.rows)
    ]
    numbers = Numbers(COLUMNS, rows, constants={"TEXTS": list(sentences)})
    return chart_canvas([similarity_figure(found, labels, pairs, texts)], numbers, note=said)
