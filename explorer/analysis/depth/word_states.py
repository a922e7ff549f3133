"""Hidden states of words: the mean over a word's tokens, so that three vocabularies can compare."""

from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.alignment import Groups
from explorer.models.tokens import Tokens

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel


def word_states(states: np.ndarray, groups: Groups) -> np.ndarray:
    """From [layer + 1, position, d_model] to float32 [layer + 1, word, d_model]."""
    return np.stack([states[:, list(group)].mean(1) for group in groups], 1)


def sentence_states(loaded: "LoadedModel", tokens: Tokens, groups: Groups) -> np.ndarray:
    """``word_states`` of a pass whose other results nobody keeps."""
    from explorer.models.forward import run_model

    return word_states(run_model(loaded, tokens).hidden_states, groups)
