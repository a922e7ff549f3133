"""What a layer did to a word: lengths, cosines, softmax, and which block changed it most."""

from dataclasses import dataclass
from math import acos, degrees
from typing import TYPE_CHECKING

import numpy as np

from explorer.models.run import Run, read_only

if TYPE_CHECKING:
    from explorer.models.inside.stations import LayerStations, Normalisation

BEFORE: dict[str, str] = {
    "projection": "input",
    "attended": "input",
    "attention_norm": "attended",
    "feed_forward": "attention_norm",
    "summed": "attention_norm",
    "output": "summed",
}
"""The station that each vector's cosine is with."""
MOST_UNITS = 8


@dataclass(frozen=True, slots=True, eq=False)
class LayerWay:
    """One word's way through one layer of one model, ready to be drawn."""

    vectors: dict[str, np.ndarray]
    """``input`` and the stations of ``BEFORE``, in their order, float32 [d_model]."""
    norms: dict[str, float]
    """Euclidean length of each."""
    cosines: dict[str, float]
    """Of each but the input, with the vector named in ``BEFORE``."""
    exponentials: np.ndarray
    """float64 [position]: of the scores minus the largest."""
    weights: np.ndarray
    """float64 [position]: the softmax, the exponentials over their sum."""
    head_lengths: np.ndarray
    """float64 [head]: how long each head's part of the projection is."""
    units: np.ndarray
    """int64 [8]: the units that write the longest vectors, longest first."""
    attention_cosine: float
    """Of the state before and after the attention block, its norm included."""
    feed_forward_cosine: float
    """The same for the feed-forward block."""

    @property
    def angles(self) -> dict[str, float]:
        """By how many degrees each block turned the state, its norm included."""
        blocks = {"attention": self.attention_cosine, "feed_forward": self.feed_forward_cosine}
        return {name: degrees(acos(min(1.0, max(-1.0, c)))) for name, c in blocks.items()}

    @property
    def changed_by(self) -> str:
        """The block that turned the state further: ``attention`` or ``feed_forward``."""
        is_attention = self.attention_cosine < self.feed_forward_cosine
        return "attention" if is_attention else "feed_forward"


def layer_way(state: np.ndarray, found: "LayerStations") -> LayerWay:
    """From the state [d_model] that the layer was given, and its stations."""
    vectors = {"input": state, **found.vectors}
    scores = found.scores.astype(np.float64)
    exponentials = np.exp(scores - scores.max())
    return LayerWay(
        vectors,
        {name: float(np.linalg.norm(vector)) for name, vector in vectors.items()},
        {name: cosine(vectors[name], vectors[before]) for name, before in BEFORE.items()},
        read_only(exponentials),
        read_only(exponentials / exponentials.sum()),
        read_only(np.linalg.norm(found.heads.astype(np.float64), axis=-1)),
        read_only(np.argsort(-found.unit_lengths, kind="stable")[:MOST_UNITS]),
        cosine(state, found.attention_norm.gave),
        cosine(found.attention_norm.gave, found.norm.gave),
    )


def mean_weights(run: Run, layer: int, position: int) -> np.ndarray:
    """How much one token attends to each in a layer: float64 [position], the mean of all heads."""
    return read_only(run.attention[layer, :, position].astype(np.float64).mean(0))


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """The cosine of two vectors; 0 where one of them has no length."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Normalised:
    """A layer norm's arithmetic: ``(x - mean) / sqrt(variance + eps) * scale + shift``."""

    mean: float
    deviation: float
    """``sqrt(variance + eps)``, the variance over all dimensions."""
    shown: np.ndarray
    """int64: the dimensions that are written out, largest results first."""
    rows: np.ndarray
    """float64 [shown, 4]: x, scale, shift and the result of each."""


def normalised(norm: "Normalisation") -> Normalised:
    """The mean and the deviation, and the largest results in numbers."""
    x = norm.given.astype(np.float64)
    shown = np.argsort(-np.abs(norm.gave), kind="stable")[:MOST_UNITS]
    columns = (x, norm.scale, norm.shift, norm.gave)
    return Normalised(
        float(x.mean()),
        float(np.sqrt(x.var() + norm.eps)),
        read_only(shown),
        read_only(np.stack([column[shown] for column in columns], 1).astype(np.float64)),
    )
