"""JSON of one layer of each model: what each station of it gives for one token."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from explorer.analysis.layer import LayerTrace, mean_weights, normalised
from explorer.analysis.records import unrounded
from explorer.models.run import Run
from explorer.models.tokens import spelling_of
from explorer.refusal import code_of
from explorer.views.markup import script_json

if TYPE_CHECKING:
    from explorer.models.inside.activations import (
        EmbeddingActivations,
        LayerActivations,
        Normalisation,
        Projected,
    )


Reading = tuple[str, float]
"""The MLM head's top-1 word and its probability."""


@dataclass(frozen=True, slots=True, eq=False)
class TracedLayer:
    """Values of one model's layer for one token."""

    run: Run
    layer: int
    head: int
    position: int
    """Position of the token that is followed."""
    note: str
    """Relation of this layer to the others, as a sentence."""
    pieces: str
    """Note on the token of the word that is followed; empty for a word of one token."""
    activations: "LayerActivations"
    embedding: "EmbeddingActivations"
    trace: LayerTrace
    readings: tuple[Reading, Reading, Reading] | None
    """Before the layer, after attention and after the layer; None without an MLM head."""

    @property
    def norms(self) -> "dict[str, Normalisation]":
        """The layer norms, by the key of the stage whose output they give."""
        stations = self.activations
        ends = {"attention_norm": stations.attention_norm, "output": stations.norm}
        return {"embedding": self.embedding.norm, **ends}


@dataclass(frozen=True, slots=True)
class Selection:
    """The reader's selection and the available choices."""

    words: Sequence[str]
    at: int
    first: int
    """Index of the word that is selected by default."""
    deepest: str
    """Key of the model with the most layers, which bounds the layer selection."""
    widest: str
    """Key of the model with the most heads, which bounds the head selection."""


class NormData(TypedDict):
    """Layer norm of one vector; each row is a dimension, its x, scale, shift and result."""

    mean: float
    deviation: float
    rows: list[list[float]]


class ProjectedData(TypedDict):
    """Projection of a factorised embedding, in its largest dimensions."""

    shown: list[int]
    weight: str
    bias: list[float]
    result: list[float]


class EmbeddingData(TypedDict):
    """Summands of the embedding, their layer norm, and the projection of a factorised one."""

    parts: dict[str, str]
    normalised: str
    projected: ProjectedData | None
    dimensions: int
    width: int


class LayerModel(TypedDict):
    """Layer of one model; vectors are packed, and those with a value for each token are not."""

    key: str
    label: str
    layer: int
    n_layers: int
    head: int
    n_heads: int
    note: str
    pieces: str
    tokens: list[str]
    raw: Sequence[str]
    position: int
    vectors: dict[str, str]
    norms: dict[str, float]
    cosines: dict[str, float]
    query: str
    keys: str
    read: str
    value_lengths: list[float]
    scores: list[float]
    exponentials: list[float]
    weights: list[float]
    read_from: list[float]
    shares: bool
    heads: list[float]
    units: list[tuple[int, float, float]]
    active: int
    d_ffn: int
    normalised: dict[str, NormData]
    embedding: EmbeddingData
    readings: tuple[Reading, Reading, Reading] | None
    changed_by: str
    blocks: dict[str, float]
    angles: dict[str, float]


class LayerCard(TypedDict):
    """Model whose layer cannot be shown, and why."""

    key: str
    label: str
    why: str
    code: str


class LayerData(TypedDict):
    """Layer of every model, for one word of the text."""

    models: list[LayerModel]
    chosen: Selection
    cards: list[LayerCard]
    texts: Mapping[str, Any]


def layer_canvas(
    traced: Sequence[TracedLayer],
    selection: Selection,
    cards: Mapping[str, tuple[str, str]],
    texts: Mapping[str, Any],
) -> str:
    """Return the chart's JSON.

    Args:
        traced: One entry per model, in the fixed order.
        selection: The reader's selection.
        cards: (label, reason) by key of the models that cannot be shown.
        texts: The chart's texts.
    """
    data: LayerData = {
        "models": [_model(model) for model in traced],
        "chosen": selection,
        "cards": [
            {"key": key, "label": label, "why": why, "code": code_of(why)}
            for key, (label, why) in cards.items()
        ],
        "texts": texts,
    }
    return script_json(data)


def _model(traced: TracedLayer) -> LayerModel:
    activations, trace, shape = traced.activations, traced.trace, traced.run.spec.architecture
    spelling = spelling_of(traced.run.vocabulary)
    pieces = [spelling.word(piece) for piece in traced.run.tokens.pieces]
    units = [(int(i), activations.units[i], activations.unit_lengths[i]) for i in trace.units]
    return {
        "key": traced.run.spec.key,
        "label": traced.run.spec.label,
        "layer": traced.layer,
        "n_layers": shape.n_layers,
        "head": traced.head,
        "n_heads": shape.n_heads,
        "note": traced.note,
        "pieces": traced.pieces,
        "tokens": pieces,
        "raw": traced.run.tokens.pieces,
        "position": traced.position,
        "vectors": {name: _packed(vector) for name, vector in trace.vectors.items()},
        "norms": _rounded(trace.norms),
        "cosines": _rounded(trace.cosines),
        "query": _packed(activations.query),
        "keys": _packed(activations.keys),
        "read": _packed(activations.head_output),
        "value_lengths": unrounded(np.linalg.norm(activations.values, axis=-1)),
        "scores": unrounded(activations.scores),
        "exponentials": unrounded(trace.exponentials),
        "weights": unrounded(trace.weights),
        "read_from": unrounded(mean_weights(traced.run, traced.layer, traced.position)),
        "shares": shape.shares_layers,
        "heads": unrounded(trace.head_lengths),
        "units": [(i, unrounded(value), unrounded(length)) for i, value, length in units],
        "active": int((activations.units > 0).sum()),
        "d_ffn": shape.d_ffn,
        "normalised": {name: _arithmetic(norm) for name, norm in traced.norms.items()},
        "embedding": _embedding(traced.embedding, shape.d_model),
        "readings": traced.readings,
        "changed_by": trace.changed_by,
        "blocks": _rounded(
            {"attention": trace.attention_cosine, "feed_forward": trace.feed_forward_cosine}
        ),
        "angles": _rounded(trace.angles),
    }


def _arithmetic(norm: "Normalisation") -> NormData:
    sums = normalised(norm)
    rows = [[int(i), *unrounded(row)] for i, row in zip(sums.shown, sums.rows, strict=True)]
    return {"mean": unrounded(sums.mean), "deviation": unrounded(sums.deviation), "rows": rows}


def _embedding(activations: "EmbeddingActivations", width: int) -> EmbeddingData:
    rows = {
        "word": activations.word,
        "position": activations.position,
        "segment": activations.segment,
    }
    return {
        "parts": {name: _packed(row) for name, row in rows.items() if row is not None},
        "normalised": _packed(activations.norm.outputs),
        "projected": _projected(activations.projected) if activations.projected else None,
        "dimensions": len(activations.word),
        "width": width,
    }


def _projected(projection: "Projected") -> ProjectedData:
    """Return the terms of the projection for the dimensions shown."""
    return {
        "shown": projection.shown.tolist(),
        "weight": _packed(projection.weight),
        "bias": unrounded(projection.bias),
        "result": unrounded(projection.result[projection.shown]),
    }


def _packed(vector: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(vector, np.float32).tobytes()).decode()


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: unrounded(value) for name, value in values.items()}
