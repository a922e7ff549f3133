"""Which of the offered words a model prefers in one place, and how strongly."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.measures import softmax
from explorer.analysis.predictions.every_word import SpanScore
from explorer.models.run import read_only


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """One model's preference among the alternatives of ``[he|she]``."""

    model: str
    label: str
    scores: tuple[SpanScore, ...]
    """One per alternative, in the reader's order."""
    shares: np.ndarray
    """float64 [alternative]: P(alternative) divided by the sum over all alternatives."""

    @property
    def preferred(self) -> int:
        """The place of the likeliest alternative."""
        return int(self.shares.argmax())


def contrast(model: str, label: str, scores: Sequence[SpanScore]) -> Contrast:
    """How a model shares its belief among alternatives, whatever else it might have said.

    The shares are softmax(log P) over the alternatives, so that even two unlikely words compare.
    """
    log_probs = np.array([score.log_probability for score in scores])
    return Contrast(model, label, tuple(scores), read_only(softmax(log_probs)))
