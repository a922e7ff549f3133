"""Distances of the weight matrices of two networks of one shape."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import torch

from explorer.models.inside.activations import MATRICES
from explorer.models.layer_parts import parts_of
from explorer.models.loading import LoadedModel, leased
from explorer.models.specs import ModelSpec

WORDS_READ, WORDS_UNREAD, POSITIONS = "words read", "words not read", "positions"
"""Names of the embeddings' parts: rows of pieces that some texts hold, the other rows, positions.

A gradient reaches the rows of pieces that the training's texts hold; weight decay reaches all.
"""


@dataclass(frozen=True, slots=True)
class MatrixChange:
    """Distance of a matrix W from the same matrix V of another network, in units of |V|.

    With s = |W| / |V| and c the cosine of both as vectors, ``distance^2 = of_scale^2 + of_turn^2``.
    """

    layer: int | None
    """Counted from 0; None for the embeddings."""
    matrix: str
    norm: float
    """|V|, the Frobenius norm before."""
    distance: float
    """|W - V| / |V|."""
    scale: float
    """s: below 1 where the matrix shrank."""
    cosine: float
    """c: 1 where it did not turn."""
    shuffled: float
    """``distance`` with the rows of W in another order: that of unrelated matrices of this kind."""

    @property
    def of_scale(self) -> float:
        """The part of the distance along V: ``|s - 1|``."""
        return abs(self.scale - 1)

    @property
    def of_turn(self) -> float:
        """The part across it: ``sqrt(2 s (1 - c))``."""
        return sqrt(max(0.0, 2 * self.scale * (1 - self.cosine)))


def changes_from(
    after: LoadedModel, before: ModelSpec, read: Sequence[int]
) -> tuple[MatrixChange, ...]:
    """Return the changes of all matrices of a network from another's, which is loaded for it.

    Raises:
        ModelUnavailable: the other cannot be loaded.
    """
    with leased(before, after.device, after.dtype) as other:
        return matrix_changes(other, after, read)


@torch.inference_mode()
def matrix_changes(
    before: LoadedModel, after: LoadedModel, read: Sequence[int], seed: int = 0
) -> tuple[MatrixChange, ...]:
    """Return the change of each matrix: embeddings, then six for each layer with its own weights.

    ``read`` are the ids of the pieces that some texts hold. Parts without a row, and matrices that
    are zero before, have no relative distance and are left out.
    """
    shuffling = torch.Generator().manual_seed(seed)
    pairs = zip(_matrices(before, read), _matrices(after, read), strict=True)
    changes = (
        _change(layer, name, old.double().cpu(), new.double().cpu(), shuffling)
        for (layer, name, old), (_, _, new) in pairs
    )
    return tuple(change for change in changes if change is not None)


def _matrices(
    loaded: LoadedModel, read: Sequence[int]
) -> Iterator[tuple[int | None, str, torch.Tensor]]:
    words = loaded.network.get_input_embeddings().weight
    is_read = torch.zeros(len(words), dtype=torch.bool, device=words.device)
    is_read[list(read)] = True
    yield None, WORDS_READ, words[is_read]
    yield None, WORDS_UNREAD, words[~is_read]
    yield None, POSITIONS, loaded.network.base_model.embeddings.position_embeddings.weight
    for layer, parts in enumerate(parts_of(loaded)[: loaded.spec.architecture.n_stored_layers]):
        for name in MATRICES:
            yield layer, name, getattr(parts, name).weight


def _change(
    layer: int | None, name: str, old: torch.Tensor, new: torch.Tensor, shuffling: torch.Generator
) -> MatrixChange | None:
    norm, norm_after = float(old.norm()), float(new.norm())
    if not norm:
        return None
    order = torch.randperm(len(new), generator=shuffling)
    # A matrix that became zero has no direction: all its change is scale.
    cosine = float((old * new).sum()) / norm / norm_after if norm_after else 1.0
    return MatrixChange(
        layer,
        name,
        norm,
        float((new - old).norm()) / norm,
        norm_after / norm,
        cosine,
        float((new[order] - old).norm()) / norm,
    )
