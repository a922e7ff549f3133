"""Which words carried a sentiment: two answers on the same words, and how far each adds up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.models.run import read_only
from explorer.models.tokens import BadText, Tokens, Word, split_words

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel
    from explorer.models.task_heads.adapters import TunedModel

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
    def verdict(self) -> tuple[str, float]:
        """What the model says of the text, and the probability of just that."""
        told = "positive" if self.positive >= 0.5 else "negative"
        return told, max(self.positive, 1 - self.positive)

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


def judged(loaded: "LoadedModel", text: str) -> WordSentiment:
    """What a network with its sentiment adapter finds in a text; asked again, it does not run.

    Raises:
        BadText: the text has too many words. NotTuned: there is no adapter that fits.
    """
    from explorer.models.task_heads.adapters import once, tuned_of

    tuned = tuned_of(loaded, "sst2")
    return once(tuned, ("sentiment", text), lambda: _judge(tuned, text))


def _judge(tuned: "TunedModel", text: str) -> WordSentiment:
    from explorer.models.task_heads.sentiment import differences, integrated_gradients

    words = split_words(text)
    if len(words) > MOST_WORDS:
        raise BadText(
            f"The text has {len(words)} words and punctuation marks; {MOST_WORDS} fit here. "
            "Please shorten it."
        )
    found = integrated_gradients(tuned, text)
    left_out = differences(tuned, [without(text, word) for word in words]).tolist()
    ends = (found.difference, found.baseline)
    return word_sentiment(found.tokens, found.attributions, ends, left_out)
