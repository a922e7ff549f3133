"""Charts of hidden states: shared layers, projection, similarity, trajectories."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.alignment import AlignedWord, Alignment, Groups, first_shown
from explorer.analysis.depth.states import (
    LayerSimilarity,
    SharedDrift,
    StateProjection,
    WordTrajectory,
    content_rows,
)
from explorer.analysis.digits import cosine, enumerated, percent
from explorer.analysis.records import Records, unrounded
from explorer.models.specs import ModelSpec
from explorer.views.chart import chart_canvas, line
from explorer.views.theme import colour_of

if TYPE_CHECKING:
    import plotly.graph_objects as go


DRIFT_COLUMNS = ("layer", "head", "js_from_first_nats", "js_from_layer_before_nats")
DRIFT_HEIGHT = 260
SHOWN = 32
"""Words of the text shown in a tile: more would not fit into the strip."""


def shared_drift_figure(
    drift: SharedDrift, spec: ModelSpec, texts: Mapping[str, Any]
) -> "go.Figure":
    """Draw each head's Jensen-Shannon divergence from its first application, in nats."""
    import plotly.graph_objects as go

    layers = range(1, len(drift.from_first) + 1)
    lines = [
        line(layers, drift.from_first[:, head], texts["head"].format(head=head + 1), spec.key)
        for head in range(drift.from_first.shape[1])
    ]
    figure = go.Figure(lines, {"height": DRIFT_HEIGHT, "showlegend": False, "margin_t": 8})
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
    """Return the chart's JSON with tiles of one byte a cell, ``round(255 sqrt(a))``."""
    tiles = np.rint(255 * np.sqrt(np.clip(attention[..., :SHOWN, :SHOWN], 0, 1))).astype(np.uint8)
    constants = {
        "GROUPS": {spec.label: alignment.groups[spec.key]},
        "READ": content_rows(alignment),
    }
    return chart_canvas(
        [shared_drift_figure(drift, spec, texts)],
        Records(DRIFT_COLUMNS, _drift_rows(drift), constants=constants),
        model=spec.key,
        texts=dict(texts),
        size=tiles.shape[-1],
        heads=tiles.shape[1],
        tiles=base64.b64encode(np.ascontiguousarray(tiles).tobytes()).decode("ascii"),
        step=unrounded(drift.step),
    )


def _drift_rows(drift: SharedDrift) -> list[list[object]]:
    return [
        [layer + 1, head + 1, js, drift.step[layer - 1, head] if layer else None]
        for layer, heads in enumerate(drift.from_first)
        for head, js in enumerate(heads)
    ]


PROJECTION_COLUMNS = ("model", "layer", "word", "pc1", "pc2", "pc3")
PROJECTION_HEIGHT = 520


def projection_figure(
    projection: StateProjection,
    labels: Mapping[str, str],
    words: Sequence[str],
    word_index: int,
    texts: Mapping[str, Any],
) -> "go.Figure":
    """Draw every word at the slider's layer, and the path of the word at index ``word_index``."""
    import plotly.graph_objects as go

    n_steps = max(len(points) for points in projection.points.values())
    paths = [
        _path(key, labels[key], points[:, word_index]) for key, points in projection.points.items()
    ]
    layers = [
        [
            _layer(key, points, step / (n_steps - 1), words)
            for key, points in projection.points.items()
        ]
        for step in range(n_steps)
    ]
    traces = [trace.update(visible=step is layers[-1]) for step in layers for trace in step]
    figure = go.Figure(
        [*paths, *traces], {"height": PROJECTION_HEIGHT, "meta": {"label": texts["title"]}}
    )
    steps = [
        {
            "method": "restyle",
            "label": str(step) if step else texts["embeddings"],
            "args": [
                {
                    "visible": [True] * len(paths)
                    + [other is layer for other in layers for _ in other]
                }
            ],
        }
        for step, layer in enumerate(layers)
    ]
    slider = {"steps": steps, "active": n_steps - 1, "currentvalue": {"prefix": texts["prefix"]}}
    axes = [
        f"{texts['axis']} {n}: {percent(share)}"
        for n, share in enumerate(projection.explained.tolist(), 1)
    ]
    scene: dict[str, Any] = {
        f"{axis}axis": {"title": {"text": name}, "showticklabels": False}
        for axis, name in zip("xyz", axes, strict=True)
    }
    scene |= {"aspectmode": "cube", "camera": {"eye": {"x": 1.4, "y": 1.4, "z": 0.8}}}
    return figure.update_layout(sliders=[slider], scene=scene)


