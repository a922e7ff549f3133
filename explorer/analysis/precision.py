"""What half precision changes of the numbers that the page prints of a text."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.digits import probability
from explorer.analysis.measures import log_softmax
from explorer.analysis.predictions import mask_predictions
from explorer.models.run import Run

PRINTED_WORDS = 10
"""Likeliest words of each mask whose probabilities are compared."""


@dataclass(frozen=True, slots=True)
class PrecisionDifference:
    """How far a pass in half precision is from that in float32, on one text."""

    n_probabilities: int
    """Of the likeliest words of every mask."""
    n_changed: int
    """Those that are printed otherwise than in float32."""
    largest_probability: float
    """The largest difference of one of them."""
    first_words: tuple[tuple[int, str, str], ...]
    """(mask, word, word in float32) where the first answers differ; the first mask is 1."""
    largest_attention: float
    """The largest difference of an attention weight, of all layers and heads."""
    n_weights_changed: int
    """Attention weights whose third decimal is another."""

    @property
    def is_seen(self) -> bool:
        """Whether any printed digit is another than in float32."""
        return bool(self.n_changed or self.n_weights_changed)


def precision_difference(run: Run, exact: Run) -> PrecisionDifference:
    """How a run in half precision differs from a float32 run of the same model and text."""
    found, wanted = mask_predictions(run, PRINTED_WORDS), mask_predictions(exact, 1)
    probabilities = np.exp(log_softmax(exact.mask_logits))
    there = np.take_along_axis(probabilities, found.ids, -1).ravel()
    here = found.probabilities.ravel()
    first = enumerate(zip(found.words, wanted.words, strict=True), 1)
    return PrecisionDifference(
        here.size,
        sum(
            probability(a) != probability(b)
            for a, b in zip(here.tolist(), there.tolist(), strict=True)
        ),
        float(np.abs(here - there).max(initial=0)),
        tuple((mask, one[0], other[0]) for mask, (one, other) in first if one[0] != other[0]),
        float(np.abs(run.attention - exact.attention).max()),
        int((run.attention.round(3) != exact.attention.round(3)).sum()),
    )
