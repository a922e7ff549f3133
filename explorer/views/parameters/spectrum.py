"""Singular values of the word embeddings: where a table is of full rank and where it is not."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from explorer.views.chart import chart_canvas, dash, line
from explorer.views.numbers import Numbers

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.analysis.parameters.embedding import EmbeddingSpectrum

Spectra = Mapping[str, tuple[str, "EmbeddingSpectrum"]]
COLUMNS = ("model", "index", "singular_value_over_largest")
WEIGHTS_ALONE = {"family": True, "models": True}
"""No text is read here, but weights are."""


def spectrum_figure(spectra: Spectra, texts: Mapping[str, str]) -> "go.Figure":
    """Each model's singular values over its largest one, and where a table's rank ends."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for place, (key, (label, found)) in enumerate(spectra.items()):
        name = texts["rank"].format(label=label, rank=f"{found.rank:,}")
        shares = found.values / found.values[0]
        indices = range(1, len(shares) + 1)
        figure.add_trace(line(indices, shares, name, key, line_dash=dash(place)))
        if found.rank < found.d_model:
            figure.add_vline(found.rank, line={"dash": "dot", "width": 1})
    figure.update_xaxes(title=texts["index"])
    figure.update_yaxes(type="log", exponentformat="power", dtick=3, title=texts["share"])
    return figure


def spectrum_canvas(spectra: Spectra, texts: Mapping[str, str]) -> str:
    """The chart with its rows, and in words which table is of full rank."""
    said = [
        texts["short" if found.rank < found.d_model else "full"].format(
            label=label,
            rank=f"{found.rank:,}",
            width=f"{found.d_model:,}",
            empty=f"{found.d_model - found.rank:,}",
        )
        for label, found in spectra.values()
    ]
    rows = [
        (label, index, float(value))
        for label, found in spectra.values()
        for index, value in enumerate(found.values / found.values[0], 1)
    ]
    numbers = Numbers(COLUMNS, rows, WEIGHTS_ALONE)
    figure = spectrum_figure(spectra, texts)
    return chart_canvas([figure], numbers, finding=" ".join(said), note=texts["note"])