def projection_canvas(
    projection: StateProjection,
    labels: Mapping[str, str],
    groups: Mapping[str, Groups],
    words: Sequence[AlignedWord],
    texts: Mapping[str, Any],
) -> str:
    """Return the chart, its points, and a note with the explained variance."""
    names, at = [word.text for word in words], first_shown(words)
    note = texts["note"].format(
        share=percent(projection.explained.sum()), first=next(iter(labels.values())), word=names[at]
    )
    constants = {"WORDS": names, "GROUPS": {labels[key]: groups[key] for key in labels}}
    rows = [
        (labels[key], *row)
        for key, points in projection.points.items()
        for row in _projection_rows(points, names)
    ]
    records = Records(PROJECTION_COLUMNS, rows, constants=constants)
    figure = projection_figure(projection, labels, names, at, texts)
    finding = texts["finding"].format(models=enumerated(labels.values()))
    return chart_canvas([figure], records, finding=finding, note=note)


def _projection_rows(points: Any, words: Sequence[str]) -> Iterator[tuple[object, ...]]:  # noqa: ANN401
    for layer, states in enumerate(points.tolist()):
        for word, state in zip(words, states, strict=True):
            yield (layer, word, *state)


def _path(key: str, label: str, points: Any) -> "go.Scatter3d":  # noqa: ANN401 - an array
    import plotly.graph_objects as go

    x, y, z = points.T.tolist()
    style = {"color": colour_of(key).fill, "width": 5}
    return go.Scatter3d(
        x=x, y=y, z=z, mode="lines", name=label, legendgroup=key, line=style, hoverinfo="skip"
    )


def _layer(key: str, points: Any, depth: float, words: Sequence[str]) -> "go.Scatter3d":  # noqa: ANN401
    """Draw a model's words at its layer of a relative depth from 0 to 1."""
    import plotly.graph_objects as go

    layer = round(depth * (len(points) - 1))
    x, y, z = points[layer].T.tolist()
    return go.Scatter3d(
        x=x,
        y=y,
        z=z,
        mode="markers+text",
        text=list(words),
        textfont={"size": 11},
        marker={"color": colour_of(key).fill, "size": 4},
        legendgroup=key,
        showlegend=False,
        hovertemplate=f"%{{text}}, {layer}<extra></extra>",
    )


Pair = tuple[int, int]
SIMILARITY_COLUMNS = ("model", "layer", "other_model", "other_layer", "cka", "cka_shuffled")
SIMILARITY_HEIGHT = 520


def similarity_figure(
    similarity: LayerSimilarity,
    labels: Mapping[str, str],
    pairs: Sequence[Pair],
    texts: Mapping[str, Any],
) -> "go.Figure":
    """Draw the heatmap of CKA between layers, on a scale that ends at 1; outline ``pairs``."""
    import plotly.graph_objects as go

    names = [_name(labels[key], layer, texts) for key, layer in similarity.rows]
    hover = [
        [[row, column, chance] for column, chance in zip(names, line, strict=True)]
        for row, line in zip(names, similarity.shuffled.tolist(), strict=True)
    ]
    cells = go.Heatmap(
        z=similarity.cka.tolist(),
        customdata=hover,
        hovertemplate=texts["cell"] + "<extra></extra>",
        autocolorscale=True,
        zmin=floor(10 * similarity.cka.min()) / 10,
        zmax=1,
        xgap=1,
        ygap=1,
        colorbar={"orientation": "h", "thickness": 10, "y": -0.02, "yanchor": "top"},
    )
    margins = {"margin_t": 46, "margin_l": 62}
    figure = go.Figure(
        cells, {"height": SIMILARITY_HEIGHT, "meta": {"label": texts["cka"]}, **margins}
    )
    for pair in pairs:
        colour = colour_of(similarity.rows[pair[1]][0]).fill
        for row, column in (pair, pair[::-1]):
            ends = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
            figure.add_shape(type="rect", line={"width": 2.5, "color": colour}, **ends)
    _edges(figure, similarity, labels, texts)
    return figure


def _name(label: str, layer: int, texts: Mapping[str, Any]) -> str:
    return texts["layer" if layer else "embeddings"].format(model=label, n=layer)


