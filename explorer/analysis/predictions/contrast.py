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

    @property
    def is_equal(self) -> bool:
        """Whether all alternatives take the same number of masks, so that they can be ranked."""
        return len({len(score.pieces) for score in self.scores}) == 1

    @property
    def best_of_equals(self) -> tuple[tuple[int, int], ...]:
        """(number of masks, place of the likeliest) wherever several alternatives share one."""
        places: dict[int, list[int]] = {}
        for place, score in enumerate(self.scores):
            places.setdefault(len(score.pieces), []).append(place)
        return tuple(
            (n, max(group, key=lambda place: self.shares[place]))
            for n, group in sorted(places.items())
            if len(group) > 1
        )


def contrast(model: str, label: str, scores: Sequence[SpanScore]) -> Contrast:
    """How a model shares its belief among alternatives, whatever else it might have said.

    The shares are softmax(log P) over the alternatives, so that even two unlikely words compare.
    """
    log_probs = np.array([score.log_probability for score in scores])
    return Contrast(model, label, tuple(scores), read_only(softmax(log_probs)))
