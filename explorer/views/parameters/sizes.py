"""The seven sizes: a chart for each length, and data that the browser sorts and scales."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from explorer.views.chart import figure_json
from explorer.views.markup import script_json
from explorer.views.parameters.work import work_figure

if TYPE_CHECKING:
    from explorer.analysis.parameters.sizes import Size
    from explorer.models.specs import Architecture


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
