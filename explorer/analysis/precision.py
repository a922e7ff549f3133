"""Differences between half precision and float32 in the numbers that the page prints."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.digits import probability
from explorer.analysis.measures import log_softmax
from explorer.analysis.predictions import mask_predictions
from explorer.models.run import Run

PRINTED_WORDS = 10
"""Top predictions of each mask whose probabilities are compared."""


@dataclass(frozen=True, slots=True)
class PrecisionDifference:
    """Differences between a half-precision and a float32 forward pass over one text."""

    n_probabilities: int
    """Probabilities compared: those of the top predictions of every mask."""
    n_changed: int
    """Probabilities whose printed digits differ from those in float32."""
    largest_probability: float
    """The largest absolute difference of a probability."""
    first_words: tuple[tuple[int, str, str], ...]
    """(mask, word, word in float32) where the top predictions differ; masks count from 1."""
    largest_attention: float
    """The largest absolute difference of an attention weight, over all layers and heads."""
    n_weights_changed: int
    """Attention weights that differ when rounded to three decimals."""

    @property
    def is_visible(self) -> bool:
        """Return whether any printed digit differs from that in float32."""
        return bool(self.n_changed or self.n_weights_changed)


def precision_difference(run: Run, exact: Run) -> PrecisionDifference:
    """Compare a run in half precision with a float32 run of the same model and text."""
    half, full = mask_predictions(run, PRINTED_WORDS), mask_predictions(exact, 1)
    probabilities = np.exp(log_softmax(exact.mask_logits))
    full_probs = np.take_along_axis(probabilities, half.ids, -1).ravel()
    half_probs = half.probabilities.ravel()
    first = enumerate(zip(half.words, full.words, strict=True), 1)
    return PrecisionDifference(
        half_probs.size,
        sum(
            probability(a) != probability(b)
            for a, b in zip(half_probs.tolist(), full_probs.tolist(), strict=True)
        ),
        float(np.abs(half_probs - full_probs).max(initial=0)),
        tuple((mask, a[0], b[0]) for mask, (a, b) in first if a[0] != b[0]),
        float(np.abs(run.attention - exact.attention).max()),
        int((run.attention.round(3) != exact.attention.round(3)).sum()),
    )
