"""Answers of fine-tuned models: sentiment with word attributions, and answer spans."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.measures import softmax
from explorer.analysis.scoring import by_word
from explorer.models.run import read_only
from explorer.models.task_heads.windows import Window
from explorer.models.tokens import BadText, Word, split_words
from explorer.refusal import Refusal, Sentence

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel
    from explorer.models.task_heads.adapters import TunedModel
    from explorer.models.task_heads.classifiers import Slopes


MAX_WORDS = 64
"""Most words of a text, because leaving out each word takes a forward pass."""


@dataclass(frozen=True, slots=True, eq=False)
class WordSentiment:
    """One model's sentiment of a text, and two attributions to its words.

    Attributions are parts of the difference of logits, positive minus negative.
    """

    words: tuple[str, ...]
    difference: float
    """Logit of positive minus logit of negative."""
    integrated_gradients: np.ndarray
    """float64 [word]"""
    leave_one_out: np.ndarray
    """float64 [word]: decrease of the difference when the word is left out of the text."""
    baseline: float
    """Difference for a text of masks, where the path of the integral begins."""

    @property
    def positive(self) -> float:
        """The probability of positive."""
        return float(1 / (1 + np.exp(-self.difference)))

    @property
    def verdict(self) -> tuple[str, float]:
        """The predicted class, ``positive`` or ``negative``, and its probability."""
        label = "positive" if self.positive >= 0.5 else "negative"
        return label, max(self.positive, 1 - self.positive)

    @property
    def completeness_error(self) -> float:
        """The error of the attributions' sum against difference minus baseline; 0 is exact."""
        explained = self.difference - self.baseline
        return float(abs(self.integrated_gradients.sum() - explained))


def without(text: str, word: Word) -> str:
    """Return the text without one word, with single spaces between the others."""
    return " ".join(f"{text[: word.start]} {text[word.end :]}".split())


def few_words(text: str, most: int = MAX_WORDS) -> tuple[Word, ...]:
    """Return the words of a text.

    Raises:
        BadText: it has more than ``most`` words.
    """
    words = split_words(text)
    if len(words) > most:
        raise BadText(
            Sentence(
                "too-many-words",
                f"The text has {len(words):,} words and punctuation marks; {most} fit here. "
                "Please shorten it.",
            )
        )
    return words


def shorter_texts(text: str, most: int = MAX_WORDS) -> list[str]:
    """Return the text without each of its words, in reading order.

    Raises:
        BadText: it has more than ``most`` words.
    """
    return [without(text, word) for word in few_words(text, most)]


def word_sentiment(gradients: "Slopes", left_out: Sequence[float]) -> WordSentiment:
    """Build the result from the attributions of tokens and the differences of shorter texts.

    ``left_out`` is positive minus negative of the text without each of its words.
    """
    tokens = gradients.tokens
    return WordSentiment(
        tuple(word.text for word in tokens.words),
        gradients.difference,
        by_word(tokens, gradients.attributions),
        read_only(gradients.difference - np.asarray(left_out, np.float64)),
        gradients.baseline,
    )


def tuned_sentiment(loaded: "LoadedModel", text: str) -> WordSentiment:
    """Return the sentiment of a text from a network with its adapter.

    Raises:
        BadText: the text has too many words. NotTuned: there is no adapter that fits.
    """
    from explorer.models.task_heads.adapters import tuned_of

    return _sentiment(tuned_of(loaded, "sst2"), text)


def _sentiment(tuned: "TunedModel", text: str) -> WordSentiment:
    from explorer.models.task_heads.classifiers import log_odds, margin_slopes, margins

    shorter = shorter_texts(text)
    positive = log_odds(1)
    gradients = margin_slopes(tuned, text, positive)
    return word_sentiment(gradients, margins(tuned, shorter, positive).tolist())


LONGEST = 30
"""Most tokens of an answer."""


