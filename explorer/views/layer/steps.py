"""What each block added to the answer's log-probability: a waterfall for each model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.layer.steps import BLOCKS, AnswerSteps
from explorer.views.chart import chart_canvas
from explorer.views.numbers import Numbers
from explorer.views.theme import COLOURS, PARTS

if TYPE_CHECKING:
    import plotly.graph_objects as go

COLUMNS = ("model", "layer", "block", "log_probability", "step")
HEIGHT = 300
WIDTH = 0.9


def steps_figures(
    found: Mapping[str, AnswerSteps],
    labels: Mapping[str, str],
    words: Mapping[str, str],
    texts: Mapping[str, Any],
) -> "list[go.Figure]":
    """One waterfall a model, all on one scale: grey where it begins, then two bars a layer."""
    import plotly.graph_objects as go

    values = np.concatenate([one.log_probs for one in found.values()])
    low, high = float(values.min()), max(0.0, float(values.max()))
    figures = []
    for key, one in found.items():
        title = texts["title"].format(model=labels[key], word=words[key])
        figure = go.Figure(layout={"title": title, "height": HEIGHT, "barmode": "overlay"})
        figure.add_traces(_bars(one, key, texts))
        layers = range(1, 1 + len(one.steps) // 2)
        places = [_place(i) for i in range(-1, len(one.steps) + 1)]
        figure.update_xaxes(title=texts["layer"], type="category", categoryarray=places)
        ticks = [_place(2 * n - 2) for n in layers]
        figure.update_xaxes(tickvals=ticks, ticktext=[str(n) for n in layers], tickangle=0)
        figure.update_yaxes(title=texts["axis"], range=[low - 0.05 * (high - low), high + 0.2])
        figures.append(figure)
    return figures


def _place(step: int) -> str:
    """The name of a bar's place: steps from 0, the embedding before them and the answer after."""
    return f"{step // 2 + 1} {BLOCKS[step % 2]}"


def _bars(one: AnswerSteps, key: str, texts: Mapping[str, Any]) -> "list[go.Bar]":
    """The embedding, the steps of each block in its colour, and the answer."""
    import plotly.graph_objects as go

    start, end, n = one.log_probs[0], one.log_probs[-1], len(one.steps)
    bars = []
    for offset, block in enumerate(BLOCKS):
        places = np.arange(offset, n, 2)
        bars.append(
            go.Bar(
                name=texts["blocks"][block],
                x=[_place(int(i)) for i in places],
                base=one.log_probs[places].tolist(),
                y=one.steps[places].tolist(),
                width=WIDTH,
                marker_color=PARTS["ffn" if block == "feed_forward" else "attention"],
                customdata=[[int(i) // 2 + 1, texts["blocks"][block]] for i in places],
                hovertemplate=texts["step"],
            )
        )
    ends = {texts["embedding"]: (-1, start), texts["answer"].format(n=n // 2): (n, end)}
    for name, (place, value) in ends.items():
        bar = go.Bar(x=[_place(place)], y=[value], name=name, width=WIDTH, opacity=0.45)
        bar.update(marker_color=COLOURS[key].fill)
        bars.append(bar.update(hovertemplate=texts["end"].format(name=name), showlegend=False))
    return bars


def steps_canvas(
    found: Mapping[str, AnswerSteps],
    labels: Mapping[str, str],
    words: Mapping[str, str],
    constants: Mapping[str, object],
    texts: Mapping[str, Any],
) -> str:
    """The charts and their numbers; ``constants`` say to the recipe which token and which word."""
    rows = [row for key, one in found.items() for row in _rows(one, labels[key])]
    figures = steps_figures(found, labels, words, texts)
    places: Mapping[str, int] = constants["POSITIONS"]  # type: ignore[assignment]
    state = {"piece": ", ".join(dict.fromkeys(words.values())), "token": min(places.values())}
    numbers = Numbers(COLUMNS, rows, {"state": state}, constants)
    return chart_canvas(figures, numbers, note=texts["note"])


def _rows(one: AnswerSteps, label: str) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = [(label, 0, "embedding", one.log_probs[0], None)]
    for i, step in enumerate(one.steps):
        rows.append((label, i // 2 + 1, BLOCKS[i % 2], one.log_probs[i + 1], step))
    return rows
