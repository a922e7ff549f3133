"""Charts of sizes, sharing, FLOPs and memory, computed from architectures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log10
from typing import TYPE_CHECKING, Any, TypedDict

from explorer.analysis.digits import weights
from explorer.analysis.records import NO_RUN, Records
from explorer.views.chart import Chart, chart_canvas, figure_json, label_sides, line
from explorer.views.markup import script_json
from explorer.views.theme import COLOURS, PARTS, colour_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.analysis.parameters.shapes import ForwardMemory, SharingMode, Size
    from explorer.models.specs import Architecture


DEEPEST = 48
HEIGHT = 420
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
"""Line colours by sharing mode; ``none`` has the page's text colour."""
REPEATED = {
    "none": ("attention", "ffn"),
    "attention": ("ffn",),
    "ffn": ("attention",),
    "all": (),
}
"""Parts that are stored once per layer, by sharing mode."""


def sharing_figure(
    modes: "Sequence[SharingMode]", parts: Mapping[str, int], texts: Mapping[str, object]
) -> "go.Figure":
    """Draw stored weights over the number of layers, with a point at 12 layers."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for mode in modes:
        per_layer = sum(parts[part] for part in REPEATED[mode.mode])
        ends = [mode.total - 11 * per_layer, mode.total + (DEEPEST - 12) * per_layer]
        colour = {"line_color": COLOUR[mode.mode]} if mode.mode in COLOUR else {}
        figure.add_trace(line([1, DEEPEST], ends, texts["modes"][mode.mode], **colour))  # type: ignore[index]
    figure.add_traces([_dot(mode) for mode in modes])
    figure.update_xaxes(title=texts["depth"], tickvals=[1, *range(6, DEEPEST + 1, 6)])
    figure.update_yaxes(title=texts["weights"], rangemode="tozero", tickformat="~s")
    figure.update_layout(height=HEIGHT)
    return figure


def _dot(mode: "SharingMode") -> "go.Scatter":
    """Draw one mode's count at 12 layers in its line's colour, its number clear of all lines."""
    import plotly.graph_objects as go

    colour = COLOUR.get(mode.mode)
    return go.Scatter(
        x=[12],
        y=[mode.total],
        mode="markers+text",
        # The lines rise to the right; the lowest is level, with the axis below it.
        textposition="bottom right" if REPEATED[mode.mode] else "top left",
        text=[weights(mode.total)],
        marker={"size": 8, "color": colour},
        textfont_color=colour,
        showlegend=False,
        hovertemplate="%{y:,}<extra></extra>",
    )


class SharingRow(TypedDict):
    """Way of sharing layers, with the paper's scores."""

    mode: str
    total: int
    applied: int
    printed: float
    squad1: str
    squad2: str
    mnli: float
    sst2: float
    race: float
    average: float


def sharing_canvas(
    modes: "Mapping[int, Sequence[SharingMode]]",
    parts: Mapping[str, int],
    texts: Mapping[str, object],
) -> str:
    """Return the four sharing modes at each E, and the sizes of a layer's two parts."""
    rows = {e: [_row(mode) for mode in modes_at] for e, modes_at in modes.items()}
    figures = [sharing_figure(modes_at, parts, texts) for modes_at in modes.values()]
    table = [[e, *row.values()] for e, members in rows.items() for row in members]
    records = Records(COLUMNS, table, NO_RUN)
    return chart_canvas(figures, records, modes=rows, parts=dict(parts), texts=dict(texts))


def _row(mode: "SharingMode") -> SharingRow:
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


LENGTHS = (1, 8, 16, 32, 64, 128, 256, 384, 512)
"""Selectable sequence lengths in tokens."""


class SizeRow(TypedDict):
    """Published size."""

    key: str
    name: str
    label: str
    size: str
    total: int
    applied: int
    layers: int
    stored_layers: int
    width: int
    embedding: int
    heads: int
    flops: list[int]
    printed: list[tuple[float, str]]
    config: dict[str, Any]


