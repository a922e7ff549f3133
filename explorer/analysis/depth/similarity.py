"""How alike the layers of the models are: linear CKA between the states of the same words."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from explorer.models.run import read_only


@dataclass(frozen=True, slots=True, eq=False)
class LayerSimilarity:
    """Every layer of every model against every other; layers of one model stand together."""

    rows: tuple[tuple[str, int], ...]
    """(model key, layer) of each row and column; layer 0 is the embeddings."""
    cka: np.ndarray
    """float64 [row, row], from 0 to 1."""
    shuffled: np.ndarray
    """The same with the words of the second in another order: what chance alone gives."""
    n_words: int

    def nearest(self, key: str, layer: int, other: str) -> tuple[int, float, float]:
        """The layer of another model most like one layer; its CKA, and that of shuffled words."""
        row = self.rows.index((key, layer))
        columns = [i for i, (name, _) in enumerate(self.rows) if name == other]
        best = max(columns, key=lambda column: self.cka[row, column])
        found = float(self.cka[row, best]), float(self.shuffled[row, best])
        return (self.rows[best][1], *found)

    def last(self, key: str) -> int:
        """A model's last layer."""
        return max(layer for name, layer in self.rows if name == key)


def layer_similarity(states: Mapping[str, np.ndarray], seed: int = 0) -> LayerSimilarity:
    """Linear CKA of all pairs of layers, from word states [layer + 1, word, d_model] by model.

    ``|Y^T X|^2 / (|X^T X| |Y^T Y|)`` with centred columns (Kornblith et al. 2019, equation 3),
    from the matrices between words, ``X X^T``: there are fewer words than products of features.
    """
    rows = tuple((key, layer) for key, found in states.items() for layer in range(len(found)))
    grams = np.stack([_gram(layer) for found in states.values() for layer in found])
    n_words = grams.shape[1]
    order = np.random.default_rng(seed).permutation(n_words)
    flat = grams.reshape(len(grams), -1)
    shuffled = np.stack([flat @ gram[order][:, order].ravel() for gram in grams], 1)
    return LayerSimilarity(
        rows,
        read_only((flat @ flat.T).astype(np.float64)),
        read_only(shuffled.astype(np.float64)),
        n_words,
    )


def _gram(states: np.ndarray) -> np.ndarray:
    """``X X^T`` of centred states, of length 1: the dot product of two of them is CKA."""
    centred = states - states.mean(0, dtype=np.float64).astype(states.dtype)
    gram = centred @ centred.T
    return gram / np.linalg.norm(gram)
