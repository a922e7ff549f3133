"""Hidden states through the layers, and similarity of states and weights between models."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.alignment import Alignment, Groups
from explorer.analysis.depth.lens import word_states
from explorer.analysis.measures import entropy
from explorer.models.run import Run, read_only


@dataclass(frozen=True, slots=True, eq=False)
class SharedDrift:
    """Change of a shared layer's attention heads with each application."""

    step: np.ndarray
    """[application - 1, head]: JS in nats between one application and the next."""
    from_first: np.ndarray
    """[application, head]: JS in nats from the first application; row 0 is 0."""


def content_rows(alignment: Alignment) -> list[int]:
    """Return the rows on which heads are compared: the text's words, or all if it has none."""
    return list(alignment.content) or list(range(len(alignment)))


def head_divergence(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the mean JS over rows of every pair of heads: [.., row, word] twice to [a, b].

    ``JS(p, q) = H((p + q) / 2) - (H(p) + H(q)) / 2``, which takes one logarithm per pair and cell.
    """
    a, b = (x.reshape(-1, *x.shape[-2:]).astype(np.float64) for x in (first, second))
    own_a, own_b = entropy(a).mean(-1), entropy(b).mean(-1)
    mixed = np.stack([entropy((head + b) / 2).mean(-1) for head in a])
    return np.maximum(mixed - (own_a[:, None] + own_b[None]) / 2, 0.0)


def shared_drift(attention: np.ndarray, alignment: Alignment) -> SharedDrift:
    """Compute the JS of each head between applications of one shared layer, in nats."""
    rows = attention[:, :, content_rows(alignment)]
    n_heads = attention.shape[1]
    step = [np.diagonal(head_divergence(a, b)) for a, b in itertools.pairwise(rows)]
    first = [np.diagonal(head_divergence(rows[0], b)) for b in rows]
    return SharedDrift(read_only(np.array(step).reshape(-1, n_heads)), read_only(np.array(first)))


@dataclass(frozen=True, slots=True, eq=False)
class WordTrajectory:
    """Cosines of each word's states with its first and its last state."""

    to_start: np.ndarray
    """float64 [layer + 1, word]; row 0 is 1."""
    to_end: np.ndarray
    """float64 [layer + 1, word]; the last row is 1."""


def word_trajectory(run: Run, groups: Groups) -> WordTrajectory:
    """Compute each word's cosines through the layers; a word's state is the mean of its tokens."""
    states = word_states(run.hidden_states, groups).astype(np.float64)
    states /= np.linalg.norm(states, axis=-1, keepdims=True)
    return WordTrajectory(
        read_only((states * states[0]).sum(-1)), read_only((states * states[-1]).sum(-1))
    )


@dataclass(frozen=True, slots=True, eq=False)
class StateProjection:
    """The states of the same words in every layer of every model, on three common axes (PCA)."""

    points: Mapping[str, np.ndarray]
    """float64 [layer + 1, word, 3] by model; layer 0 is the embeddings."""
    explained: np.ndarray
    """float64 [3]: each axis's share of the variance of all states."""


def state_projection(states: Mapping[str, np.ndarray]) -> StateProjection:
    """Project word states [layer + 1, word, d_model] of all models on three principal components.

    Each model's states are centred and brought to the same mean square, then rotated onto the first
    model's at layers of the same relative depth: ``R = U V^T`` of ``X^T Y = U S V^T`` (Schönemann
    1966). The rotation is fitted to these states alone, so the fewer words, the closer the fit.

    Raises:
        ValueError: The models' states differ in width.
    """
    standardised = {key: _standard(layers.astype(np.float64)) for key, layers in states.items()}
    if len({layers.shape[-1] for layers in standardised.values()}) > 1:
        raise ValueError("States of unlike width have no rotation onto each other.")
    first = next(iter(standardised.values()))
    rotated = {
        key: layers @ rotation(layers, _at_depths(first, len(layers)))
        for key, layers in standardised.items()
    }
    stacked = np.concatenate([layers.reshape(-1, layers.shape[-1]) for layers in rotated.values()])
    mean = stacked.mean(0)
    _, sizes, axes = np.linalg.svd(stacked - mean, full_matrices=False)
    largest = np.abs(axes[:3]).argmax(1)
    axes = axes[:3] * np.sign(axes[np.arange(3), largest])[:, None]  # else the sign is arbitrary
    points = {key: read_only((layers - mean) @ axes.T) for key, layers in rotated.items()}
    return StateProjection(points, read_only(sizes[:3] ** 2 / (sizes**2).sum()))


def rotation(states: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the orthogonal matrix that maps states [.., d_model] closest to their targets."""
    x, y = (array.reshape(-1, array.shape[-1]) for array in (states, target))
    left, _, right = np.linalg.svd(x.T @ y)
    return left @ right


def _standard(states: np.ndarray) -> np.ndarray:
    centred = states - states.mean((0, 1))
    return centred / np.sqrt((centred**2).sum(-1).mean())


def _at_depths(states: np.ndarray, n_layers: int) -> np.ndarray:
    """Return the layers at the relative depths of a model with ``n_layers`` rows of states."""
    return states[np.linspace(0, len(states) - 1, n_layers).round().astype(int)]


@dataclass(frozen=True, slots=True, eq=False)
class LayerSimilarity:
    """CKA of every layer of every model with every other; a model's layers are adjacent rows."""

    rows: tuple[tuple[str, int], ...]
    """(model key, layer) of each row and column; layer 0 is the embeddings."""
    cka: np.ndarray
    """float64 [row, row], from 0 to 1."""
    shuffled: np.ndarray
    """float64 [row, row]: CKA with the second layer's words shuffled, the chance level."""
    n_words: int
    n_read: int = 0
    """Texts that these words are from."""
    n_texts: int = 0
    """Texts that were to be read; more than ``n_read`` where the words or the time were enough."""

    def nearest(self, key: str, layer: int, other: str) -> tuple[int, float, float]:
        """Return the most similar layer of another model, its CKA and its shuffled CKA."""
        row = self.rows.index((key, layer))
        columns = [i for i, (name, _) in enumerate(self.rows) if name == other]
        best = max(columns, key=lambda column: self.cka[row, column])
        values = float(self.cka[row, best]), float(self.shuffled[row, best])
        return (self.rows[best][1], *values)

    def last(self, key: str) -> int:
        """Return a model's last layer."""
        return max(layer for name, layer in self.rows if name == key)


def layer_similarity(states: Mapping[str, np.ndarray], seed: int = 0) -> LayerSimilarity:
    """Compute linear CKA of all layer pairs from word states [layer + 1, word, d_model] by model.

    ``|Y^T X|^2 / (|X^T X| |Y^T Y|)`` with centred columns (Kornblith et al. 2019, equation 3),
    computed from ``X X^T``, which is smaller because there are fewer words than features.
    Float32 rounding can leave 0 to 1 by some millionths, so values are clipped.
    """
    rows = tuple((key, layer) for key, layers in states.items() for layer in range(len(layers)))
    grams = np.stack([_gram(layer) for layers in states.values() for layer in layers])
    n_words = grams.shape[1]
    order = np.random.default_rng(seed).permutation(n_words)
    flat = grams.reshape(len(grams), -1)
    shuffled = np.stack([flat @ gram[order][:, order].ravel() for gram in grams], 1)
    return LayerSimilarity(
        rows,
        read_only((flat @ flat.T).clip(0, 1).astype(np.float64)),
        read_only(shuffled.clip(0, 1).astype(np.float64)),
        n_words,
    )


def _gram(states: np.ndarray) -> np.ndarray:
    """Return ``X X^T`` of centred states with unit norm; the dot product of two of them is CKA."""
    centred = states - states.mean(0, dtype=np.float64).astype(states.dtype)
    gram = centred @ centred.T
    return gram / np.linalg.norm(gram)


@dataclass(frozen=True, slots=True, eq=False)
class WeightLineage:
    """Cosine between the weights of student and teacher layers."""

    cosine: np.ndarray
    """float64 [student layer, teacher layer], over all six weight matrices of a layer."""
    initialised_from: tuple[int, ...]
    """The teacher layer each student layer was copied from, counted from 0; empty if unknown."""

    @property
    def nearest(self) -> tuple[int, ...]:
        """The teacher layer with the most similar weights, for each student layer."""
        return tuple(int(i) for i in self.cosine.argmax(axis=1))

    @property
    def is_as_initialised(self) -> bool:
        """True if every layer is still nearest to the one it was copied from."""
        return bool(self.initialised_from) and self.nearest == self.initialised_from


def weight_lineage(cosine: np.ndarray, initialised_from: tuple[int, ...]) -> WeightLineage:
    """Return the measured weight cosines together with the student's initialisation.

    Raises:
        ValueError: The initialisation has another number of layers than the matrix.
    """
    if initialised_from and len(initialised_from) != cosine.shape[0]:
        raise ValueError(f"{len(initialised_from)} copied layers for {cosine.shape[0]} rows")
    return WeightLineage(read_only(np.array(cosine, np.float64)), initialised_from)


def copied_rows(
    rows: Sequence[tuple[str, int]], pair: tuple[str, str], initialised_from: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the indices, in rows of (model, layer), of copied (teacher, student) layers.

    The embeddings of both, then each student layer with the teacher layer it was copied from;
    empty where the initialisation is unknown.
    """
    teacher, student = pair
    copied = [(0, 0), *((origin + 1, i + 1) for i, origin in enumerate(initialised_from))]
    pairs = copied if initialised_from else []
    return [(rows.index((teacher, t)), rows.index((student, s))) for t, s in pairs]
