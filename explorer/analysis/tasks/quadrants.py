"""In a sentence pair, how much each sentence looks at the other."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.alignment import Alignment, word_attention
from explorer.models.run import Run, read_only


@dataclass(frozen=True, slots=True, eq=False)
class PairQuadrants:
    """Where the words of each sentence look: A, B, or the tokens that were added."""

    model: str
    label: str
    mass: np.ndarray
    """float64 [layer, head, from, to]: from A, B; to A, B, added. Sums to 1 over ``to``."""

    @property
    def mean(self) -> np.ndarray:
        """Over all heads: float64 [from, to]."""
        return self.mass.mean((0, 1))

    @property
    def crossing(self) -> np.ndarray:
        """What goes to the other sentence, A to B and B to A averaged: float64 [layer, head]."""
        return (self.mass[..., 0, 1] + self.mass[..., 1, 0]) / 2

    def strongest(self, count: int) -> tuple[tuple[int, int, float], ...]:
        """(layer, head, share) of the heads that look across most."""
        order = np.argsort(-self.crossing, axis=None, kind="stable")[:count]
        places = [divmod(int(i), self.mass.shape[1]) for i in order]
        return tuple((layer, head, float(self.crossing[layer, head])) for layer, head in places)


def pair_quadrants(run: Run, alignment: Alignment) -> PairQuadrants | None:
    """The mass of attention from each sentence to each, between words; None without a pair.

    A word gives the mean of its tokens' rows and receives the sum of their columns; rows of one
    sentence are then averaged. What goes to [CLS] and [SEP] is kept apart: every row sums to 1.
    """
    groups = alignment.groups[run.spec.key]
    sentences = _sentences(run, groups)
    if not ((sentences == 0).any() and (sentences == 1).any()):
        return None
    words = word_attention(run.attention.astype(np.float64), groups)
    mass = np.stack(
        [
            np.stack(
                [
                    words[:, :, sentences == a][..., sentences == b].sum(-1).mean(-1)
                    for b in (0, 1, -1)
                ],
                -1,
            )
            for a in (0, 1)
        ],
        -2,
    )
    return PairQuadrants(run.spec.key, run.spec.label, read_only(mass))


def _sentences(run: Run, groups: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """The sentence of each word: 0, 1, or -1 for added tokens."""
    tokens = run.tokens
    first = [group[0] if group else None for group in groups]
    return np.array([-1 if i is None or tokens.special[i] else tokens.segments[i] for i in first])
