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
    """float64 [alternative]: P(alternative) divided by the sum over those that take as many
    masks; nan where no other does, and where the vocabulary lacks a part of it."""

    @property
    def known(self) -> tuple[int, ...]:
        """The places of the alternatives that the vocabulary can write."""
        return tuple(i for i, score in enumerate(self.scores) if not score.is_unknown)

    @property
    def preferred(self) -> int | None:
        """The place of the likeliest alternative; None where they cannot all be ranked."""
        if not self.is_equal or not np.isfinite(self.shares).any():
            return None
        return int(np.nanargmax(self.shares))

    @property
    def favourites(self) -> tuple[int, ...]:
        """The places whose share prints as the largest, to three decimals; none unranked."""
        if self.preferred is None:
            return ()
        most = f"{np.nanmax(self.shares):.3f}"
        return tuple(i for i, share in enumerate(self.shares) if f"{share:.3f}" == most)

    @property
    def is_equal(self) -> bool:
        """Whether all alternatives that it knows take the same number of masks."""
        return len({len(self.scores[i].pieces) for i in self.known}) == 1

    @property
    def equals(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """(number of masks, places, likeliest first) wherever several alternatives share one."""
        return tuple(
            (n, tuple(sorted(places, key=lambda place: -self.shares[place])))
            for n, places in sorted(_by_masks(self.scores).items())
            if len(places) > 1
        )


def contrast(model: str, label: str, scores: Sequence[SpanScore]) -> Contrast:
    """How a model shares its belief among alternatives, whatever else it might have said.

    The shares are softmax(log P) over the alternatives of one number of masks, so that even two
    unlikely words compare; a product over more masks is smaller whatever the word is, so shares
    across them would say little about the words.
    """
    shares = np.full(len(scores), np.nan)
    for places in _by_masks(scores).values():
        if len(places) > 1:
            shares[places] = softmax(np.array([scores[i].log_probability for i in places]))
    return Contrast(model, label, tuple(scores), read_only(shares))


def _by_masks(scores: Sequence[SpanScore]) -> dict[int, list[int]]:
    """The places of the known alternatives by their number of masks."""
    places: dict[int, list[int]] = {}
    for place, score in enumerate(scores):
        if not score.is_unknown:
            places.setdefault(len(score.pieces), []).append(place)
    return places
