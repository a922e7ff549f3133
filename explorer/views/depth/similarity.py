"""Layers against layers as data: one square for the words in place, one for shuffled words."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from explorer.analysis.depth.similarity import LayerSimilarity
from explorer.views.markup import script_json

Pair = tuple[int, int]


def similarity_canvas(
    found: LayerSimilarity,
    labels: Mapping[str, str],
    pairs: Sequence[Pair],
    sentences: Sequence[str],
    texts: Mapping[str, Any],
) -> str:
    """The squares' JSON; ``pairs`` are (row, column) cells that are outlined.

    ``sentences`` are what was read, for whoever computes it again.
    """
    return script_json(
        {
            "rows": [{"key": key, "label": labels[key], "layer": n} for key, n in found.rows],
            "cka": np.round(found.cka, 6).tolist(),
            "shuffled": np.round(found.shuffled, 6).tolist(),
            "pairs": [list(pair) for pair in pairs],
            "sentences": list(sentences),
            "texts": dict(texts),
        }
    )
