"""Fine-tuned answers: sentiment with each word's share, and answer spans."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.measures import softmax
from explorer.models.run import read_only
from explorer.models.task_heads.windows import Window
from explorer.models.tokens import BadText, Tokens, Word, split_words
from explorer.refusal import Refusal

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
    from explorer.models.task_heads.classifiers import differences, integrated_gradients

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


LONGEST = 30
"""An answer has at most this many tokens."""


@dataclass(frozen=True, slots=True)
class Span:
    """One answer: characters of the passage, and the product of both probabilities."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class AnswerSpans:
    """What a span head says of every token of a passage."""

    places: tuple[tuple[int, int], ...]
    """Where each token stands in the passage, in reading order; a place that a vocabulary writes in
    several tokens stands there for each of them."""
    start: np.ndarray
    """float64 [token]: the probability that the answer begins here; they sum to 1."""
    end: np.ndarray
    """float64 [token]: that it ends here."""
    best: tuple[Span, ...]
    """The likeliest spans, best first."""


def answer_spans(
    parts: Sequence[Window], logits: Sequence[np.ndarray], n_best: int = 3
) -> AnswerSpans:
    """The spans of a passage from the head's logits [token, 2] of each of its windows.

    A token that lies in several windows is read in the one in which it has most company on its
    poorer side (Devlin's "max context"). Softmax is over all tokens of the passage and over them
    alone, those too that share their characters; a span's score is p(start) p(end), its end not
    before its start and fewer than ``LONGEST`` tokens on.
    """
    chosen: dict[int, tuple[int, tuple[int, int], np.ndarray]] = {}
    for part, scores in zip(parts, logits, strict=True):
        inside = [(i, span) for i, span in enumerate(part.spans) if span is not None]
        for n, (i, place) in enumerate(inside):
            company, known = min(n, len(inside) - 1 - n), chosen.get(part.first + n)
            if known is None or company > known[0]:
                chosen[part.first + n] = (company, place, scores[i])
    places = tuple(chosen[n][1] for n in sorted(chosen))
    if not any(first < last for first, last in places):
        raise Refusal("No word of the passage can be read by this model.")
    read = np.stack([chosen[n][2] for n in sorted(chosen)]).astype(np.float64)
    start, end = softmax(read[:, 0]), softmax(read[:, 1])
    return AnswerSpans(places, read_only(start), read_only(end), _best(places, start, end, n_best))


def _best(
    places: Sequence[tuple[int, int]], start: np.ndarray, end: np.ndarray, n_best: int
) -> tuple[Span, ...]:
    """The likeliest stretches of characters, each once, by its likeliest pair of tokens."""
    begins, ends = np.asarray(places).T
    reach = np.triu(np.ones((len(places), len(places)), bool)) & (begins[:, None] < ends)
    reach &= ~np.triu(np.ones_like(reach), LONGEST)
    scores = np.where(reach, start[:, None] * end[None, :], -1.0)
    found: dict[tuple[int, int], Span] = {}
    for flat in np.argsort(-scores, axis=None, kind="stable"):
        i, j = divmod(int(flat), len(places))
        if len(found) == n_best or not reach[i, j]:
            break
        place = (places[i][0], places[j][1])
        found.setdefault(place, Span(*place, float(scores[i, j])))
    return tuple(found.values())


def answered(loaded: "LoadedModel", question: str, passage: str) -> AnswerSpans:
    """What a network with its question adapter finds in a passage; asked again, it does not run.

    Raises:
        BadText: the question or the passage cannot be read. NotTuned: no adapter fits.
    """
    from explorer.models.task_heads.adapters import once, tuned_of
    from explorer.models.task_heads.classifiers import span_logits

    tuned = tuned_of(loaded, "squad")
    asked = ("question", question, passage)
    return once(tuned, asked, lambda: answer_spans(*span_logits(tuned, question, passage)))
