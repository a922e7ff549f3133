"""Weights, and what one pass takes beside them, each on a scale of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.views.chart import chart_canvas
from explorer.views.numbers import NO_RUN, Numbers
from explorer.views.theme import COLOURS

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.analysis.parameters.memory import ForwardMemory

BAR, AROUND = 30, 100
"""Pixels of a bar with its gap, and of title, legend and axis."""


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """The memory of one network's forward pass, estimated and, where it was, measured."""

    key: str
    label: str
    memory: "ForwardMemory"
    measured: int | None = None


def memory_canvas(
    rows: Sequence[MemoryRow], numbers: Numbers, texts: Mapping[str, str], **said: str
) -> str:
    """Two charts, of the weights and of a pass, with their finding and note."""
    return chart_canvas(memory_figures(rows, texts), numbers, **said)


def memory_figures(rows: Sequence[MemoryRow], texts: Mapping[str, str]) -> "list[go.Figure]":
    """MB of weights, and of one pass as estimated and, where it was, as measured here."""
    weights = _bars(rows, [row.memory.weight_bytes for row in rows], "")
    passes = [_bars(rows, [r.memory.peak_bytes for r in rows], texts["estimated"])]
    if any(row.measured is not None for row in rows):
        measured = _bars(rows, [row.measured for row in rows], texts["measured"])
        passes = [one.update(marker_pattern_shape="/") for one in passes] + [measured]
    return [
        _figure([weights], texts["weights"], len(rows)),
        _figure(passes, texts["activations"], len(rows)),
    ]


def memory_numbers(
    rows: Sequence[MemoryRow], configs: Mapping[str, object], said: Mapping[str, object]
) -> Numbers:
    """Every bar in bytes; what was not measured is empty.

    Args:
        rows: The bars.
        configs: What each network's config says, by its name.
        said: The sizes that were chosen, whether the pass hands out all that goes on inside, and
            what the sentence compares.
    """
    columns = ("model", "weight_bytes", "peak_bytes_estimated", "peak_bytes_measured")
    body = [[r.label, r.memory.weight_bytes, r.memory.peak_bytes, r.measured] for r in rows]
    work = {"length": rows[0].memory.length, "batch": rows[0].memory.batch, "keeps": said["keeps"]}
    constants = {name.upper(): value for name, value in work.items()} | {"CONFIGS": configs}
    told = {"state": {"sizes": said["sizes"], **work}, "base": said["base"]}
    return Numbers(columns, body, {**NO_RUN, **told}, constants)


def _bars(rows: Sequence[MemoryRow], sizes: Sequence[int | None], name: str) -> "go.Bar":
    import plotly.graph_objects as go

    return go.Bar(
        x=[None if n is None else n / 1e6 for n in sizes],
        y=[row.label for row in rows],
        orientation="h",
        name=name,
        marker_color=[COLOURS[row.key].fill for row in rows],
        texttemplate="%{x:,.1f} MB",
        textposition="auto",
        hovertemplate="%{y}: %{x:,.3f} MB<extra>%{fullData.name}</extra>",
    )


def _figure(bars: "Sequence[go.Bar]", title: str, n_rows: int) -> "go.Figure":
    import plotly.graph_objects as go

    figure = go.Figure(bars, {"title": title, "height": AROUND + BAR * n_rows * len(bars)})
    figure.update_layout(showlegend=len(bars) > 1, legend_traceorder="normal", barmode="group")
    figure.update_xaxes(title="MB", rangemode="tozero")
    figure.update_yaxes(autorange="reversed")
    return figure
