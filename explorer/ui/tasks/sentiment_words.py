"""The sentences of the tasks tab: sentiment and questions."""

from collections.abc import Mapping

import numpy as np

from explorer.analysis.digits import probability, signed
from explorer.analysis.tasks.sentiment import WordSentiment
from explorer.analysis.tasks.spans import AnswerSpans
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, finding, join, listed, model_name, word

SENTIMENT_LABEL = "Text to classify"
SENTIMENT_EXAMPLES = (
    ("not bad", "The film is not bad."),
    ("bad", "The film is bad."),
    ("could have been", "It could have been good."),
    ("was good", "It was good."),
    ("hardly", "There is hardly a dull moment in it."),
    ("but", "A clever idea, but a boring film."),
)
"""Contrast pairs: a small word turns the sentence."""
SENTIMENT = {
    "positive": "positive",
    "negative": "negative",
    "ig": "Integrated gradients",
    "loo": "Leave-one-out",
    "word": "Word",
    "baseline": "before any word",
    "total": "the text",
    "complete": "Integrated gradients add up to {sum}; score difference from the all-[MASK] "
    "baseline: {explained}. Completeness error {error} logits.",
}
SENTIMENT_NOTE = (
    "Bars to the right push towards positive, to the left towards negative, in logits, on one "
    "scale.\nThe first bar is the score of the all-[MASK] baseline: with it the words' integrated "
    "gradients add up to the text's score, the last bar. Integrated gradients (Sundararajan et al. "
    "2017): the gradient of positive minus negative, integrated from that baseline to the text. "
    "Leave-one-out: the drop "
    "in the logit difference when the word is removed. The two answer different questions and may "
    "differ."
)
UNDECIDED = " is undecided between positive and negative (0.500)"
BASELINE = ", mainly because of its baseline before any word ({base}; the words add {added})"
NO_TEXT = "There is no text to classify: type a sentence."

QUESTION_LABEL = "Question"
PASSAGE_LABEL = "Passage"
QUESTION_EXAMPLES = (
    (
        "The bridge",
        "When was the bridge opened?",
        "The old bridge was built of wood and burned down in 1871. A new one of iron was opened "
        "in 1874 by the mayor of the town. It was closed to traffic for almost a year after the "
        "flood of 1903.",
    ),
    (
        "The expedition",
        "Who led the expedition?",
        "Two ships left the harbour in the spring. The expedition was led by Captain Anna Berg, "
        "who had spent three winters in the north. Her brother Erik drew the maps.",
    ),
    (
        "The museum",
        "How many paintings does the museum have?",
        "The museum was founded in 1952 in a former railway station. It has four hundred "
        "paintings and two thousand coins, and about thirty thousand people visit it every year.",
    ),
)
QUESTION = {
    "start": "starts",
    "end": "ends",
    "strip": "Probability that the answer of {model} {side} here, along the passage",
    "scale": "full height {top:.3f}",
    "other": "Next: {answers}",
}
QUESTION_NOTE = (
    "Strips: probability that the answer starts (top) or ends (bottom) here; each has its own "
    "scale.\nA span's score is the product of both, over the words of the passage. These heads "
    "were trained on questions that all have an answer in the passage (SQuAD v1.1), so they "
    "always find one. A long passage is read in overlapping windows."
)
ASK = "Find the answer"
CLASSIFY = "Classify"


def sentiment_finding(found: Mapping[str, WordSentiment], specs: Mapping[str, ModelSpec]) -> Markup:
    """Say each model's verdict, and what weighs most in it: a word, or the baseline."""
    return finding(listed([_verdict(specs[key], one) for key, one in found.items()]), ".")


def _verdict(spec: ModelSpec, found: WordSentiment) -> Markup:
    label, share = found.verdict
    name = model_name(spec.key, spec.label)
    if f"{share:.3f}" == "0.500":
        return join(name, UNDECIDED)
    said = f" says {SENTIMENT[label]} ({share:.3f})"
    return join(name, said, _because(found, 1 if label == "positive" else -1))


def _because(found: WordSentiment, side: int) -> Markup | None:
    """Name the largest part of the score on the verdict's side, as printed: a word or the baseline.

    The parts are the baseline and every word's integrated gradients; they add up to the score.
    """
    weights = np.round(found.integrated_gradients, 2)
    most, base = float((side * weights).max(initial=0.0)), round(side * found.baseline, 2)
    if base > most:
        added = signed(float(found.integrated_gradients.sum()))
        return join(BASELINE.format(base=signed(found.baseline), added=added))
    if most <= 0 or base == most:
        return None
    words = dict.fromkeys(w for w, v in zip(found.words, weights, strict=True) if side * v == most)
    times = "" if (side * weights == most).sum() == 1 else " each"
    reason = listed([word(one) for one in words])
    return join(", mainly because of ", reason, f" ({signed(side * most)}{times})")


def question_finding(
    found: Mapping[str, AnswerSpans], specs: Mapping[str, ModelSpec], passage: str
) -> Markup:
    """What every model answers."""
    said = [
        join(
            model_name(key, specs[key].label),
            " answers ",
            word(passage[one.best[0].start : one.best[0].end]),
            f" ({probability(one.best[0].score)})",
        )
        for key, one in found.items()
    ]
    return finding(listed(said), ".")


BROUGHT = "{label} answers with the head included in its checkpoint."
