"""Charts of parameter counts: components, tensors, layer calls, embedding and its spectrum."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypedDict

from explorer.analysis.records import NO_RUN, Records
from explorer.views.chart import chart_canvas, dash, line
from explorer.views.markup import Markup, el, join, model_name, script_json, table
from explorer.views.theme import colour_of, faint

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.analysis.parameters.count import (
        EmbeddingSpectrum,
        LayerCalls,
        ParameterCounts,
        Tensor,
    )
    from explorer.analysis.parameters.shapes import FamilyMember
    from explorer.models.specs import Architecture, ModelSpec


@dataclass(frozen=True, slots=True)
class CallRow:
    """Layer calls of one network, and the kind of network."""

    spec: "ModelSpec"
    calls: "LayerCalls"
    source: str
    """Kind of network, shown after the name: loaded weights, or the shape alone."""


def calls_table(rows: Sequence[CallRow], heads: Mapping[str, str], chip: str) -> Markup:
    """Build a table with a row per network: layer calls, distinct weights, weights per call."""
    body: list[list[str | Markup]] = [
        [
            join(
                model_name(row.spec.key, row.spec.row_name, row.spec.size),
                " ",
                el("span", row.source, class_="badge"),
            ),
            str(row.calls.calls),
            str(row.calls.distinct),
            _chips(row, chip),
        ]
        for row in rows
    ]
    return el("div", table(list(heads.values()), body), class_="pt-calls")


def calls_records(
    rows: Sequence[CallRow], loaded: Sequence["ModelSpec"], shapes: Sequence["ModelSpec"]
) -> Records:
    """Return the weight tensor of each layer call, in loaded networks and in shapes."""
    body = [
        [row.spec.row_name, row.source, layer, tensor + 1]
        for row in rows
        for layer, tensor in enumerate(row.calls.tensors, 1)
    ]
    header = {"family": True, "models": True}
    constants = {
        "LOADED": {spec.label: spec.row_name for spec in loaded},
        "CONFIGS": {spec.row_name: spec.config for spec in shapes},
        "KINDS": list(dict.fromkeys(row.source for row in rows)),
    }
    return Records(("model", "weights", "layer_of_the_pass", "tensor"), body, header, constants)


def _chips(row: CallRow, chip: str) -> Markup:
    """Draw a chip per layer call, numbered by the weight tensor that the call used."""
    tensors = row.calls.tensors
    chips = [
        el(
            "li",
            str(tensor + 1),
            title=chip.format(layer=place + 1, tensor=tensor + 1),
            class_="again" if tensor in tensors[:place] else "first",
        )
        for place, tensor in enumerate(tensors)
    ]
    return el("ol", *chips, data_model=row.spec.key)


def components_table(
    families: "Sequence[Sequence[FamilyMember]]", parts: Mapping[str, str], rows: Mapping[str, str]
) -> Markup:
    """Build the table of every model's components, with the pre-training head below the total."""
    members = [member for family in families for member in family]
    body: list[list[str | Markup]] = [
        [parts[part], *(_count(m.counts.components[part]) for m in members)]
        for part in members[0].counts.components
    ]
    body += [
        [el("strong", rows["total"]), *(el("strong", f"{m.counts.total:,}") for m in members)],
        [rows["applied"], *(f"{m.counts.applied:,}" for m in members)],
        [rows["head"], *(f"{m.counts.head_total:,}" for m in members)],
        [rows["bytes"], *(f"{m.counts.stored_bytes:,}" for m in members)],
        [rows["tensors"], *(f"{len(m.counts.encoder):,}" for m in members)],
    ]
    return table([rows["component"], *(m.spec.row_name for m in members)], body, rows["caption"])


def components_records(families: "Sequence[Sequence[FamilyMember]]") -> Records:
    """Return a row per model with a column per component."""
    members = [member for family in families for member in family]
    parts = tuple(members[0].counts.components)
    more = ("total", "applied", "head", "stored_bytes_fp32", "tensors")
    rows = [
        [m.spec.row_name, *(m.counts.components[part] for part in parts), *_below(m)]
        for m in members
    ]
    constants = {"CONFIGS": {m.spec.row_name: m.spec.config for m in members}}
    return Records(("model", *parts, *more), rows, NO_RUN, constants)


