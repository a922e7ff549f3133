"""Where every weight sits: three bars on one scale, cut into the tensors they are made of."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from explorer.views.markup import script_json

if TYPE_CHECKING:
    from explorer.analysis.parameters.count import ParameterCounts, Tensor
    from explorer.analysis.parameters.family import FamilyMember

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


def parameters_map(
    families: Mapping[str, Sequence["FamilyMember"]],
    texts: Mapping[str, object],
    family: str = "",
) -> str:
    """The picture's JSON: per family and model the cells of a bar, left to right.

    ``family`` is what the page shows: the one that is drawn once it has changed.
    Each cell carries its tensors, so the browser can name them without asking again.
    """
    drawn = {family: [_row(m) for m in members] for family, members in families.items() if members}
    return script_json({"families": drawn, "chosen": family, "texts": dict(texts)})


def _row(member: "FamilyMember") -> dict[str, object]:
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
        "savings": [[step.change, step.saved] for step in member.savings],
    }


def cells(counts: "ParameterCounts") -> list[dict[str, object]]:
    """Tensors gathered by layer and part, in the order a text passes through them."""
    tensors = sorted(counts.encoder, key=_place)
    return [
        _cell(ORDER[place[2]], place[1] if place[0] == 1 else None, list(members))
        for place, members in groupby(tensors, key=_place)
    ]


def _cell(part: str, layer: int | None, tensors: "list[Tensor]") -> dict[str, object]:
    return {
        "part": part,
        "layer": layer,
        "calls": tensors[0].calls if tensors else 0,
        "size": sum(tensor.size for tensor in tensors),
        "tensors": [[t.name, list(t.shape), t.dtype, t.n_bytes] for t in tensors],
    }


def _place(tensor: "Tensor") -> tuple[int, int, int]:
    """Embeddings, then layer by layer, then the pooler."""
    if tensor.layer is not None:
        return 1, tensor.layer, ORDER.index(tensor.component)
    if tensor.component == "layer_norm":
        return 0, 0, ORDER.index("embedding_norm")
    return 2 * (tensor.component == "pooler"), 0, ORDER.index(tensor.component)
