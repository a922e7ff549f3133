"""Predictions of every model for the masks of a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from explorer.analysis.predictions import TOP_K, MaskPredictions, mask_predictions
from explorer.library import strings
from explorer.library.family import Family, asked, masked_runs, missing_reasons
from explorer.library.results import Result
from explorer.refusal import Refusal
from explorer.views.sketch import Sketch


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Predictions(Result):
    """Top predictions of each model for each mask of a text."""

    text: str
    """The text as it was run."""
    family: str
    models: Mapping[str, MaskPredictions]
    """By model key: ids, tokens and probabilities [mask, k], over the whole vocabulary."""
    pieces: Mapping[str, tuple[str, ...]]
    """By model key: the tokens of the text in vocabulary spelling."""
    missing: Mapping[str, Refusal]
    """By model key: the reason of a model that could not be asked."""

    COLUMNS: ClassVar = ("model", "mask", "rank", "token", "probability", "word")
    SKETCH: ClassVar = Sketch("bars", "word", "probability", panels="model mask")
    BAR: ClassVar = "probability"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/predict``."""
        models = [_model(self.pieces[key], result) for key, result in self.models.items()]
        answer = {"text": self.text, "family": self.family, "models": models}
        return answer | missing_reasons(self.missing)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model, mask and token; masks count from 0, ranks from 1.

        ``word`` is the token as readers spell it, the same for every vocabulary.
        """
        return [
            (key, mask, rank, token, float(p), word)
            for key, result in self.models.items()
            for mask, tokens in enumerate(result.tokens)
            for rank, (token, p, word) in enumerate(
                zip(tokens, result.probabilities[mask], result.words[mask], strict=True), 1
            )
        ]


def predict(text: str, family: Family | str = "mini", top_k: int = 10) -> Predictions:
    """Return the predictions of BERT, DistilBERT and ALBERT for each [MASK] of a text.

    Probabilities are a softmax over the whole vocabulary, in float64.

    Args:
        text: The text, with at least one [MASK]; ``A [SEP] B`` makes a sentence pair.
        family: What ``load`` returned, or the name of a family.
        top_k: How many tokens per mask, 1 to 50.

    Raises:
        Refusal: there is no mask, the text is too long, or no model can be had.
    """
    low, high = TOP_K
    if type(top_k) is not int or not low <= top_k <= high:
        raise Refusal(strings.BAD_TOP_K.format(low=low, high=high))
    with asked(family) as models:
        runs, missing = masked_runs(models, text, strings.NO_MASK_TO_PREDICT)
        return Predictions(
            next(iter(runs.values())).tokens.text,
            models.name,
            {key: mask_predictions(run, top_k) for key, run in runs.items()},
            {key: run.tokens.pieces for key, run in runs.items()},
            missing,
        )


def _model(pieces: tuple[str, ...], result: MaskPredictions) -> dict[str, Any]:
    masks = [
        {
            "position": position,
            "predictions": [
                {"token": token, "id": int(i), "probability": float(p)}
                for token, i, p in zip(tokens, ids, probabilities, strict=True)
            ],
            "remaining": float(rest),
        }
        for position, tokens, ids, probabilities, rest in zip(
            result.positions,
            result.tokens,
            result.ids,
            result.probabilities,
            result.remaining,
            strict=True,
        )
    ]
    return {"model": result.model, "tokens": list(pieces), "masks": masks}