def _below(member: "FamilyMember") -> list[int]:
    counts = member.counts
    tensors = len(counts.encoder)
    return [counts.total, counts.applied, counts.head_total, counts.stored_bytes, tensors]


def _count(number: int) -> str:
    return f"{number:,}" if number else "–"


ORDER = (
    "word_embeddings",
    "position_embeddings",
    "token_type_embeddings",
    "embedding_norm",
    "embedding_projection",
    "attention",
    "ffn",
    "layer_norm",
    "pooler",
)


class MapCell(TypedDict):
    """Tensors of one part of one layer, or outside the layers."""

    part: str
    layer: int | None
    calls: int
    size: int
    tensors: list[tuple[str, list[int], str, int]]


class MapRow(TypedDict):
    """Counted model: its bar from left to right, and what its changes save."""

    key: str
    size: str
    label: str
    name: str
    total: int
    applied: int
    bytes: int
    head: MapCell
    calls: int
    layer: int
    cells: list[MapCell]
    config: dict[str, Any]
    savings: list[tuple[str, int]]


class MapData(TypedDict):
    """Counted models by family."""

    families: dict[str, list[MapRow]]
    chosen: str
    texts: dict[str, Any]


def parameters_map(
    families: Mapping[str, Sequence["FamilyMember"]],
    texts: Mapping[str, object],
    family: str = "",
) -> str:
    """Return the JSON of the cells of each model's bar, by family, from left to right.

    ``family`` is the selected family. Each cell includes its tensors, so that the browser can
    list them without another request.
    """
    rows = {family: [_row(m) for m in members] for family, members in families.items() if members}
    data: MapData = {"families": rows, "chosen": family, "texts": dict(texts)}
    return script_json(data)


def _row(member: "FamilyMember") -> MapRow:
    counts = member.counts
    return {
        "key": member.spec.key,
        "size": member.spec.size,
        "label": member.spec.label,
        "name": counts.name,
        "total": counts.total,
        "applied": counts.applied,
        "bytes": counts.stored_bytes,
        "head": _cell("head", None, list(counts.head)),
        "calls": member.spec.architecture.n_layers,
        "layer": counts.layer_size,
        "cells": cells(counts),
        "config": member.spec.config,
        "savings": [(step.change, step.saved) for step in member.savings],
    }


def cells(counts: "ParameterCounts") -> list[MapCell]:
    """Group tensors by layer and part, in the order of the forward pass."""
    tensors = sorted(counts.encoder, key=_place)
    return [
        _cell(ORDER[place[2]], place[1] if place[0] == 1 else None, list(members))
        for place, members in groupby(tensors, key=_place)
    ]


def _cell(part: str, layer: int | None, tensors: "list[Tensor]") -> MapCell:
    return {
        "part": part,
        "layer": layer,
        "calls": tensors[0].calls if tensors else 0,
        "size": sum(tensor.size for tensor in tensors),
        "tensors": [(t.name, list(t.shape), t.dtype, t.n_bytes) for t in tensors],
    }


def _place(tensor: "Tensor") -> tuple[int, int, int]:
    """Return the sort key of a tensor: embeddings, then layer by layer, then the pooler."""
    if tensor.layer is not None:
        return 1, tensor.layer, ORDER.index(tensor.component)
    if tensor.component == "layer_norm":
        return 0, 0, ORDER.index("embedding_norm")
    return 2 * (tensor.component == "pooler"), 0, ORDER.index(tensor.component)


EMBEDDING_COLUMNS = ("model", "vocabulary", "hidden", "embedding", "one_table", "stored")
WIDEST, STOPS = 4096, 97


@dataclass(frozen=True, slots=True)
class WordTable:
    """Word embedding sizes of a real model: vocabulary V, hidden H, embedding E."""

    key: str
    name: str
    v: int
    h: int
    e: int

    @property
    def one(self) -> int:
        """The number of weights of a V x H table."""
        return self.v * self.h

    @property
    def stored(self) -> int:
        """The number of stored weights: with a projection only where E differs from H."""
        return self.one if self.e == self.h else self.v * self.e + self.e * self.h


def _names(tables: Sequence[WordTable]) -> list[str]:
    """Return the label of each point: the names of all that stand there, once."""
    at: dict[tuple[int, int], list[str]] = {}
    for words in tables:
        at.setdefault((words.e, words.stored), []).append(words.name)
    return [", ".join(at.pop((words.e, words.stored), [])) for words in tables]


