"""What each model puts in the gaps, as data for bars that the browser draws and cuts to length."""

from collections.abc import Mapping

import numpy as np

from explorer.analysis.predictions.masks import MaskPredictions
from explorer.models.specs import MODEL_KEYS
from explorer.models.tokens import Tokens, Word
from explorer.views.markup import script_json

CONTEXT_LETTERS = 60


def predictions_canvas(
    predictions: Mapping[str, MaskPredictions],
    missing: Mapping[str, tuple[str, str]],
    tokens: Tokens | None,
    texts: Mapping[str, str],
) -> str:
    """The picture's JSON: per model and mask up to 50 words with their probabilities.

    Args:
        predictions: Results by model key, in the fixed order.
        missing: (label, sentence) by key of the models that cannot be had.
        tokens: Any model's tokens, for the words around each mask; None where none can be run.
        texts: The sentences printed in the picture.
    """
    words, text = (tokens.words, tokens.text) if tokens else ((), "")
    masks = [mask_context(text, word) for word in words if word.is_mask]
    columns = {key: _column(result) for key, result in predictions.items()}
    for key, (name, why) in missing.items():
        columns[key] = {"label": name, "card": why}
    ordered = {key: columns[key] for key in MODEL_KEYS if key in columns}
    return script_json({"masks": masks, "models": ordered, "texts": dict(texts)})


def mask_context(text: str, mask: Word) -> dict[str, str]:
    """The words before and after a mask, cut at a space when they are long."""
    before, after = text[: mask.start], text[mask.end :]
    if len(before) > CONTEXT_LETTERS:
        before = "… " + before[-CONTEXT_LETTERS:].partition(" ")[2]
    if len(after) > CONTEXT_LETTERS:
        after = after[:CONTEXT_LETTERS].rpartition(" ")[0] + " …"
    return {"before": before, "after": after}


def _column(result: MaskPredictions) -> dict[str, object]:
    return {
        "label": result.label,
        "vocabulary": result.d_vocab,
        "masks": [
            {
                "words": list(result.words[mask]),
                "pieces": list(result.tokens[mask]),
                "p": [float(f"{p:.7g}") for p in result.probabilities[mask]],
                "entropy": round(float(result.entropy[mask]), 4),
                "choices": round(float(np.exp(result.entropy[mask])), 1),
            }
            for mask in range(len(result.positions))
        ],
    }
