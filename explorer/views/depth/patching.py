"""A difference on its way through the layers, as data: a map for each model and mask."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.depth.one_change import OneChange
from explorer.analysis.depth.patching import Patching, TextPair
from explorer.models.tokens import Tokens
from explorer.views.depth.lens import mask_places
from explorer.views.markup import script_json


@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """What is drawn of one pair of texts."""

    tokens: Tokens
    """Of the first text, by any model."""
    pair: TextPair
    labels: Mapping[str, str]
    maps: Mapping[str, Sequence[Patching]]
    """Of the models that could be patched: one a mask."""
    refused: Mapping[str, str]
    """Why not, of the others."""


def patching_canvas(
    offered: Sequence[OneChange], second: str, followed: Followed | None, texts: Mapping[str, Any]
) -> str:
    """The picture's JSON; without ``followed`` it only offers changes."""
    changes = [
        {"kind": one.kind, "was": one.was, "becomes": one.becomes, "text": one.text}
        for one in offered
    ]
    proposed = offered[0].text if offered else ""
    asked = {"offered": changes, "second": second, "other": "" if second == proposed else second}
    return script_json({**asked, **(_followed(followed) if followed else {}), "texts": dict(texts)})


def _followed(found: Followed) -> dict[str, Any]:
    pair = found.pair
    n_masks = len(next(iter(found.maps.values()), ()))
    return {
        "words": list(pair.words),
        "changed": pair.changed,
        "was": pair.was,
        "becomes": pair.becomes,
        "masks": list(pair.masks[:n_masks]),
        "n_masks": len(pair.masks),
        "near": mask_places(found.tokens)[:n_masks],
        "models": [_model(key, label, found) for key, label in found.labels.items()],
    }


def _model(key: str, label: str, found: Followed) -> dict[str, Any]:
    maps = [
        {
            "answers": list(one.answers),
            "are_first": one.are_first,
            "gaps": [float(f"{gap:.6g}") for gap in (one.d_first, one.d_second)],
            "effect": np.round(one.effect, 6).tolist(),
            "taken": one.taken_over(found.pair.masks[mask], found.pair.changed),
        }
        for mask, one in enumerate(found.maps.get(key, ()))
    ]
    groups = [list(group) for group in found.pair.groups.get(key, ())]
    told = {"maps": maps, "groups": groups, "refused": found.refused.get(key, "")}
    return {"key": key, "label": label, **told}
