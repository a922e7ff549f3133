"""The sentences of the tasks tab: sentiment and questions."""

from collections.abc import Mapping

from explorer.analysis.tasks.sentiment import WordSentiment
from explorer.analysis.tasks.spans import AnswerSpans
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, finding, join, listed, model_name, word
from explorer.views.tasks.sentiment import signed

SENTIMENT_TITLE = "Sentiment: is it positive, and which words say so?"
SENTIMENT_LABEL = "A text to judge (Enter)"
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
    "loo": "Left out",
    "word": "Word",
    "complete": "Integrated gradients add up to {sum}; the text is {explained} from the text of "
    "masks. Completeness error {error:.1e} logits.",
}
SENTIMENT_NOTE = (
    "Bars to the right speak for positive, to the left for negative, in logits, all on one scale. "
    "Integrated gradients (Sundararajan et al. 2017): the slope of positive minus negative, added "
    "up on the way from a text of [MASK]s to the text. Left out: what positive minus negative "
    "loses when the word is not there. The two answer different questions and may differ."
)
NO_TEXT = "There is no text to judge: type a sentence."

QUESTION_TITLE = "Questions: where in a passage does each model find the answer?"
QUESTION_LABEL = "Question"
PASSAGE_LABEL = "Passage (Shift+Enter)"
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
    "start": "begins",
    "end": "ends",
    "strip": "Probability that the answer of {model} {side} here, along the passage",
    "scale": "full height {top:.2f}",
    "other": "Next: {answers}",
}
QUESTION_NOTE = (
    "Above each passage two strips run along it: how likely the answer is to begin and to end at "
    "each place, each strip to its own full height. A span's score is the product of both, over "
    "the words of the passage. These heads learned from questions that all have an answer in the "
    "passage (SQuAD v1.1): they always find one. A long passage is read in overlapping windows."
)
ASK = "Find the answer"


def sentiment_finding(found: Mapping[str, WordSentiment], specs: Mapping[str, ModelSpec]) -> Markup:
    """Each model's verdict, and the word that weighs most in it."""
    return finding(listed([_verdict(specs[key], one) for key, one in found.items()]), ".")


def _verdict(spec: ModelSpec, found: WordSentiment) -> Markup:
    label = "positive" if found.positive >= 0.5 else "negative"
    name = model_name(spec.key, spec.label)
    said = f" says {label} ({found.positive:.2f})"
    towards = found.integrated_gradients * (1 if label == "positive" else -1)
    place = int(towards.argmax())
    if towards[place] <= 0:  # no word speaks for the verdict: the baseline does
        return join(name, said)
    weight = signed(found.integrated_gradients[place])
    return join(name, said, ", most of all for ", word(found.words[place]), f" ({weight})")


def question_finding(
    found: Mapping[str, AnswerSpans], specs: Mapping[str, ModelSpec], passage: str
) -> Markup:
    """What every model answers."""
    said = [
        join(
            model_name(key, specs[key].label),
            " answers ",
            word(passage[one.best[0].start : one.best[0].end]),
            f" ({one.best[0].score:.2f})",
        )
        for key, one in found.items()
    ]
    return finding(listed(said), ".")
