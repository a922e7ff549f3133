"""What each way of sharing layers stores, at ALBERT's twelve layers and at any depth."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from explorer.views.chart import chart_canvas, line
from explorer.views.numbers import NO_RUN, Numbers
from explorer.views.theme import COLOURS, PARTS

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.analysis.parameters.sharing import SharingMode

DEEPEST = 48
COLUMNS = (
    "embedding",
    "mode",
    "total",
    "applied",
    "printed",
    "squad1",
    "squad2",
    "mnli",
    "sst2",
    "race",
    "average",
)
COLOUR = {**PARTS, "all": COLOURS["albert"].fill}
"""Sharing nothing is drawn in the page's ink."""
REPEATED = {
    "none": ("attention", "ffn"),
    "attention": ("ffn",),
    "ffn": ("attention",),
    "all": (),
}
"""The parts of which each way stores one for every layer."""


def sharing_figure(
    modes: "Sequence[SharingMode]", parts: Mapping[str, int], texts: Mapping[str, object]
) -> "go.Figure":
    """Weights stored over the number of layers: straight lines, and a point at the shown depth."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for mode in modes:
        each = sum(parts[part] for part in REPEATED[mode.mode])
        ends = [mode.total - 11 * each, mode.total + (DEEPEST - 12) * each]
        colour = {"line_color": COLOUR[mode.mode]} if mode.mode in COLOUR else {}
        figure.add_trace(line([1, DEEPEST], ends, texts["modes"][mode.mode], **colour))  # type: ignore[index]
    figure.add_trace(
        go.Scatter(
            x=[12] * len(modes),
            y=[mode.total for mode in modes],
            mode="markers+text",
            textposition="top left",
            text=[f"{mode.total / 1e6:.1f} M" for mode in modes],
            marker={"size": 8},
            showlegend=False,
            hovertemplate="%{y:,}<extra></extra>",
        )
    )
    figure.update_xaxes(title=texts["depth"], tickvals=[1, *range(6, DEEPEST + 1, 6)])
    figure.update_yaxes(title=texts["weights"], rangemode="tozero", tickformat="~s")
    return figure


def sharing_canvas(
    modes: "Mapping[int, Sequence[SharingMode]]",
    parts: Mapping[str, int],
    texts: Mapping[str, object],
) -> str:
    """The four modes at each E, and the layer's two parts for counting any depth."""
    rows = {e: [_row(mode) for mode in listed] for e, listed in modes.items()}
    figures = [sharing_figure(listed, parts, texts) for listed in modes.values()]
    table = [[e, *row.values()] for e, listed in rows.items() for row in listed]
    numbers = Numbers(COLUMNS, table, NO_RUN)
    return chart_canvas(figures, numbers, modes=rows, parts=dict(parts), texts=dict(texts))


def _row(mode: "SharingMode") -> dict[str, object]:
    scores = mode.scores
    return {
        "mode": mode.mode,
        "total": mode.total,
        "applied": mode.applied,
        "printed": scores.printed_millions,
        "squad1": scores.squad1,
        "squad2": scores.squad2,
        "mnli": scores.mnli,
        "sst2": scores.sst2,
        "race": scores.race,
        "average": scores.average,
    }
