"""Which words carried a sentiment: two answers on the same words, and how far each adds up."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.models.run import read_only
from explorer.models.tokens import Tokens, Word

MOST_WORDS = 64
"""Each word left out is a pass of the network."""


@dataclass(frozen=True, slots=True, eq=False)
class WordSentiment:
    """How positive one model finds a text, and what each word has to do with it.

    Attributions are in logits: shares of positive minus negative, above 0 towards positive.
    """

    words: tuple[str, ...]
    difference: float
    """The logit of positive minus that of negative."""
    integrated_gradients: np.ndarray
    """float64 [word]"""
    leave_one_out: np.ndarray
    """float64 [word]: what the difference loses when the word is left out of the text."""
    baseline: float
    """The difference of a text of masks, where the path of the integral begins."""

    @property
    def positive(self) -> float:
        """The probability of positive."""
        return float(1 / (1 + np.exp(-self.difference)))

    @property
    def completeness_error(self) -> float:
        """How far the attributions are from adding up to what they explain; 0 is exact."""
        explained = self.difference - self.baseline
        return float(abs(self.integrated_gradients.sum() - explained))


def without(text: str, word: Word) -> str:
    """The text without one word, and without the space that it leaves."""
    return " ".join(f"{text[: word.start]} {text[word.end :]}".split())


def word_sentiment(
    tokens: Tokens, attributions: np.ndarray, ends: tuple[float, float], left_out: Sequence[float]
) -> WordSentiment:
    """A text's words with both attributions.

    Args:
        tokens: What the model read.
        attributions: Integrated gradients, float64 [token].
        ends: Positive minus negative of the text, and of the text of masks.
        left_out: The same of the text without each of its words.
    """
    per_word = np.zeros(len(tokens.words))
    for word, value in zip(tokens.word_index, attributions, strict=True):
        if word >= 0:
            per_word[word] += value
    return WordSentiment(
        tuple(word.text for word in tokens.words),
        ends[0],
        read_only(per_word),
        read_only(ends[0] - np.asarray(left_out, np.float64)),
        ends[1],
    )
