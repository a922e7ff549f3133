"""``/distillation``: soft probabilities, divergences and the recipe's losses on a text, as JSON."""

from typing import Any

from explorer.analysis.distillation.soft import SoftPair
from explorer.refusal import Refusal
from explorer.ui.distillation import strings
from explorer.ui.kit.validation import checked_state

TOP_K = 10
MAX_MASKS = 20


def distillation(text: str, family: str = "mini", temperature: float = 2.0) -> dict[str, Any]:
    """Return teacher's and student's soft predictions at each [MASK], and the recipe's losses.

    Args:
        text: The text, with 1 to 20 [MASK]s; every one is compared.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        temperature: Divides the logits, from 0.05 to 20; 1 leaves the models as they are.

    Returns:
        Per mask the union of both top 10 lists with probabilities over the full vocabulary and the
        divergences in nats; the losses as the recipe has them: ``ce`` and ``cos`` averaged over all
        tokens, ``mlm`` always null (no text says which word stood behind a [MASK]; the page knows
        it where a word was clicked), ``cos`` null where the models' widths differ, and ``total``
        without them (``total_is_of`` lists its parts).
    """
    from explorer.analysis.distillation.losses import sentence_losses
    from explorer.analysis.distillation.soft import check_temperature, soft_pair
    from explorer.analysis.distillation.triple_loss import WEIGHTS
    from explorer.ui.distillation.runs import pair_logits

    state = checked_state(family, str(text))
    temperature = check_temperature(temperature)
    pair = pair_logits(state)
    positions = pair.teacher.tokens.mask_positions
    if not positions:
        raise Refusal(strings.NO_MASK)
    if len(positions) > MAX_MASKS:
        raise Refusal(strings.TOO_MANY_MASKS.format(limit=MAX_MASKS, found=len(positions)))
    masks = [
        {
            "position": position,
            **_mask(soft_pair(pair.teacher, pair.student, i, temperature, TOP_K)),
        }
        for i, position in enumerate(positions)
    ]
    losses = sentence_losses(pair, temperatures=(temperature,))
    parts = {
        "ce": float(losses.ce[0]),
        "mlm": losses.mlm,
        "cos": losses.cos,
        "total": losses.total(0, WEIGHTS),
        "total_is_of": [
            "ce",
            *(name for name in ("mlm", "cos") if getattr(losses, name) is not None),
        ],
    }
    return {"temperature": temperature, "masks": masks, "losses": parts, "weights": dict(WEIGHTS)}


def _mask(pair: SoftPair) -> dict[str, Any]:
    measures = (
        "kl_teacher_student",
        "kl_student_teacher",
        "js",
        "entropy_teacher",
        "entropy_student",
    )
    return {
        "tokens": list(pair.tokens),
        "teacher": pair.teacher.tolist(),
        "student": pair.student.tolist(),
        **{name: getattr(pair, name) for name in measures},
    }
