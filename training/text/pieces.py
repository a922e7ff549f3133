"""Properties of a vocabulary's pieces that the sampler needs: word starts and frequencies.

Both vocabularies separate letters from signs, so one rule finds the words of both: a piece begins a
word when its own mark says so, when it is a sign, or when it follows one.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.text.vocabulary import load_pieces

SPECIALS = 5  # both vocabularies begin with five special pieces
ENDS = (".", "!", "?")
COMMON = 2e-3  # words with a larger share of the text are masked less often


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Properties of a vocabulary, one row per piece.

    Attributes:
        begins: The piece carries a word-start mark (or no continuation mark).
        signs: The piece contains neither letter nor digit.
        ends: The piece ends a sentence.
        weights: Sampling weight for masking a word that begins with the piece.
    """

    begins: np.ndarray
    signs: np.ndarray
    ends: np.ndarray
    weights: np.ndarray

    @classmethod
    def load(cls, vocabulary: Path, ids: np.ndarray, size: int) -> "Pieces":
        """Build from a saved tokenizer and the ids of the sampled text."""
        names = load_pieces(vocabulary)
        names += [""] * (size - len(names))
        counts = np.bincount(ids, minlength=size).astype(np.float64)
        return cls.of(names, counts / max(1, counts.sum()))

    @classmethod
    def of(cls, names: list[str], shares: np.ndarray) -> "Pieces":
        """Build from the pieces' names and their shares of the text."""
        bare = [name.removeprefix("##").replace("▁", "") for name in names]
        marked = any(name.startswith("▁") for name in names)
        begins = [name.startswith("▁") if marked else not name.startswith("##") for name in names]
        signs = [bool(text) and not any(map(str.isalnum, text)) for text in bare]
        begins[:SPECIALS], signs[:SPECIALS] = [True] * SPECIALS, [True] * SPECIALS
        return cls(
            begins=np.array(begins),
            signs=np.array(signs),
            ends=np.array([text in ENDS for text in bare]),
            weights=np.sqrt(COMMON / np.maximum(shares, COMMON)),
        )

    def starts(self, ids: np.ndarray) -> np.ndarray:
        """Return whether a word begins at each position of a text."""
        signs = self.signs[ids]
        after = np.concatenate([[True], signs[:-1]])
        return self.begins[ids] | signs | after
