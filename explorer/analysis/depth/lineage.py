"""Where a student's layers began: the copied layers, and what the weights still show of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.models.run import read_only


@dataclass(frozen=True, slots=True, eq=False)
class WeightLineage:
    """Cosine between the weights of student and teacher layers: where each layer came from."""

    cosine: np.ndarray
    """float64 [student layer, teacher layer], over all six weight matrices of a layer."""
    initialised_from: tuple[int, ...]
    """The teacher layer each student layer was copied from, counted from 0; empty if unknown."""

    @property
    def nearest(self) -> tuple[int, ...]:
        """For each student layer the teacher layer with the most similar weights."""
        return tuple(int(i) for i in self.cosine.argmax(axis=1))

    @property
    def is_as_initialised(self) -> bool:
        """Whether every layer still lies nearest to the one it was copied from."""
        return bool(self.initialised_from) and self.nearest == self.initialised_from


def weight_lineage(cosine: np.ndarray, initialised_from: tuple[int, ...]) -> WeightLineage:
    """The measured similarity of weights beside how the student was started.

    Raises:
        ValueError: the initialisation names another number of layers than the matrix has.
    """
    if initialised_from and len(initialised_from) != cosine.shape[0]:
        raise ValueError(f"{len(initialised_from)} copied layers for {cosine.shape[0]} rows")
    return WeightLineage(read_only(np.array(cosine, np.float64)), initialised_from)


def copied_rows(
    rows: Sequence[tuple[str, int]], pair: tuple[str, str], initialised_from: Sequence[int]
) -> list[tuple[int, int]]:
    """The places, among rows of (model, layer), of teacher and student layers that began alike.

    The embeddings of both, then each student layer with the teacher layer that it was copied from.
    """
    teacher, student = pair
    copied = [(0, 0), *((origin + 1, i + 1) for i, origin in enumerate(initialised_from))]
    begun = copied if initialised_from else []
    return [(rows.index((teacher, t)), rows.index((student, s))) for t, s in begun]