@dataclass(frozen=True, slots=True)
class Span:
    """One answer: characters of the passage, and p(start) p(end)."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class AnswerSpans:
    """Probabilities of a span head for every token of a passage."""

    token_spans: tuple[tuple[int, int], ...]
    """Characters (start, end) of each token in the passage, in reading order; several tokens of one
    character repeat its place."""
    start: np.ndarray
    """float64 [token]: probability that the answer starts here; sums to 1."""
    end: np.ndarray
    """float64 [token]: probability that the answer ends here; sums to 1."""
    best: tuple[Span, ...]
    """The likeliest spans, best first."""


@dataclass(frozen=True, slots=True)
class ReadAt:
    """Place where a token of a passage is scored: the window, and the token's index in it."""

    window: int
    token: int
    span: tuple[int, int]
    """Characters (start, end) of the token in the passage."""


def read_at(parts: Sequence[Window]) -> tuple[ReadAt, ...]:
    """Return where each token of a passage is scored, in reading order.

    A token in several windows is scored in the one with the most context on its shorter side
    (Devlin's "max context").
    """
    chosen: dict[int, tuple[int, ReadAt]] = {}
    for window, part in enumerate(parts):
        inside = [(i, span) for i, span in enumerate(part.spans) if span is not None]
        for n, (i, span) in enumerate(inside):
            context, previous = min(n, len(inside) - 1 - n), chosen.get(part.first + n)
            if previous is None or context > previous[0]:
                chosen[part.first + n] = (context, ReadAt(window, i, span))
    return tuple(chosen[n][1] for n in sorted(chosen))


def answer_spans(
    parts: Sequence[Window], logits: Sequence[np.ndarray], n_best: int = 3
) -> AnswerSpans:
    """Compute the answer spans of a passage from the head's logits [token, 2] of its windows.

    Each token is scored where ``read_at`` says. Softmax is over the tokens of the passage only,
    including those that share their characters; a span's score is p(start) p(end), its end not
    before its start and fewer than ``LONGEST`` tokens after it.
    """
    places = read_at(parts)
    spans = tuple(place.span for place in places)
    if not any(first < last for first, last in spans):
        raise Refusal(
            Sentence("unreadable-passage", "No word of the passage can be read by this model.")
        )
    logits_used = np.stack([logits[place.window][place.token] for place in places])
    logits_used = logits_used.astype(np.float64)
    start, end = softmax(logits_used[:, 0]), softmax(logits_used[:, 1])
    return AnswerSpans(spans, read_only(start), read_only(end), _best(spans, start, end, n_best))


def _best(
    token_spans: Sequence[tuple[int, int]], start: np.ndarray, end: np.ndarray, n_best: int
) -> tuple[Span, ...]:
    """Return the best distinct spans of characters, each scored by its best pair of tokens."""
    begins, ends = np.asarray(token_spans).T
    allowed = np.triu(np.ones((len(token_spans), len(token_spans)), bool)) & (
        begins[:, None] < ends
    )
    allowed &= ~np.triu(np.ones_like(allowed), LONGEST)
    scores = np.where(allowed, start[:, None] * end[None, :], -1.0)
    spans: dict[tuple[int, int], Span] = {}
    for flat_index in np.argsort(-scores, axis=None, kind="stable"):
        i, j = divmod(int(flat_index), len(token_spans))
        if len(spans) == n_best or not allowed[i, j]:
            break
        place = (token_spans[i][0], token_spans[j][1])
        spans.setdefault(place, Span(*place, float(scores[i, j])))
    return tuple(spans.values())


def tuned_answer(loaded: "LoadedModel", question: str, passage: str) -> AnswerSpans:
    """Return the answers in a passage from a network with its adapter.

    Raises:
        BadText: the question or the passage cannot be read. NotTuned: no adapter fits.
    """
    from explorer.models.task_heads.adapters import tuned_of
    from explorer.models.task_heads.classifiers import span_logits

    return answer_spans(*span_logits(tuned_of(loaded, "squad"), question, passage))
