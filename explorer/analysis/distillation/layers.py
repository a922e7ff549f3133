"""How alike teacher and student states point, layer by layer, on one text."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.distillation.soft import NotAPair
from explorer.models.run import Run, read_only


@dataclass(frozen=True, slots=True, eq=False)
class StateAlignment:
    """Cosine of hidden states, every student layer against every teacher layer, for one text."""

    cosine: np.ndarray
    """float64 [student layer + 1, teacher layer + 1], mean over tokens; index 0 = embeddings."""
    initialised: tuple[tuple[int, int], ...]
    """(student, teacher) indices that started as copies: embeddings, then the copied layers."""

    @property
    def trained(self) -> tuple[int, int]:
        """The only pair the cosine loss ever sees: the last of both."""
        return self.cosine.shape[0] - 1, self.cosine.shape[1] - 1

    @property
    def nearest(self) -> tuple[int, ...]:
        """For each student layer the teacher layer with the highest cosine."""
        return tuple(int(i) for i in self.cosine.argmax(axis=1))


def state_alignment(teacher: Run, student: Run) -> StateAlignment:
    """How alike the two models' hidden states point, layer by layer, over the same tokens.

    Raises:
        NotAPair: the states differ in width or in the tokens they stand for.
    """
    if teacher.tokens.ids != student.tokens.ids or (
        teacher.hidden_states.shape[-1] != student.hidden_states.shape[-1]
    ):
        raise NotAPair("The two models' hidden states stand for different tokens or widths.")
    t, s = _unit(teacher.hidden_states), _unit(student.hidden_states)
    cosine = np.einsum("spd,tpd->st", s, t) / t.shape[1]
    return StateAlignment(read_only(cosine), _copied_pairs(student.spec.initialised_from))


def _unit(states: np.ndarray) -> np.ndarray:
    states = states.astype(np.float64)
    return states / np.linalg.norm(states, axis=-1, keepdims=True)


def _copied_pairs(initialised_from: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    layers = tuple((i + 1, origin + 1) for i, origin in enumerate(initialised_from))
    return ((0, 0), *layers) if layers else ()
