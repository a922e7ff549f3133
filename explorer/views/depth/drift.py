"""A shared layer's heads over its applications, as data for a strip of pictures."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.analysis.alignment import Alignment
from explorer.analysis.depth.drift import SharedDrift, content_rows
from explorer.models.specs import ModelSpec
from explorer.views.markup import script_json

SHOWN = 32
"""The first words of a text: a tile of more would be larger than the strip has room for."""


def shared_drift_canvas(
    drift: SharedDrift,
    attention: np.ndarray,
    spec: ModelSpec,
    alignment: Alignment,
    texts: Mapping[str, Any],
) -> str:
    """The strip's JSON: the tiles as one byte a cell, ``round(255 sqrt(a))``, and the distances."""
    tiles = np.rint(255 * np.sqrt(np.clip(attention[..., :SHOWN, :SHOWN], 0, 1))).astype(np.uint8)
    return script_json(
        {
            "model": spec.key,
            "texts": dict(texts),
            "size": tiles.shape[-1],
            "heads": tiles.shape[1],
            "tiles": base64.b64encode(np.ascontiguousarray(tiles).tobytes()).decode("ascii"),
            "step": np.round(drift.step, 7).tolist(),
            "from_first": np.round(drift.from_first, 7).tolist(),
            "groups": {spec.label: alignment.groups[spec.key]},
            "read": content_rows(alignment),
        }
    )
