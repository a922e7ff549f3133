"""Live checks of fine-tuning: what the tuned models of a family reach, from their cards."""

from typing import Any

from explorer.analysis.claims.measured import (
    CLAIMED,
    CheckOutcome,
    all_hold,
    family_name,
    lies_in,
    listed,
    percent,
)
from explorer.models.check_models import CheckModels
from explorer.models.choice.family import family_specs
from explorer.models.hub import ModelUnavailable
from explorer.models.task_heads.adapters import NotTuned, fitting_card


def sentiment_accuracy(specimens: CheckModels) -> CheckOutcome:
    """LC21: SST-2 accuracy of the tuned models, against always saying the commoner label."""
    return _reached(specimens, ("sst2", "accuracy", "SST-2 dev accuracy"))


def answer_overlap(specimens: CheckModels) -> CheckOutcome:
    """LC29: SQuAD F1 of the tuned models, against always answering the first three words."""
    return _reached(specimens, ("squad", "f1", "SQuAD v1.1 dev F1"))


def _reached(specimens: CheckModels, what: tuple[str, str, str]) -> CheckOutcome:
    """Whether each model's interval lies above what a guess without reading would reach."""
    task, score, called = what
    found = {spec.key: _score(specimens, spec.key, task, score) for spec in _specs(specimens)}
    said = {
        key: f"{100 * one['value']:.1f}% [{100 * one['interval'][0]:.1f}, "
        f"{100 * one['interval'][1]:.1f}]"
        for key, one in found.items()
    }
    guess = max(one["guess"] for one in found.values())
    return CheckOutcome(
        f"{called} when they were tuned, with 95% intervals: {listed(said)}; a guess that reads "
        f"nothing reaches {100 * guess:.1f}%",
        all_hold(lies_in((*one["interval"],), guess, 1) for one in found.values()),
        family_name(specimens.family),
        {key: percent(100 * one["value"], f" ({called})") for key, one in found.items()},
    )


def _specs(specimens: CheckModels) -> tuple:
    return tuple(spec for spec in family_specs(specimens.family) if spec.key in CLAIMED)


def _score(specimens: CheckModels, key: str, task: str, score: str) -> dict[str, Any]:
    """One score of a model's card.

    Raises:
        ModelUnavailable: the model has no adapter that fits.
    """
    spec = next(spec for spec in _specs(specimens) if spec.key == key)
    try:
        return fitting_card(spec, task)["scores"][score]
    except NotTuned as error:
        raise ModelUnavailable(spec, "it has no adapter for this task that fits") from error
