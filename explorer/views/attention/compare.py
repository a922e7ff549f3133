"""ALBERT's shared heads, as data for a strip of pictures."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.analysis.attention.compare import SharedDrift
from explorer.models.specs import ModelSpec
from explorer.views.markup import script_json


def shared_drift_canvas(drift: SharedDrift, spec: ModelSpec, texts: Mapping[str, Any]) -> str:
    """What the strip of one shared head needs besides the wall's own numbers."""
    return script_json(
        {
            "model": spec.key,
            "texts": dict(texts),
            "step": np.round(drift.step, 4).tolist(),
            "from_first": np.round(drift.from_first, 4).tolist(),
        }
    )
