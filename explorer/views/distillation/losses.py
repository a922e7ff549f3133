"""The triple loss on one sentence, as data for the sliders and the strip the browser draws."""

from collections.abc import Mapping

from explorer.analysis.distillation.losses import SentenceLosses
from explorer.models.run import Run
from explorer.models.spelling import spelling_of
from explorer.views.distillation.soft import rounded
from explorer.views.markup import script_json


def distillation_losses(
    losses: SentenceLosses, teacher: Run, hidden: tuple[int, int], texts: Mapping[str, object]
) -> str:
    """The losses' JSON: each part at every temperature step, and the KL of each token.

    ``hidden`` is the hidden word's place and its piece, -1 where that is not known.
    """
    spelling = spelling_of(teacher.vocabulary)
    return script_json(
        {
            "temperatures": [float(t) for t in losses.temperatures],
            "ce": rounded(losses.ce),
            "mlm": losses.mlm,
            "cos": losses.cos,
            "kl": [rounded(row) for row in losses.kl],
            "cosine": None if losses.cosine is None else rounded(losses.cosine),
            "tokens": [spelling.word(piece) for piece in teacher.tokens.pieces],
            "place": hidden[0],
            "answer": hidden[1] if hidden[1] >= 0 else None,
            "texts": dict(texts),
        }
    )
