"""Sizes, sharing, work and memory, drawn from shapes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log10
from typing import TYPE_CHECKING

from explorer.views.chart import chart_canvas, figure_json, line, placed
from explorer.views.markup import script_json
from explorer.views.numbers import NO_RUN, Numbers
from explorer.views.theme import COLOURS, PARTS

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.analysis.parameters.shapes import ForwardMemory, SharingMode, Size
    from explorer.models.specs import Architecture


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


LENGTHS = (1, 8, 16, 32, 64, 128, 256, 384, 512)
"""Tokens of the pass that can be chosen."""


def sizes_canvas(
    sizes: "Sequence[Size]", texts: Mapping[str, object], chart: Mapping[str, str]
) -> str:
    """The seven in a chart at each length, and in a table: one picture in two forms."""
    figures = [figure_json(work_figure(sizes, length, chart)) for length in LENGTHS]
    rows = [_size(size) for size in sizes]
    drawn = {"figures": figures, "lengths": list(LENGTHS), "rows": rows}
    return script_json({**drawn, "texts": dict(texts)})


def _size(size: "Size") -> dict[str, object]:
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
        "printed": [[p.millions, p.source] for p in size.printed],
        "config": size.spec.config,
    }


def build_canvas(presets: "Sequence[tuple[str, Architecture]]", texts: Mapping[str, object]) -> str:
    """The form of the model builder with the seven shapes to start from."""
    listed = [
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
    return script_json({"presets": listed, "texts": dict(texts)})


Ends = tuple[float, float]
HEIGHT, ROOM = 420, 1.6
"""Pixels, and how far beyond the smallest and the largest an axis goes."""
USES = (1, 4, 16)
"""How often a pass uses each stored weight, on the lines."""
STEPS = 60


def work_figure(sizes: "Sequence[Size]", length: int, texts: Mapping[str, str]) -> "go.Figure":
    """GFLOP of one pass over ``length`` tokens against stored weights; both axes logarithmic.

    On a line every stored weight is used equally often: two operations a token and use.
    """
    import plotly.graph_objects as go

    across = _ends([size.total for size in sizes])
    up = _ends([gflop(size, length) for size in sizes])
    lines = {uses: [2 * uses * length * x / 1e9 for x in across] for uses in USES}
    figure = go.Figure([_line(across, line) for line in lines.values()])
    sides = _sides(sizes, length, across, up)
    for key in dict.fromkeys(size.spec.key for size in sizes):
        own = [size for size in sizes if size.spec.key == key]
        figure.add_trace(_points(own, key, length, sides))
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
    """Work of one pass over so many tokens, in 1e9 operations."""
    return sum(c * length**power for power, c in enumerate(size.flops)) / 1e9


def _ends(values: Sequence[float]) -> Ends:
    return min(values) / ROOM, max(values) * ROOM


def _powers(ends: Ends) -> list[float]:
    return [log10(end) for end in ends]


def _ticks(ends: Ends) -> dict[str, list]:
    """Round numbers, written out: Plotly prints 20 and 50 as a small 2 and 5."""
    round_ones = [first * 10.0**power for power in range(-3, 6) for first in (1, 2, 5)]
    values = [value for value in round_ones if ends[0] <= value <= ends[1]]
    return {"tickvals": values, "ticktext": [f"{value:,g}" for value in values]}


def _end_of_line(uses: int, length: int, right: float, top: float) -> dict[str, object]:
    """A line's number where it leaves the frame, outside: no name of a size can reach it."""
    end = 2 * uses * length * right / 1e9
    shown = {"text": f"{uses}\u202f×", "showarrow": False}
    if end <= top:  # places on a logarithmic axis are powers of ten
        return {**shown, "x": 1, "xref": "paper", "xanchor": "left", "y": log10(end)}
    x = log10(top * 1e9 / (2 * uses * length))
    return {**shown, "x": x, "y": 1, "yref": "paper", "yanchor": "bottom"}


def _sides(sizes: "Sequence[Size]", length: int, across: Ends, up: Ends) -> dict[str, str]:
    """On which side of its point each size has its name, apart from names, points and lines."""
    x, y = ((log10(low), log10(high)) for low, high in (across, up))
    at = [(log10(s.total), log10(gflop(s, length))) for s in sizes]
    ends = [
        pair
        for (one, start), (other, end) in pairwise(zip(sizes, at, strict=True))
        if one.spec.key == other.spec.key
        for pair in [(start, end)]
    ]
    for uses in USES:
        shift = log10(2 * uses * length / 1e9)
        ends.append(((x[0], x[0] + shift), (x[1], x[1] + shift)))
    drawn = [((px, x), (py, y)) for px, py in _along(ends)]
    labels = [size.spec.label for size in sizes]
    sides = placed([((px, x), (py, y)) for px, py in at], labels, drawn)
    return dict(zip(labels, sides, strict=True))


def _along(ends: "Sequence[tuple[Ends, Ends]]") -> list[Ends]:
    """Places along straight lines, as near to each other as a name is high."""
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
        marker={"size": 11, "color": COLOURS[key].fill},
        line={"color": COLOURS[key].fill, "width": 1},
        hovertemplate="%{customdata}<br>%{x:,} weights, %{y:.2f} GFLOP<extra></extra>",
    )


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
