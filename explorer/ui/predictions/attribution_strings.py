"""Sentences of the attribution fold."""

from collections.abc import Mapping

import numpy as np

from explorer.analysis.digits import signed
from explorer.analysis.scoring import Attribution
from explorer.views.markup import Markup, finding, join, listed, model_name, word

QUESTION = "Attribution: which words is the answer read from?"
TARGET = "Answer to attribute"
TARGET_PLACEHOLDER = "each model's own; or type a word and press Enter"
MASK = "Mask (1 is the first)"
NO_MASK = "The text has no [MASK]: mask a word to see which words its prediction is read from."
TOO_LONG = "The text has {n:,} words and punctuation marks; at most {most} can be attributed."
TEXTS = {
    "gradients": "Integrated gradients",
    "left_out": "Leave-one-out: each word masked in turn",
    "probability": "probability {p}",
    "complete": "Integrated gradients add up to {sum}; difference from the all-[MASK] text: "
    "{explained}. Completeness error {error} nats.",
}
MASK_OF = "Mask {i} of {n}."
NOTE = (
    "Under each word the change of ln P(answer) in nats. Blue words make the answer likelier, "
    "orange words less likely; the colours of a model share one scale.\n"
    "Integrated gradients (Sundararajan et al. 2017): the gradient of ln P(answer), integrated "
    "from the text with every word masked to the text. Leave-one-out: the drop when all "
    "pieces of the word are masked. The two answer different questions and may differ."
)
NOTHING = "no word makes it likelier"


def attribution_finding(results: Mapping[str, Attribution]) -> Markup:
    """Return each model's answer, with the word of the largest integrated gradient."""
    return finding(
        "By integrated gradients, ",
        listed([_most(key, result) for key, result in results.items()]),
        ".",
    )


def _most(key: str, result: Attribution) -> Markup:
    """Return the word that adds most, to the two digits that are printed; all of several equals."""
    name = model_name(key, result.label)
    weights = np.round(result.integrated_gradients, 2)
    largest = float(weights.max(initial=0.0))
    if largest <= 0:
        return join(name, f": {NOTHING}")
    words = dict.fromkeys(w for w, v in zip(result.words, weights, strict=True) if v == largest)
    times = "" if (weights == largest).sum() == 1 else " each"
    reason = listed([word(text) for text in words])
    answer = word(result.answer)
    return join(name, " reads ", answer, " above all from ", reason, f" ({signed(largest)}{times})")