def embedding_figure(
    tables: Sequence[WordTable], start: WordTable, texts: Mapping[str, str]
) -> "go.Figure":
    """Draw weights over E for one V and H, real models as points; both axes logarithmic."""
    import plotly.graph_objects as go

    widths = [WIDEST ** (i / (STOPS - 1)) for i in range(STOPS)]
    two = [start.v * e + e * start.h for e in widths]
    figure = go.Figure(
        [
            line(widths, two, texts["two"]),
            line(widths, [start.one] * STOPS, texts["one"], line_dash="dash"),
            go.Scatter(
                x=[table.e for table in tables],
                y=[table.stored for table in tables],
                text=_names(tables),
                customdata=[table.name for table in tables],
                mode="markers+text",
                textposition=["top left" if t.e == t.h else "bottom right" for t in tables],
                marker={"size": 9, "color": [colour_of(table.key).fill for table in tables]},
                name=texts["pins"],
                showlegend=False,
                hovertemplate="%{customdata}: %{y:,} (E = %{x:,})<extra></extra>",
            ),
            go.Scatter(
                x=[start.e],
                y=[start.stored],
                text=[""],
                mode="markers+text",
                textposition="bottom right",
                marker={"size": 14, "symbol": "circle-open", "line": {"width": 3}},
                name=texts["here"],
                hovertemplate=f"{texts['here']}: %{{y:,}} (E = %{{x:,}})<extra></extra>",
            ),
        ]
    )
    ticks = [1, 4, 16, 64, 128, 256, 768, 2048, 4096]
    figure.update_xaxes(type="log", title=texts["e"], tickvals=ticks, tickformat=",d")
    figure.update_yaxes(
        type="log", title=texts["weights"], range=[3, 9.1], dtick=1, tickformat="~s"
    )
    return figure


def embedding_canvas(
    pins: "Sequence[tuple[str, str, Architecture]]", texts: Mapping[str, str]
) -> str:
    """Return the calculator's JSON, which starts at the first model with a factorised table."""
    tables = [WordTable(key, name, s.d_vocab, s.d_model, s.d_embedding) for key, name, s in pins]
    start = next((table for table in tables if table.e != table.h), tables[0])
    rows = [(t.name, t.v, t.h, t.e, t.one, t.stored) for t in tables]
    published = [{"key": t.key, "name": t.name, "v": t.v, "h": t.h, "e": t.e} for t in tables]
    return chart_canvas(
        [embedding_figure(tables, start, texts)],
        Records(
            EMBEDDING_COLUMNS, rows, NO_RUN, {"TABLES": [[t.name, t.v, t.h, t.e] for t in tables]}
        ),
        pins=published,
        start=published[tables.index(start)],
        texts=dict(texts),
    )


Spectra = Mapping[str, tuple[str, "EmbeddingSpectrum"]]
SPECTRUM_COLUMNS = ("model", "index", "singular_value_over_largest")
WEIGHTS_ALONE = {"family": True, "models": True, "dtype": True}
"""File header of numbers that depend on the weights but not on the text."""


def spectrum_figure(spectra: Spectra, texts: Mapping[str, str]) -> "go.Figure":
    """Draw singular values divided by the largest, and the rank of tables not of full rank."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for place, (key, (label, spectrum)) in enumerate(spectra.items()):
        name = texts["rank"].format(label=label, rank=f"{spectrum.rank:,}")
        shares = spectrum.values / spectrum.values[0]
        indices = range(1, len(shares) + 1)
        figure.add_trace(line(indices, shares, name, key, line_dash=dash(place)))
        if spectrum.rank < spectrum.d_model:
            figure.add_vline(spectrum.rank, line={"dash": "dot", "width": 1})
    figure.update_xaxes(title=texts["index"])
    figure.update_yaxes(type="log", exponentformat="power", dtick=3, title=texts["share"])
    return figure


def spectrum_canvas(spectra: Spectra, texts: Mapping[str, str]) -> str:
    """Return the chart with its rows, and the finding on each table's rank."""
    findings = [
        texts["short" if spectrum.rank < spectrum.d_model else "full"].format(
            label=label,
            rank=f"{spectrum.rank:,}",
            width=f"{spectrum.d_model:,}",
            empty=f"{spectrum.d_model - spectrum.rank:,}",
        )
        for label, spectrum in spectra.values()
    ]
    rows = [
        (label, index, float(value))
        for label, spectrum in spectra.values()
        for index, value in enumerate(spectrum.values / spectrum.values[0], 1)
    ]
    records = Records(SPECTRUM_COLUMNS, rows, WEIGHTS_ALONE)
    figure = spectrum_figure(spectra, texts)
    return chart_canvas([figure], records, finding=" ".join(findings), note=texts["note"])


