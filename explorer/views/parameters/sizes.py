"""The seven sizes and the sharing modes as data that the browser sorts, scales and redraws."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from explorer.views.markup import script_json

if TYPE_CHECKING:
    from explorer.analysis.parameters.embedding import EmbeddingSpectrum
    from explorer.analysis.parameters.sharing import SharingMode
    from explorer.analysis.parameters.sizes import Size
    from explorer.models.specs import Architecture


def sizes_canvas(sizes: "Sequence[Size]", texts: Mapping[str, object]) -> str:
    """The table of the seven; the work at any length follows from three numbers per model."""
    return script_json({"rows": [_size(size) for size in sizes], "texts": dict(texts)})


def _size(size: "Size") -> dict[str, object]:
    shape = size.spec.architecture
    return {
        "key": size.spec.key,
        "name": size.spec.name,
        "total": size.total,
        "applied": size.applied,
        "layers": shape.n_layers,
        "width": shape.d_model,
        "embedding": shape.d_embedding,
        "heads": shape.n_heads,
        "flops": list(size.flops),
        "printed": [[p.millions, p.source] for p in size.printed],
        "config": size.spec.config,
    }


def embedding_canvas(
    pins: "Sequence[tuple[str, str, Architecture]]", texts: Mapping[str, object]
) -> str:
    """Real models as points (key, name, shape) for the factorised-embedding calculator."""
    points = [
        {"key": key, "name": name, "v": shape.d_vocab, "h": shape.d_model, "e": shape.d_embedding}
        for key, name, shape in pins
    ]
    start = next((p for p in points if p["e"] != p["h"]), points[0])
    return script_json({"pins": points, "start": start, "texts": dict(texts)})


def spectrum_canvas(
    spectra: "Mapping[str, tuple[str, EmbeddingSpectrum]]", texts: Mapping[str, object]
) -> str:
    """Singular values relative to the largest, by model key, with the label and the rank."""
    lines = [
        {
            "key": key,
            "label": label,
            "rank": spectrum.rank,
            "width": spectrum.d_model,
            "vocabulary": spectrum.d_vocab,
            "values": [float(f"{v:.7g}") for v in spectrum.values / spectrum.values[0]],
        }
        for key, (label, spectrum) in spectra.items()
    ]
    return script_json({"lines": lines, "texts": dict(texts)})


def sharing_canvas(
    modes: "Mapping[int, Sequence[SharingMode]]",
    parts: Mapping[str, int],
    texts: Mapping[str, object],
) -> str:
    """The four modes at each E, and the layer's two parts for counting any depth."""
    rows = {
        e: [
            {
                "mode": m.mode,
                "total": m.total,
                "applied": m.applied,
                "printed": m.scores.printed_millions,
                "squad1": m.scores.squad1,
                "squad2": m.scores.squad2,
                "mnli": m.scores.mnli,
                "sst2": m.scores.sst2,
                "race": m.scores.race,
                "average": m.scores.average,
            }
            for m in listed
        ]
        for e, listed in modes.items()
    }
    return script_json({"modes": rows, "parts": dict(parts), "texts": dict(texts)})


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
