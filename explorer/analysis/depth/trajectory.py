"""How a word's state moves through the layers: away from where it began, to where it ends."""

from dataclasses import dataclass

import numpy as np

from explorer.analysis.alignment import Groups
from explorer.analysis.depth.word_states import word_states
from explorer.models.run import Run, read_only


@dataclass(frozen=True, slots=True, eq=False)
class WordTrajectory:
    """Cosines of each word's state with its own first and last one."""

    to_start: np.ndarray
    """float64 [layer + 1, word]; row 0 is 1."""
    to_end: np.ndarray
    """float64 [layer + 1, word]; the last row is 1."""


def word_trajectory(run: Run, groups: Groups) -> WordTrajectory:
    """The words of a run, each the mean of its tokens."""
    states = word_states(run.hidden_states, groups).astype(np.float64)
    states /= np.linalg.norm(states, axis=-1, keepdims=True)
    return WordTrajectory(
        read_only((states * states[0]).sum(-1)), read_only((states * states[-1]).sum(-1))
    )