Path = tuple[str, ...]
TENSORS_COLUMNS = ("model", "tensor", "shape", "stored", "uses_in_one_pass", "applied")
HEIGHT = 420
PROJECTIONS = ("query", "key", "value", "output")
SPECK = 2e-4
"""Smallest share of the part around it at which a part is drawn: a square of six pixels there."""


def tensor_path(tensor: "Tensor", member: "FamilyMember", names: Mapping[str, str]) -> Path:
    """Return a tensor's path in the treemap, from the largest part to the tensor.

    A layer's attention is divided into query, key, value and output by the module names of the
    model's kind.
    """
    layer = (
        () if tensor.layer is None else (names["layers"], f"{names['layer']} {tensor.layer + 1}")
    )
    module, _, own = tensor.name.rpartition(".")
    if tensor.layer is None and tensor.component != "pooler":
        return names["embeddings"], names[tensor.component], tensor.name
    if tensor.component != "attention":
        return *layer, names[tensor.component], tensor.name
    kind = member.spec.kind
    part = next(
        projection for projection in PROJECTIONS if re.search(getattr(kind, projection), module)
    )
    return *layer, names["attention"], names[part], f"{names[part]} {own}"


def tensors_figure(
    member: "FamilyMember", names: Mapping[str, str], applied: bool = False
) -> "go.Figure":
    """Draw a treemap of one model: area is weights, stored or, if ``applied``, once per use.

    A part that would be a speck wherever it is seen is not drawn; it counts in those around it.
    """
    import plotly.graph_objects as go

    root = member.spec.label
    sizes: dict[Path, int] = {(root,): 0}
    for tensor in member.counts.encoder:
        path = (root, *tensor_path(tensor, member, names))
        for end in range(1, len(path) + 1):
            part = path[:end]
            sizes[part] = sizes.get(part, 0) + tensor.size * (tensor.calls if applied else 1)
    sizes = {path: size for path, size in sizes.items() if not _is_speck(path, sizes)}
    colour = colour_of(member.spec.key).fill
    tree = go.Treemap(
        ids=["/".join(path) for path in sizes],
        labels=[path[-1] for path in sizes],
        parents=["/".join(path[:-1]) for path in sizes],
        values=list(sizes.values()),
        branchvalues="total",
        maxdepth=3,
        marker={"colors": [faint(colour, min(0.85, 0.12 * len(path))) for path in sizes]},
        hovertemplate="%{label}<br>%{value:,} (%{percentRoot:.1%})<extra></extra>",
        texttemplate="%{label}<br>%{percentRoot:.1%}",
        tiling={"pad": 2},
    )
    title = f"{root}: {sizes[(root,)]:,}"
    layout = {"title": title, "height": HEIGHT, "margin": {"l": 0, "r": 0, "t": 4, "b": 0}}
    return go.Figure(tree, layout | {"uniformtext": {"minsize": 11, "mode": "hide"}})


def _is_speck(path: Path, sizes: Mapping[Path, int]) -> bool:
    """Return whether a part, or one that holds it, is too small in the part around it."""
    return any(sizes[path[: end + 1]] < SPECK * sizes[path[:end]] for end in range(1, len(path)))


def tensors_canvas(members: "Sequence[FamilyMember]", texts: Mapping[str, object]) -> str:
    """Return the treemaps of all models, by stored and by applied weights."""
    names: Mapping[str, str] = texts["parts"]  # type: ignore[assignment]
    figures = [tensors_figure(m, names, applied) for applied in (False, True) for m in members]
    rows = [
        (m.spec.label, t.name, " x ".join(map(str, t.shape)), t.size, t.calls, t.size * t.calls)
        for m in members
        for t in m.counts.encoder
    ]
    totals = {
        m.spec.label: {"stored": m.counts.total, "applied": m.counts.applied} for m in members
    }
    records = Records(TENSORS_COLUMNS, rows, {**NO_RUN, "totals": totals})
    return chart_canvas(figures, records, texts=dict(texts))