class SizesData(TypedDict):
    """Published sizes: a chart for each length, and a table."""

    figures: list[Chart]
    lengths: list[int]
    rows: list[SizeRow]
    texts: dict[str, Any]


class Preset(TypedDict):
    """Published shape."""

    name: str
    n_layers: int
    d_model: int
    n_heads: int
    d_ffn: int
    d_embedding: int
    d_vocab: int
    n_segments: int
    n_positions: int
    has_pooler: bool
    sharing: str


class BuildData(TypedDict):
    """Form of the model builder."""

    presets: list[Preset]
    texts: dict[str, Any]


def sizes_canvas(
    sizes: "Sequence[Size]", texts: Mapping[str, object], chart: Mapping[str, str]
) -> str:
    """Return the JSON of the published sizes: a chart for each length, and a table."""
    figures = [figure_json(work_figure(sizes, length, chart)) for length in LENGTHS]
    rows = [_size(size) for size in sizes]
    data: SizesData = {
        "figures": figures,
        "lengths": list(LENGTHS),
        "rows": rows,
        "texts": dict(texts),
    }
    return script_json(data)


def _size(size: "Size") -> SizeRow:
    shape = size.spec.architecture
    return {
        "key": size.spec.key,
        "name": size.spec.name,
        "label": size.spec.label,
        "size": size.spec.size,
        "total": size.total,
        "applied": size.applied,
        "layers": shape.n_layers,
        "stored_layers": shape.n_stored_layers,
        "width": shape.d_model,
        "embedding": shape.d_embedding,
        "heads": shape.n_heads,
        "flops": list(size.flops),
        "printed": [(p.millions, p.source) for p in size.printed],
        "config": size.spec.config,
    }


def build_canvas(presets: "Sequence[tuple[str, Architecture]]", texts: Mapping[str, object]) -> str:
    """Return the JSON of the model builder's form with the published shapes as presets."""
    shapes: list[Preset] = [
        {
            "name": name,
            "n_layers": s.n_layers,
            "d_model": s.d_model,
            "n_heads": s.n_heads,
            "d_ffn": s.d_ffn,
            "d_embedding": s.d_embedding,
            "d_vocab": s.d_vocab,
            "n_segments": s.n_segments,
            "n_positions": s.n_positions,
            "has_pooler": s.has_pooler,
            "sharing": "all" if s.shares_layers else "none",
        }
        for name, s in presets
    ]
    data: BuildData = {"presets": shapes, "texts": dict(texts)}
    return script_json(data)


Ends = tuple[float, float]
HEIGHT, ROOM = 420, 1.6
"""Height in pixels, and the factor by which axes extend beyond the extreme values."""
USES = (1, 4, 16)
"""Uses of each stored weight in a forward pass, one line each."""
STEPS = 60


def work_figure(sizes: "Sequence[Size]", length: int, texts: Mapping[str, str]) -> "go.Figure":
    """Draw GFLOP of a pass over ``length`` tokens against stored weights, both axes logarithmic.

    Along a line every stored weight is used equally often: two operations per token and use.
    """
    import plotly.graph_objects as go

    across = _ends([size.total for size in sizes])
    up = _ends([gflop(size, length) for size in sizes])
    lines = {uses: [2 * uses * length * x / 1e9 for x in across] for uses in USES}
    figure = go.Figure([_line(across, line) for line in lines.values()])
    sides = _sides(sizes, length, across, up)
    for key in dict.fromkeys(size.spec.key for size in sizes):
        sizes_of = [size for size in sizes if size.spec.key == key]
        figure.add_trace(_points(sizes_of, key, length, sides))
    for uses in USES:
        figure.add_annotation(_end_of_line(uses, length, across[1], up[1]))
    label = texts["label"].format(n=length)
    figure.update_layout(
        height=HEIGHT, showlegend=False, margin={"t": 22, "r": 40}, meta={"label": label}
    )
    figure.update_xaxes(
        type="log", range=_powers(across), title=texts["weights"], tickformat="~s", dtick="D2"
    )
    figure.update_yaxes(
        type="log", range=_powers(up), title=texts["work"].format(n=length), **_ticks(up)
    )
    return figure


