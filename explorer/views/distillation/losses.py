"""The triple loss on one sentence, as data for the sliders and the strip the browser draws."""

from collections.abc import Mapping

from explorer.analysis.distillation.losses import SentenceLosses
from explorer.models.tokens import Tokens, piece_text
from explorer.views.distillation.curves import rounded
from explorer.views.markup import script_json


def distillation_losses(losses: SentenceLosses, tokens: Tokens, texts: Mapping[str, object]) -> str:
    """The losses' JSON: each part at every temperature step, and the KL of each token."""
    return script_json(
        {
            "temperatures": [float(t) for t in losses.temperatures],
            "ce": rounded(losses.ce),
            "mlm": losses.mlm,
            "cos": losses.cos,
            "kl": [rounded(row) for row in losses.kl],
            "cosine": rounded(losses.cosine),
            "tokens": [shown_token(piece) for piece in tokens.pieces],
            "texts": dict(texts),
        }
    )


def shown_token(piece: str) -> str:
    """A token as a reader writes it; what continues a word keeps a sign of it."""
    return f"…{piece_text(piece)}" if piece.startswith("##") else piece_text(piece)
