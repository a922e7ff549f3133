"""JSON of the three losses of distillation on one sentence."""

from collections.abc import Mapping
from typing import Any, TypedDict

from explorer.analysis.distillation.losses import SentenceLosses
from explorer.analysis.records import unrounded
from explorer.models.run import Run
from explorer.models.tokens import spelling_of
from explorer.views.markup import script_json


class LossesData(TypedDict):
    """Losses at every temperature step, and the KL of each token: ``kl[temperature][token]``."""

    temperatures: list[float]
    ce: list[float]
    mlm: float | None
    cos: float | None
    kl: list[list[float]]
    cosine: list[float] | None
    tokens: list[str]
    place: int
    answer: int | None
    texts: dict[str, Any]


def distillation_losses(
    losses: SentenceLosses, teacher: Run, position: int, answer: int, texts: Mapping[str, object]
) -> str:
    """Return the JSON of the losses at every temperature step, and the KL of each token.

    ``position`` is that of the mask, ``answer`` the hidden token's id, -1 where that is unknown.
    """
    spelling = spelling_of(teacher.vocabulary)
    data: LossesData = {
        "temperatures": [float(t) for t in losses.temperatures],
        "ce": unrounded(losses.ce),
        "mlm": losses.mlm,
        "cos": losses.cos,
        "kl": unrounded(losses.kl),
        "cosine": None if losses.cosine is None else unrounded(losses.cosine),
        "tokens": [spelling.word(piece) for piece in teacher.tokens.pieces],
        "place": position,
        "answer": answer if answer >= 0 else None,
        "texts": dict(texts),
    }
    return script_json(data)