def gflop(size: "Size", length: int) -> float:
    """Return GFLOP of one forward pass over ``length`` tokens."""
    return sum(c * length**power for power, c in enumerate(size.flops)) / 1e9


def _ends(values: Sequence[float]) -> Ends:
    return min(values) / ROOM, max(values) * ROOM


def _powers(ends: Ends) -> list[float]:
    return [log10(end) for end in ends]


def _ticks(ends: Ends) -> dict[str, list]:
    """Return ticks at 1, 2 and 5, written out: Plotly prints 20 and 50 as a small 2 and 5."""
    round_numbers = [first * 10.0**power for power in range(-3, 6) for first in (1, 2, 5)]
    values = [value for value in round_numbers if ends[0] <= value <= ends[1]]
    return {"tickvals": values, "ticktext": [f"{value:,g}" for value in values]}


def _end_of_line(uses: int, length: int, right: float, top: float) -> dict[str, object]:
    """Label a line outside the frame, where no model's name can overlap it."""
    end = 2 * uses * length * right / 1e9
    label = {"text": f"{uses}\u202f×", "showarrow": False}
    if end <= top:  # positions on a logarithmic axis are exponents of ten
        return {**label, "x": 1, "xref": "paper", "xanchor": "left", "y": log10(end)}
    x = log10(top * 1e9 / (2 * uses * length))
    return {**label, "x": x, "y": 1, "yref": "paper", "yanchor": "bottom"}


def _sides(sizes: "Sequence[Size]", length: int, across: Ends, up: Ends) -> dict[str, str]:
    """Choose the side of each size's name that avoids names, points and lines."""
    x, y = ((log10(low), log10(high)) for low, high in (across, up))
    places = [(log10(s.total), log10(gflop(s, length))) for s in sizes]
    ends = [
        pair
        for (first, start), (second, end) in pairwise(zip(sizes, places, strict=True))
        if first.spec.key == second.spec.key
        for pair in [(start, end)]
    ]
    for uses in USES:
        shift = log10(2 * uses * length / 1e9)
        ends.append(((x[0], x[0] + shift), (x[1], x[1] + shift)))
    occupied = [((px, x), (py, y)) for px, py in _along(ends)]
    labels = [size.spec.label for size in sizes]
    sides = label_sides([((px, x), (py, y)) for px, py in places], labels, occupied)
    return dict(zip(labels, sides, strict=True))


def _along(ends: "Sequence[tuple[Ends, Ends]]") -> list[Ends]:
    """Return points along straight lines, about as far apart as a name is high."""
    shares = [step / STEPS for step in range(STEPS + 1)]
    return [
        (x0 + share * (x1 - x0), y0 + share * (y1 - y0))
        for (x0, y0), (x1, y1) in ends
        for share in shares
    ]


def _line(across: Ends, works: list[float]) -> "go.Scatter":
    import plotly.graph_objects as go

    dotted = {"dash": "dot", "width": 1}
    return go.Scatter(x=across, y=works, mode="lines", line=dotted, opacity=0.6, hoverinfo="skip")


def _points(
    sizes: "Sequence[Size]", key: str, length: int, sides: Mapping[str, str]
) -> "go.Scatter":
    import plotly.graph_objects as go

    labels = [size.spec.label for size in sizes]
    return go.Scatter(
        x=[size.total for size in sizes],
        y=[gflop(size, length) for size in sizes],
        text=labels,
        customdata=[size.spec.name for size in sizes],
        mode="lines+markers+text",
        textposition=[sides[label] for label in labels],
        cliponaxis=False,
        marker={"size": 11, "color": colour_of(key).fill},
        line={"color": colour_of(key).fill, "width": 1},
        hovertemplate="%{customdata}<br>%{x:,} weights, %{y:.2f}\u00a0GFLOP<extra></extra>",
    )


