"""Differences between half precision and float32 in what the page prints of a text or a list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.digits import probability
from explorer.analysis.measures import log_softmax, softmax
from explorer.analysis.predictions import mask_predictions
from explorer.models.run import Run

if TYPE_CHECKING:
    from explorer.lists.masked import MaskedAnswers
    from explorer.lists.sentences import SentenceScore

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
    """Compare a run in half precision with a float32 run of the same model and text.

    Of a model without a masked-LM head only the attention weights are compared.
    """
    half_probs = full_probs = np.empty(0)
    first: tuple[tuple[int, str, str], ...] = ()
    if run.spec.has_head:
        half, full = mask_predictions(run, PRINTED_WORDS), mask_predictions(exact, 1)
        probabilities = np.exp(log_softmax(exact.mask_logits))
        full_probs = np.take_along_axis(probabilities, half.ids, -1).ravel()
        half_probs = half.probabilities.ravel()
        words = enumerate(zip(half.words, full.words, strict=True), 1)
        first = tuple((mask, a[0], b[0]) for mask, (a, b) in words if a[0] != b[0])
    return PrecisionDifference(
        half_probs.size,
        sum(
            probability(a) != probability(b)
            for a, b in zip(half_probs.tolist(), full_probs.tolist(), strict=True)
        ),
        float(np.abs(half_probs - full_probs).max(initial=0)),
        first,
        float(np.abs(run.attention - exact.attention).max()),
        int((run.attention.round(3) != exact.attention.round(3)).sum()),
    )


@dataclass(frozen=True, slots=True)
class ListDifference:
    """Differences between half precision and float32 of one model, over some rows of a list."""

    n_rows: int
    largest: float
    """Largest absolute difference of a first word's probability, or of a PLL in nats; of features
    the largest length of a difference, as a share of the features' length in float32."""
    n_changed: int
    """Masked rows with another first word; pairs of which the other sentence is likelier; tagged
    rows with another tag."""


@dataclass(frozen=True, slots=True)
class ListPrecision:
    """Differences between half precision and float32 in the shortest rows of a list."""

    dtype: str
    differences: Mapping[str, ListDifference]
    """By model."""
    not_compared: str = ""
    """The sentence why there are no differences; empty if there are."""


def list_differences(
    kind: str,
    score: str,
    half: Any,  # noqa: ANN401 - what a part of a list of this kind holds
    exact: Any,  # noqa: ANN401
) -> dict[str, ListDifference]:
    """Compare the numbers of some rows in half precision with those in float32, by model.

    Args:
        kind: The list's kind.
        score: The score that pairs are judged by, ``pll`` or ``pll_word_l2r``.
        half: What one part of a list holds: a ``MaskedBlock``; scores by model, row and sentence;
            ``Features`` by model; or by model and row the logits of tags.
        exact: The same in float32.
    """
    if kind == "masked":
        return {key: _of_words(half.answers[key], exact.answers[key]) for key in exact.answers}
    if kind == "tagged":
        return {key: _of_tags(half[key], exact[key]) for key in exact}
    if kind in ("labelled", "multilabel", "scored"):
        return {key: _of_features(half[key].values, exact[key].values) for key in exact}
    return {key: _of_scores(half[key], exact[key], score) for key in exact}


def _of_words(half: "MaskedAnswers", exact: "MaskedAnswers") -> ListDifference:
    largest = np.abs(half.probabilities - exact.probabilities).max()
    changed = sum(a != b for a, b in zip(half.words, exact.words, strict=True))
    return ListDifference(len(exact.words), float(largest), changed)


def _of_tags(half: Sequence[np.ndarray], exact: Sequence[np.ndarray]) -> ListDifference:
    """Compare the logits [word, label] of some rows by their probabilities and their tags."""
    pairs = [*zip(half, exact, strict=True)]
    largest = max(float(np.abs(softmax(a) - softmax(b)).max()) for a, b in pairs)
    changed = sum(int((a.argmax(1) != b.argmax(1)).any()) for a, b in pairs)
    return ListDifference(len(pairs), largest, changed)


def _of_features(half: np.ndarray, exact: np.ndarray) -> ListDifference:
    lengths = np.linalg.norm(exact, axis=-1)
    return ListDifference(
        len(exact), float((np.linalg.norm(half - exact, axis=-1) / lengths).max()), 0
    )


def _of_scores(
    half: "list[list[SentenceScore]]", exact: "list[list[SentenceScore]]", score: str
) -> ListDifference:
    def values(rows: "list[list[SentenceScore]]", name: str) -> np.ndarray:
        return np.array([[side.value(name) for side in row[:2]] for row in rows])

    a, b = values(half, score), values(exact, score)
    changed = int(((a > a[:, -1:]) != (b > b[:, -1:])).any(-1).sum())
    return ListDifference(
        len(b), float(np.abs(values(half, "pll") - values(exact, "pll")).max()), changed
    )
