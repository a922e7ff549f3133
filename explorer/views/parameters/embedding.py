"""What a word table stores: one of V x H, or two of V x E and E x H, over the width E."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.views.chart import chart_canvas, line
from explorer.views.numbers import NO_RUN, Numbers
from explorer.views.theme import COLOURS

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.models.specs import Architecture

COLUMNS = ("model", "vocabulary", "hidden", "embedding", "one_table", "stored")
WIDEST, STOPS = 4096, 97


@dataclass(frozen=True, slots=True)
class WordTable:
    """A real model's word table."""

    key: str
    name: str
    v: int
    h: int
    e: int

    @property
    def one(self) -> int:
        """Weights of one table of V x H."""
        return self.v * self.h

    @property
    def stored(self) -> int:
        """Weights that are stored: a projection only where E differs from H."""
        return self.one if self.e == self.h else self.v * self.e + self.e * self.h


def word_tables(pins: "Sequence[tuple[str, str, Architecture]]") -> list[WordTable]:
    """The word table of each (key, name, shape)."""
    return [WordTable(key, name, s.d_vocab, s.d_model, s.d_embedding) for key, name, s in pins]


def embedding_figure(
    tables: Sequence[WordTable], start: WordTable, texts: Mapping[str, str]
) -> "go.Figure":
    """Weights over E for one vocabulary and width, the real models as points; both axes log."""
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
                text=[table.name for table in tables],
                mode="markers",
                marker={"size": 9, "color": [COLOURS[table.key].fill for table in tables]},
                name=texts["pins"],
                hovertemplate="%{text}: %{y:,} (E = %{x:,})<extra></extra>",
            ),
            go.Scatter(
                x=[start.e],
                y=[start.stored],
                text=[start.name],
                mode="markers+text",
                textposition="top left",
                marker={"size": 14, "symbol": "circle-open", "line": {"width": 3}},
                name=texts["here"],
                hovertemplate="%{text}: %{y:,} (E = %{x:,})<extra></extra>",
            ),
        ]
    )
    ticks = [1, 4, 16, 64, 128, 256, 768, 2048, 4096]
    figure.update_xaxes(type="log", title=texts["e"], tickvals=ticks, tickformat=",d")
    figure.update_yaxes(
        type="log", title=texts["weights"], range=[4.5, 9], dtick=1, tickformat="~s"
    )
    return figure


def embedding_canvas(
    pins: "Sequence[tuple[str, str, Architecture]]", texts: Mapping[str, str]
) -> str:
    """The calculator: it begins with the first model whose table is factorised."""
    tables = word_tables(pins)
    start = next((table for table in tables if table.e != table.h), tables[0])
    rows = [(t.name, t.v, t.h, t.e, t.one, t.stored) for t in tables]
    known = [{"key": t.key, "name": t.name, "v": t.v, "h": t.h, "e": t.e} for t in tables]
    return chart_canvas(
        [embedding_figure(tables, start, texts)],
        Numbers(COLUMNS, rows, NO_RUN, {"TABLES": [[t.name, t.v, t.h, t.e] for t in tables]}),
        pins=known,
        start=known[tables.index(start)],
        texts=dict(texts),
    )
