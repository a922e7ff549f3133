"""What the sampler must know of a vocabulary's pieces: where words begin, and how common they are.

Both vocabularies part letters from signs, so one rule finds the words of both: a piece begins a
word when its own mark says so, when it is a sign, or when it follows one.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.text.vocabulary import load_pieces

SPECIALS = 5  # both vocabularies begin with as many
ENDS = (".", "!", "?")
COMMON = 2e-3  # words of more than this share of the text are hidden less often


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """One row per piece of a vocabulary.

    Attributes:
        begins: The piece carries the mark of a word's beginning (or no mark of going on).
        signs: It holds neither letter nor digit.
        ends: It ends a sentence.
        weights: How readily a word that begins with it is hidden in a single sentence.
    """

    begins: np.ndarray
    signs: np.ndarray
    ends: np.ndarray
    weights: np.ndarray

    @classmethod
    def load(cls, vocabulary: Path, ids: np.ndarray, size: int) -> "Pieces":
        """From a saved tokenizer and the ids of the text that is sampled."""
        names = load_pieces(vocabulary)
        names += [""] * (size - len(names))
        counts = np.bincount(ids, minlength=size).astype(np.float64)
        return cls.of(names, counts / max(1, counts.sum()))

    @classmethod
    def of(cls, names: list[str], shares: np.ndarray) -> "Pieces":
        """From the pieces' names and their shares of the text."""
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
        """Whether a word begins at each place of a text."""
        signs = self.signs[ids]
        after = np.concatenate([[True], signs[:-1]])
        return self.begins[ids] | signs | after
