"""Sentences of the attribution fold."""

from collections.abc import Mapping

import numpy as np

from explorer.analysis.digits import signed
from explorer.analysis.scoring import Attribution
from explorer.models.tokens import MASK
from explorer.views.markup import (
    Markup,
    filled,
    finding,
    join,
    model_name,
    semicolons,
    word,
    words_at,
)

QUESTION = "Attribution: which words is the answer read from?"
TARGET = "Answer to attribute"
TARGET_PLACEHOLDER = "each model's own; or type a word and press Enter"
WHICH_MASK = "Mask (1 is the first)"
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
NO_WORD = ": the text has no word that {answer} could be read from"
NOTHING = ": the words together make {answer} no likelier ({sum} nats)"
NONE_ADDS = ": no word adds as much as 0.01 nats to {answer}"
ABOVE_ALL = " reads {answer} above all from {words} ({nats})"
LARGEST_SHARE = (
    ": the largest share of {answer} is from {words} ({nats}), but masking {it} makes {answer} no "
    "less likely"
)


def attribution_finding(results: Mapping[str, Attribution]) -> Markup:
    """Return each model's answer, with the word of the largest integrated gradient."""
    return finding(
        "By integrated gradients, ",
        semicolons([_most(key, result) for key, result in results.items()]),
        ".",
    )


def _most(key: str, result: Attribution) -> Markup:
    """Return the word that adds most, by the two printed digits; all of several equal ones.

    No word is named where the words together do not make the answer likelier. The answer is read
    from a word only where it is also less likely without it.
    """
    name, answer = model_name(key, result.label), word(result.answer)
    if all(text == MASK for text in result.words):
        return join(name, filled(NO_WORD, answer=answer))
    parts = np.round(result.integrated_gradients, 2)
    total = float(result.integrated_gradients.sum())
    if round(total, 2) <= 0:
        return join(name, filled(NOTHING, answer=answer, sum=signed(total)))
    largest = float(parts.max())
    if largest <= 0:
        return join(name, filled(NONE_ADDS, answer=answer))
    places = np.flatnonzero(parts == largest)
    one = len(places) == 1
    is_less_likely_without = (result.leave_one_out[places] > 0).all()
    said = filled(
        ABOVE_ALL if is_less_likely_without else LARGEST_SHARE,
        answer=answer,
        words=words_at(result.words, places),
        nats=f"{signed(largest)} nats{'' if one else ' each'}",
        it="it" if one else "each",
    )
    return join(name, said)
