"""Differences between half precision and float32 in a list of texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from explorer.analysis.texts.masked import MaskedAnswers
    from explorer.analysis.texts.sentences import SentenceScore


@dataclass(frozen=True, slots=True)
class ListDifference:
    """Differences between half precision and float32 of one model, over some rows of a list."""

    n_rows: int
    largest: float
    """Largest absolute difference of a first word's probability, or of a PLL in nats; of features
    the largest length of a difference, as a share of the features' length in float32."""
    n_changed: int
    """Masked rows with another first word; pairs of which the other sentence is likelier."""


@dataclass(frozen=True, slots=True)
class ListPrecision:
    """Differences between half precision and float32 in the shortest rows of a list."""

    dtype: str
    differences: Mapping[str, ListDifference]
    """By model."""
    not_compared: str = ""
    """The sentence why there are no differences; empty if there are."""


def list_differences(kind: str, half: Any, exact: Any) -> dict[str, ListDifference]:  # noqa: ANN401
    """Compare the numbers of some rows in half precision with those in float32, by model.

    Args:
        kind: The list's kind.
        half: What one part of a list holds: a ``MaskedBlock``; scores by model, row and sentence;
            or ``Features`` by model.
        exact: The same in float32.
    """
    if kind == "masked":
        return {key: _of_words(half.answers[key], exact.answers[key]) for key in exact.answers}
    if kind == "labelled":
        return {key: _of_features(half[key].values, exact[key].values) for key in exact}
    return {key: _of_scores(half[key], exact[key]) for key in exact}


def _of_words(half: "MaskedAnswers", exact: "MaskedAnswers") -> ListDifference:
    largest = np.abs(half.probabilities - exact.probabilities).max()
    changed = sum(a != b for a, b in zip(half.words, exact.words, strict=True))
    return ListDifference(len(exact.words), float(largest), changed)


def _of_features(half: np.ndarray, exact: np.ndarray) -> ListDifference:
    lengths = np.linalg.norm(exact, axis=-1)
    return ListDifference(
        len(exact), float((np.linalg.norm(half - exact, axis=-1) / lengths).max()), 0
    )


def _of_scores(
    half: "list[list[SentenceScore]]", exact: "list[list[SentenceScore]]"
) -> ListDifference:
    a, b = (np.array([[side.pll for side in row] for row in rows]) for rows in (half, exact))
    changed = int(((a > a[:, -1:]) != (b > b[:, -1:])).any(-1).sum())
    return ListDifference(len(b), float(np.abs(a - b).max()), changed)