BAR, AROUND = 30, 100
"""Height in pixels of a bar with its gap, and of title, legend and axis."""
LABEL = 64
"""Width in pixels of the longest label beside a bar; Plotly leaves no room for it."""


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """Memory of a network's forward pass: estimated and, where available, measured."""

    key: str
    label: str
    memory: "ForwardMemory"
    measured: int | None = None


def memory_canvas(
    rows: Sequence[MemoryRow], records: Records, texts: Mapping[str, str], **sentences: str
) -> str:
    """Return the charts of weights and of a forward pass, with finding and note."""
    return chart_canvas(memory_figures(rows, texts), records, **sentences)


def memory_figures(rows: Sequence[MemoryRow], texts: Mapping[str, str]) -> "list[go.Figure]":
    """Draw MB of weights, and of a pass as estimated and, where available, as measured."""
    weights = _bars(rows, [row.memory.weight_bytes for row in rows], "")
    passes = [_bars(rows, [r.memory.peak_bytes for r in rows], texts["estimated"])]
    if any(row.measured is not None for row in rows):
        measured = _bars(rows, [row.measured for row in rows], texts["measured"])
        # White numbers cannot be read on white stripes.
        hatched = {"marker_pattern_shape": "/", "textposition": "outside", "cliponaxis": False}
        passes = [bars.update(hatched) for bars in passes] + [measured]
    return [
        _figure([weights], texts["weights"], len(rows)),
        _figure(passes, texts["activations"], len(rows)),
    ]


def memory_records(
    rows: Sequence[MemoryRow], configs: Mapping[str, object], settings: Mapping[str, object]
) -> Records:
    """Return every bar in bytes; empty where nothing was measured.

    Args:
        rows: The bars.
        configs: Each network's config, by its name.
        settings: The selected sizes, whether the pass returns attention and hidden states, and the
            network that the sentence compares with.
    """
    columns = ("model", "weight_bytes", "peak_bytes_estimated", "peak_bytes_measured")
    body = [[r.label, r.memory.weight_bytes, r.memory.peak_bytes, r.measured] for r in rows]
    work = {
        "length": rows[0].memory.length,
        "batch": rows[0].memory.batch,
        "keeps": settings["keeps"],
    }
    constants = {name.upper(): value for name, value in work.items()} | {"CONFIGS": configs}
    header = {"state": {"sizes": settings["sizes"], **work}, "base": settings["base"]}
    return Records(columns, body, {**NO_RUN, **header}, constants)


def _bars(rows: Sequence[MemoryRow], sizes: Sequence[int | None], name: str) -> "go.Bar":
    import plotly.graph_objects as go

    return go.Bar(
        x=[None if n is None else n / 1e6 for n in sizes],
        y=[row.label for row in rows],
        orientation="h",
        name=name,
        marker_color=[colour_of(row.key).fill for row in rows],
        texttemplate="%{x:,.1f}\u00a0MB",
        textposition="auto",
        hovertemplate="%{y}: %{x:,.3f}\u00a0MB<extra>%{fullData.name}</extra>",
    )


def _figure(bars: "Sequence[go.Bar]", title: str, n_rows: int) -> "go.Figure":
    import plotly.graph_objects as go

    figure = go.Figure(bars, {"title": title, "height": AROUND + BAR * n_rows * len(bars)})
    figure.update_layout(showlegend=len(bars) > 1, legend_traceorder="normal", barmode="group")
    figure.update_xaxes(title="MB", rangemode="tozero")
    figure.update_yaxes(autorange="reversed")
    if any(bar.textposition == "outside" for bar in bars):
        figure.update_layout(margin_r=LABEL)
    return figure
