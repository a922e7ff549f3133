"""Hidden states of words: the mean over a word's tokens, so that three vocabularies can compare."""

import numpy as np

from explorer.analysis.alignment import Groups


def word_states(states: np.ndarray, groups: Groups) -> np.ndarray:
    """From [layer + 1, position, d_model] to float32 [layer + 1, word, d_model]."""
    return np.stack([states[:, list(group)].mean(1) for group in groups], 1)
