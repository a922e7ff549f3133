"""``/predict``: each model's predictions for the masks of a text, as JSON."""

from typing import Any

from explorer.analysis.predictions import TOP_K, MaskPredictions, mask_predictions
from explorer.inference.runs import runs_with_mlm_head
from explorer.links.page_state import PageState
from explorer.models.run import Run
from explorer.models.tokens import Tokens
from explorer.refusal import Refusal
from explorer.ui.kit.validation import checked_state, missing_reasons
from explorer.ui.predictions import strings
from explorer.views.preview import FirstAnswer


def predict(text: str, family: str = "mini", top_k: int = 10) -> dict[str, Any]:
    """Return the predictions of BERT, DistilBERT and ALBERT for each [MASK] of a text.

    Args:
        text: The text, with at least one [MASK]; ``A [SEP] B`` makes a sentence pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        top_k: How many words per mask, 1 to 50.

    Returns:
        The text as it was run, the family, and per model its tokens and masks; ``position``
        counts tokens from 0, ``remaining`` is the mass outside the listed words. ``missing``,
        where a model could not be asked: which one, and why.
    """
    low, high = TOP_K
    state = checked_state(family, str(text))
    if type(top_k) is not int or not low <= top_k <= high:
        raise Refusal(strings.BAD_TOP_K.format(low=low, high=high))
    runs, missing = runs_with_mlm_head(state)
    if not runs:
        raise Refusal(" ".join(str(error) for error in missing.values()))
    return _as_json(runs, state.family, top_k) | missing_reasons(missing)


def first_answers(state: PageState) -> list[FirstAnswer]:
    """Return each model's first answer at the first mask, as readers spell it; none without masks.

    Raises:
        BadText: the text cannot be run.
    """
    runs, _ = runs_with_mlm_head(state)
    results = {key: mask_predictions(run, 1) for key, run in runs.items()}
    return [
        FirstAnswer(
            key, runs[key].spec.label, result.words[0][0], float(result.probabilities[0][0])
        )
        for key, result in results.items()
        if result.positions
    ]


def _as_json(runs: dict[str, Run], family: str, top_k: int) -> dict[str, Any]:
    tokens = next(iter(runs.values())).tokens
    if not tokens.mask_positions:
        raise Refusal(strings.NO_MASK_TO_PREDICT)
    models = [_model(run.tokens, mask_predictions(run, top_k)) for run in runs.values()]
    return {"text": tokens.text, "family": family, "models": models}


def _model(tokens: Tokens, result: MaskPredictions) -> dict[str, Any]:
    masks = [
        {
            "position": position,
            "predictions": [
                {"token": token, "id": int(i), "probability": float(p)}
                for token, i, p in zip(tokens_, ids, probabilities, strict=True)
            ],
            "remaining": float(rest),
        }
        for position, tokens_, ids, probabilities, rest in zip(
            result.positions,
            result.tokens,
            result.ids,
            result.probabilities,
            result.remaining,
            strict=True,
        )
    ]
    return {"model": result.model, "tokens": list(tokens.pieces), "masks": masks}
