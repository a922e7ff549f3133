"""Word states in three dimensions: one slider step a layer, and the way of one word."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.analysis.alignment import AlignedWord, Groups, first_shown
from explorer.analysis.depth.projection import StateProjection
from explorer.views.chart import chart_canvas
from explorer.views.numbers import Numbers
from explorer.views.theme import COLOURS

if TYPE_CHECKING:
    import plotly.graph_objects as go

COLUMNS = ("model", "layer", "word", "pc1", "pc2", "pc3")
HEIGHT = 520


def projection_figure(
    found: StateProjection,
    labels: Mapping[str, str],
    words: Sequence[str],
    at: int,
    texts: Mapping[str, Any],
) -> "go.Figure":
    """Every word at the slider's layer, and the path of the word at ``at`` through all layers."""
    import plotly.graph_objects as go

    n_steps = max(len(points) for points in found.points.values())
    paths = [_path(key, labels[key], points[:, at]) for key, points in found.points.items()]
    layers = [
        [_layer(key, points, step / (n_steps - 1), words) for key, points in found.points.items()]
        for step in range(n_steps)
    ]
    shown = [trace.update(visible=step is layers[-1]) for step in layers for trace in step]
    figure = go.Figure([*paths, *shown], {"height": HEIGHT, "meta": {"label": texts["title"]}})
    steps = [
        {
            "method": "restyle",
            "label": str(step) if step else texts["embeddings"],
            "args": [
                {"visible": [True] * len(paths) + [one is layer for one in layers for _ in one]}
            ],
        }
        for step, layer in enumerate(layers)
    ]
    slider = {"steps": steps, "active": n_steps - 1, "currentvalue": {"prefix": texts["prefix"]}}
    axes = [
        f"{texts['axis']} {n}: {share:.0%}" for n, share in enumerate(found.explained.tolist(), 1)
    ]
    scene: dict[str, Any] = {
        f"{axis}axis": {"title": {"text": name}, "showticklabels": False}
        for axis, name in zip("xyz", axes, strict=True)
    }
    scene |= {"aspectmode": "cube", "camera": {"eye": {"x": 1.4, "y": 1.4, "z": 0.8}}}
    return figure.update_layout(sliders=[slider], scene=scene)


def projection_canvas(
    found: StateProjection,
    labels: Mapping[str, str],
    groups: Mapping[str, Groups],
    words: Sequence[AlignedWord],
    texts: Mapping[str, Any],
) -> str:
    """The chart with its points, what it rests on, and how much of the variance it shows."""
    names, at = [word.text for word in words], first_shown(words)
    note = texts["note"].format(
        share=f"{found.explained.sum():.0%}", first=next(iter(labels.values())), word=names[at]
    )
    constants = {"WORDS": names, "GROUPS": {labels[key]: groups[key] for key in labels}}
    rows = [
        (labels[key], *row) for key, points in found.points.items() for row in _rows(points, names)
    ]
    numbers = Numbers(COLUMNS, rows, constants=constants)
    figure = projection_figure(found, labels, names, at, texts)
    return chart_canvas([figure], numbers, finding=texts["finding"], note=note)


def _rows(points: Any, words: Sequence[str]) -> Iterator[tuple[object, ...]]:  # noqa: ANN401
    for layer, states in enumerate(points.tolist()):
        for word, state in zip(words, states, strict=True):
            yield (layer, word, *state)


def _path(key: str, label: str, points: Any) -> "go.Scatter3d":  # noqa: ANN401 - an array
    import plotly.graph_objects as go

    x, y, z = points.T.tolist()
    look = {"color": COLOURS[key].fill, "width": 5}
    return go.Scatter3d(
        x=x, y=y, z=z, mode="lines", name=label, legendgroup=key, line=look, hoverinfo="skip"
    )


def _layer(key: str, points: Any, depth: float, words: Sequence[str]) -> "go.Scatter3d":  # noqa: ANN401
    """The words at a relative depth, each model at its own layer of it."""
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
        marker={"color": COLOURS[key].fill, "size": 4},
        legendgroup=key,
        showlegend=False,
        hovertemplate=f"%{{text}}, {layer}<extra></extra>",
    )
