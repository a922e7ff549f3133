"""How words move through the layers, as data for a chart a model."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from explorer.analysis.alignment import AlignedWord, Groups
from explorer.analysis.depth.travel import WordTravel
from explorer.views.markup import script_json


def travel_canvas(
    found: Mapping[str, WordTravel],
    labels: Mapping[str, str],
    groups: Mapping[str, Groups],
    words: Sequence[AlignedWord],
    texts: Mapping[str, Any],
) -> str:
    """The charts' JSON; the first mask is drawn first, else the last word."""
    masks = [i for i, word in enumerate(words) if word.is_mask]
    last = max((i for i, word in enumerate(words) if word.text[0].isalnum()), default=0)
    models = [
        {
            "key": key,
            "label": labels[key],
            "start": np.round(travel.to_start, 6).tolist(),
            "end": np.round(travel.to_end, 6).tolist(),
            "groups": [list(group) for group in groups[key]],
        }
        for key, travel in found.items()
    ]
    first = masks[0] if masks else last
    return script_json(
        {"words": [w.text for w in words], "first": first, "models": models, "texts": dict(texts)}
    )