def _edges(
    figure: "go.Figure",
    similarity: LayerSimilarity,
    labels: Mapping[str, str],
    texts: Mapping[str, Any],
) -> None:
    """Number the layers, name each model beside its own, and draw lines between models."""
    start = 0
    for key, layers in groupby(similarity.rows, lambda row: row[0]):
        end = start + len(list(layers))
        middle, name = (start + end - 1) / 2, {"text": labels[key], "showarrow": False}
        figure.add_annotation(x=middle, y=1, yref="paper", yanchor="bottom", yshift=20, **name)
        figure.add_annotation(
            x=0, y=middle, xref="paper", xanchor="right", xshift=-34, textangle=-90, **name
        )
        if start:
            figure.add_vline(start - 0.5, line_width=1.5)
            figure.add_hline(start - 0.5, line_width=1.5)
        start = end
    numbers = [str(layer) if layer else texts["start"] for _, layer in similarity.rows]
    axis = {
        "tickvals": list(range(start)),
        "ticktext": numbers,
        "showgrid": False,
        "zeroline": False,
        "tickfont": {"size": 10},
    }
    figure.update_xaxes(axis, side="top", tickangle=0)
    figure.update_yaxes(axis, autorange="reversed")


def similarity_canvas(
    similarity: LayerSimilarity,
    labels: Mapping[str, str],
    pairs: Sequence[Pair],
    sentences: Sequence[str],
    texts: Mapping[str, Any],
) -> str:
    """Return the heatmap and its chance level; ``sentences`` go into the numbers' Python code."""
    chance = similarity.shuffled
    sentence = texts["chance"].format(low=cosine(chance.min()), high=cosine(chance.max()))
    rows = [
        (labels[key], layer, labels[other], at, similarity.cka[r, c], chance[r, c])
        for r, (key, layer) in enumerate(similarity.rows)
        for c, (other, at) in enumerate(similarity.rows)
    ]
    constants = {"TEXTS": list(sentences)}
    records = Records(SIMILARITY_COLUMNS, rows, {"text": None}, constants)
    return chart_canvas(
        [similarity_figure(similarity, labels, pairs, texts)], records, note=sentence
    )


TRAJECTORY_COLUMNS = ("model", "layer", "word", "cosine_to_start", "cosine_to_end")
TRAJECTORY_HEIGHT = 250


def travel_figures(
    trajectories: Mapping[str, WordTrajectory],
    labels: Mapping[str, str],
    word_index: int,
    texts: Mapping[str, Any],
) -> "list[go.Figure]":
    """Draw one chart per model, on a common scale, for the word at index ``word_index``."""
    import plotly.graph_objects as go

    lowest = min(min(t.to_start.min(), t.to_end.min()) for t in trajectories.values())
    figures = []
    for key, trajectory in trajectories.items():
        layers = range(len(trajectory.to_start))
        dots = {"mode": "lines+markers"}
        start = line(
            layers,
            trajectory.to_start[:, word_index],
            texts["start"],
            key,
            line_dash="dash",
            **dots,
        )
        end = line(layers, trajectory.to_end[:, word_index], texts["end"], key, **dots)
        figure = go.Figure([start, end], {"title": labels[key], "height": TRAJECTORY_HEIGHT})
        figure.update_layout(hovermode="x unified")
        names = [texts["embeddings"], *map(str, layers[1:])]
        figure.update_xaxes(title=texts["layer"], tickvals=list(layers), ticktext=names)
        figure.update_yaxes(range=[min(0.0, float(lowest)) - 0.06, 1.06], hoverformat=".3f")
        figures.append(figure)
    return figures


def travel_canvas(
    trajectories: Mapping[str, WordTrajectory],
    labels: Mapping[str, str],
    groups: Mapping[str, Groups],
    words: Sequence[AlignedWord],
    texts: Mapping[str, Any],
) -> str:
    """Return the charts of the initial word, with the values of all words for the browser."""
    first = first_shown(words)
    names = [word.text for word in words]
    constants = {"WORDS": names, "GROUPS": {labels[key]: groups[key] for key in trajectories}}
    return chart_canvas(
        travel_figures(trajectories, labels, first, texts),
        Records(
            TRAJECTORY_COLUMNS,
            list(_trajectory_rows(trajectories, labels, names)),
            constants=constants,
        ),
        words=names,
        first=first,
        ways=[
            [unrounded(cosines.T) for cosines in (t.to_start, t.to_end)]
            for t in trajectories.values()
        ],
        texts=dict(texts),
    )


def _trajectory_rows(
    trajectories: Mapping[str, WordTrajectory], labels: Mapping[str, str], names: Sequence[str]
) -> "list[tuple[object, ...]]":
    return [
        (labels[key], layer, name, trajectory.to_start[layer, i], trajectory.to_end[layer, i])
        for key, trajectory in trajectories.items()
        for layer in range(len(trajectory.to_start))
        for i, name in enumerate(names)
    ]
