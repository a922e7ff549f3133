"""Where the words' states of all models lie in three dimensions: Procrustes, then PCA."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from explorer.models.run import read_only


@dataclass(frozen=True, slots=True, eq=False)
class StateProjection:
    """The states of the same words in every layer of every model, on three common axes."""

    points: Mapping[str, np.ndarray]
    """float64 [layer + 1, word, 3] by model; layer 0 is the embeddings."""
    explained: np.ndarray
    """float64 [3]: each axis's share of the variance of all states."""


def state_projection(states: Mapping[str, np.ndarray]) -> StateProjection:
    """The three principal components of all word states [layer + 1, word, d_model] by model.

    Each model's states are centred and brought to the same mean square, then rotated onto the first
    model's at layers of the same relative depth: ``R = U V^T`` of ``X^T Y = U S V^T`` (Schönemann
    1966). The rotation is fitted to these states alone, so the fewer words, the closer it brings
    them.

    Raises:
        ValueError: two models' states differ in their width.
    """
    own = {key: _standard(found.astype(np.float64)) for key, found in states.items()}
    if len({found.shape[-1] for found in own.values()}) > 1:
        raise ValueError("States of unlike width have no rotation onto each other.")
    first = next(iter(own.values()))
    turned = {
        key: found @ rotation(found, _at_depths(first, len(found))) for key, found in own.items()
    }
    whole = np.concatenate([found.reshape(-1, found.shape[-1]) for found in turned.values()])
    middle = whole.mean(0)
    _, sizes, axes = np.linalg.svd(whole - middle, full_matrices=False)
    largest = np.abs(axes[:3]).argmax(1)
    axes = axes[:3] * np.sign(axes[np.arange(3), largest])[:, None]  # else a sign is chance
    points = {key: read_only((found - middle) @ axes.T) for key, found in turned.items()}
    return StateProjection(points, read_only(sizes[:3] ** 2 / (sizes**2).sum()))


def rotation(states: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The orthogonal matrix that brings states [.., d_model] closest to their targets."""
    x, y = (one.reshape(-1, one.shape[-1]) for one in (states, target))
    left, _, right = np.linalg.svd(x.T @ y)
    return left @ right


def _standard(states: np.ndarray) -> np.ndarray:
    centred = states - states.mean((0, 1))
    return centred / np.sqrt((centred**2).sum(-1).mean())


def _at_depths(states: np.ndarray, n_layers: int) -> np.ndarray:
    """The layers at the relative depths of a model with so many."""
    return states[np.linspace(0, len(states) - 1, n_layers).round().astype(int)]
