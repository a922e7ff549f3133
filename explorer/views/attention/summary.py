"""Summaries of all attention: one matrix per model, drawn in the browser."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.analysis.alignment import Alignment
from explorer.models.specs import ModelSpec
from explorer.views.attention.wall import floats
from explorer.views.markup import script_json


def attention_summary_canvas(
    matrices: Mapping[str, np.ndarray],
    specs: Mapping[str, ModelSpec],
    alignment: Alignment,
    details: Mapping[str, str],
    texts: Mapping[str, Any],
) -> str:
    """Square matrices between words by model key, with a line about each."""
    return script_json(
        {
            "words": [word.text for word in alignment.words],
            "models": [
                {
                    "key": key,
                    "label": specs[key].label,
                    "detail": details.get(key, ""),
                    "values": floats(matrix),
                    "groups": alignment.groups[key],
                    "gain": _gain(matrix),
                }
                for key, matrix in matrices.items()
            ],
            "texts": dict(texts),
        }
    )


def _gain(matrix: np.ndarray) -> float:
    """Rows that sum to 1 keep the wall's scale; a matrix of tiny numbers fills the scale."""
    top = float(matrix.max())
    return 1.0 if top >= 0.2 or top <= 0 else round(1.0 / top, 6)
