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
            "special": [int(word.special) for word in alignment.words],
            "models": [
                {
                    "key": key,
                    "label": specs[key].label,
                    "detail": details.get(key, ""),
                    "values": floats(matrix),
                    "groups": alignment.groups[key],
                }
                for key, matrix in matrices.items()
            ],
            "texts": dict(texts),
        }
    )
