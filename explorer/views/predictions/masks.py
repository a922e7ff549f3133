"""What each model puts in the gaps, as data for bars that the browser draws and cuts to length."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.analysis.predictions.masks import MaskPredictions, WordFound
from explorer.models.specs import MODEL_KEYS
from explorer.models.tokens import Tokens, Word
from explorer.views.markup import script_json

CONTEXT_LETTERS = 60


@dataclass(frozen=True, slots=True)
class Extra:
    """What the picture says besides the predictions."""

    texts: Mapping[str, str]
    """The sentences printed in it."""
    hidden: Sequence[str] = ()
    """The word behind each mask, the first ones first; empty where none is known."""
    found: Mapping[str, Mapping[int, WordFound]] = field(default_factory=dict)
    """Where each model's answer has it, by model key and mask."""


def predictions_canvas(
    predictions: Mapping[str, MaskPredictions],
    missing: Mapping[str, tuple[str, str]],
    tokens: Tokens | None,
    extra: Extra,
) -> str:
    """The picture's JSON: per model and mask up to 50 words with their probabilities.

    Args:
        predictions: Results by model key, in the fixed order.
        missing: (label, sentence) by key of the models that cannot be had.
        tokens: Any model's tokens, for the words around each mask; None where none can be run.
        extra: The sentences of the picture, and the words that the reader hid.
    """
    words, text = (tokens.words, tokens.text) if tokens else ((), "")
    masks = [mask_context(text, word) for word in words if word.is_mask]
    for mask, word in zip(masks, extra.hidden, strict=False):
        mask["hidden"] = word
    columns = {
        key: _column(result, extra.found.get(key, {})) for key, result in predictions.items()
    }
    for key, (name, why) in missing.items():
        columns[key] = {"label": name, "card": why}
    ordered = {key: columns[key] for key in MODEL_KEYS if key in columns}
    return script_json({"masks": masks, "models": ordered, "texts": dict(extra.texts)})


def mask_context(text: str, mask: Word) -> dict[str, str]:
    """The words before and after a mask, cut at a space when they are long."""
    before, after = text[: mask.start], text[mask.end :]
    if len(before) > CONTEXT_LETTERS:
        before = "… " + before[-CONTEXT_LETTERS:].partition(" ")[2]
    if len(after) > CONTEXT_LETTERS:
        after = after[:CONTEXT_LETTERS].rpartition(" ")[0] + " …"
    return {"before": before, "after": after}


def _hidden(result: MaskPredictions, mask: int, found: WordFound) -> dict[str, object]:
    """The reader's word in one column: its row where it is listed, its numbers where it has any."""
    if not found.rank:
        return {"pieces": 0 if found.is_unknown else found.n_pieces}
    row = np.flatnonzero(result.ids[mask] == found.id)
    p = float(f"{found.probability:.7g}")
    return {"pieces": 1, "p": p, "rank": found.rank, "row": int(row[0]) if row.size else -1}


def _column(result: MaskPredictions, found: Mapping[int, WordFound]) -> dict[str, object]:
    return {
        "label": result.label,
        "vocabulary": result.d_vocab,
        "masks": [
            {
                "words": list(result.words[mask]),
                "pieces": list(result.tokens[mask]),
                "p": [float(f"{p:.7g}") for p in result.probabilities[mask]],
                "entropy": round(float(result.entropy[mask]), 4),
                "choices": float(f"{np.exp(result.entropy[mask]):.7g}"),
                **({"yours": _hidden(result, mask, found[mask])} if mask in found else {}),
            }
            for mask in range(len(result.positions))
        ],
    }
