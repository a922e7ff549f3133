"""One word through one layer of every model, as the numbers of every station."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.layer.stations import LayerWay, mean_weights, normalised
from explorer.models.run import Run
from explorer.models.spelling import spelling_of
from explorer.views.markup import script_json

if TYPE_CHECKING:
    from explorer.models.inside.stations import (
        EmbeddingStations,
        LayerStations,
        Normalisation,
        Projected,
    )

Reading = tuple[str, float]
"""The head's first word and its probability."""


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """All that is shown of one model."""

    run: Run
    layer: int
    head: int
    position: int
    """The token that is followed."""
    note: str
    """How this layer is related to the others."""
    pieces: str
    """Which piece of the word is followed; empty for a word of one."""
    stations: "LayerStations"
    embedding: "EmbeddingStations"
    way: LayerWay
    readings: tuple[Reading, Reading, Reading] | None
    """Before the layer, after attention and after the layer; None without a masked-LM head."""

    @property
    def norms(self) -> "dict[str, Normalisation]":
        """The layer norms by the station that each ends."""
        found = self.stations
        ends = {"attention_norm": found.attention_norm, "output": found.norm}
        return {"embedding": self.embedding.norm, **ends}


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the reader looks at, and what there is to choose from."""

    words: Sequence[str]
    at: int
    first: int
    """The word that is followed unless the reader chooses another."""
    deepest: str
    """The model whose layers can be chosen."""
    widest: str
    """The model whose heads can be chosen."""


def stations_canvas(
    walked: Sequence[Walked],
    chosen: Chosen,
    cards: Mapping[str, tuple[str, str]],
    texts: Mapping[str, Any],
) -> str:
    """The picture's JSON.

    Args:
        walked: By model, in the fixed order.
        chosen: What is looked at.
        cards: Label and reason of each model that cannot be shown.
        texts: The picture's sentences.
    """
    return script_json(
        {
            "models": [_model(one) for one in walked],
            "chosen": {name: getattr(chosen, name) for name in Chosen.__slots__},
            "cards": [
                {"key": key, "label": label, "why": why} for key, (label, why) in cards.items()
            ],
            "texts": texts,
        }
    )


def _model(one: Walked) -> dict[str, Any]:
    found, way, shape = one.stations, one.way, one.run.spec.architecture
    spelling = spelling_of(one.run.vocabulary)
    pieces = [spelling.word(piece) for piece in one.run.tokens.pieces]
    units = [(int(i), found.units[i], found.unit_lengths[i]) for i in way.units]
    return {
        "key": one.run.spec.key,
        "label": one.run.spec.label,
        "layer": one.layer,
        "n_layers": shape.n_layers,
        "head": one.head,
        "n_heads": shape.n_heads,
        "note": one.note,
        "pieces": one.pieces,
        "tokens": pieces,
        "raw": one.run.tokens.pieces,
        "position": one.position,
        "vectors": {name: _packed(vector) for name, vector in way.vectors.items()},
        "norms": _rounded(way.norms),
        "cosines": _rounded(way.cosines),
        "query": _packed(found.query),
        "keys": _packed(found.keys),
        "read": _packed(found.read),
        "value_lengths": _list(np.linalg.norm(found.values, axis=-1)),
        "scores": _list(found.scores),
        "exponentials": _list(way.exponentials),
        "weights": _list(way.weights),
        "read_from": _list(mean_weights(one.run, one.layer, one.position)),
        "shares": shape.shares_layers,
        "heads": _list(way.head_lengths),
        "units": [[i, _digits(value), _digits(length)] for i, value, length in units],
        "active": int((found.units > 0).sum()),
        "d_ffn": shape.d_ffn,
        "normalised": {name: _arithmetic(norm) for name, norm in one.norms.items()},
        "embedding": _embedding(one.embedding, shape.d_model),
        "readings": one.readings,
        "changed_by": way.changed_by,
        "blocks": _rounded(
            {"attention": way.attention_cosine, "feed_forward": way.feed_forward_cosine}
        ),
        "angles": _rounded(way.angles),
    }


def _arithmetic(norm: "Normalisation") -> dict[str, Any]:
    sums = normalised(norm)
    rows = [[int(i), *_list(row)] for i, row in zip(sums.shown, sums.rows, strict=True)]
    return {"mean": _digits(sums.mean), "deviation": _digits(sums.deviation), "rows": rows}


def _embedding(found: "EmbeddingStations", width: int) -> dict[str, Any]:
    rows = {"word": found.word, "position": found.position, "segment": found.segment}
    return {
        "parts": {name: _packed(row) for name, row in rows.items() if row is not None},
        "normalised": _packed(found.norm.gave),
        "projected": found.projected and _projected(found.projected),
        "dimensions": len(found.word),
        "width": width,
    }


def _projected(found: "Projected") -> dict[str, Any]:
    """The arithmetic of the largest dimensions."""
    return {
        "shown": found.shown.tolist(),
        "weight": _packed(found.weight),
        "bias": _list(found.bias),
        "result": _list(found.result[found.shown]),
    }


def _packed(vector: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(vector, np.float32).tobytes()).decode()


def _digits(value: float) -> float:
    return float(f"{value:.7g}")


def _list(values: np.ndarray) -> list[float]:
    return [_digits(value) for value in values]


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: _digits(value) for name, value in values.items()}
