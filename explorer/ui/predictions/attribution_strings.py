"""Sentences of the attribution fold."""

from collections.abc import Mapping

import numpy as np

from explorer.analysis.digits import enumerated, signed
from explorer.analysis.scoring import Attribution
from explorer.models.tokens import MASK
from explorer.views.markup import (
    Markup,
    filled,
    finding,
    join,
    model_name,
    note,
    semicolons,
    word,
    words_at,
)

QUESTION = "Attribution: which words is the answer read from?"
TARGET = "Answer to attribute"
TARGET_PLACEHOLDER = "each model's own; or type a word and press Enter"
ASK_ALL = "Ask all models about"
OWN = "each model's own answer"
ANSWER_OF = "{word}: answer of {models}"
OWN_ANSWERS = (
    "Each model is asked about its own answer. To see why they disagree, ask all about one word."
)
DIFFER_MOST = " Their shares differ most at {word}: {high} nats in {most}, {low} nats in {least}."
WHICH_MASK = "Mask (1 is the first)"
NO_MASK = "The text has no [MASK]: mask a word to see which words its prediction is read from."
TOO_LONG = "The text has {n:,} words and punctuation marks; at most {most} can be attributed."
TEXTS = {
    "gradients": "Integrated gradients",
    "left_out": "Leave-one-out: each word masked in turn",
    "probability": "probability {p}",
    "complete": "Integrated gradients add up to {sum}; difference from the all-[MASK] text: "
    "{explained}. Completeness error {error} nats, with the gradient at {points} points. The more "
    "abruptly the gradient changes, the more points it takes: a published ALBERT can take two to "
    "four times as many as a BERT.",
}
MASK_OF = "Mask {i} of {n}."
NOTE = (
    "Under each word the change of ln P(answer), in nats. Blue words make the answer likelier, "
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
        _differ_most(results),
    )


def own_answers_note(results: Mapping[str, Attribution]) -> Markup | None:
    """Return how to compare models that are asked about different words; else None."""
    is_one = len({result.answer for result in results.values()}) == 1
    return None if is_one else note(OWN_ANSWERS)


def offered_words(answers: Mapping[str, str], labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the choices of a word for all models, as (name, word), each model's own first.

    Args:
        answers: Each model's own answer by its key, without those that nobody can type.
        labels: The models' names.
    """
    models: dict[str, list[str]] = {}
    for key, answer in answers.items():
        models.setdefault(answer, []).append(labels[key])
    named = [
        (ANSWER_OF.format(word=answer, models=enumerated(names)), answer)
        for answer, names in models.items()
    ]
    return [(OWN, OWN), *named]


def _differ_most(results: Mapping[str, Attribution]) -> Markup | str:
    """Return the word whose shares in one answer differ most between two models."""
    if len(results) < 2 or len({result.answer for result in results.values()}) > 1:
        return ""
    shares = np.array([result.integrated_gradients for result in results.values()])
    at = int(np.ptp(shares, 0).argmax())
    high, low = int(shares[:, at].argmax()), int(shares[:, at].argmin())
    printed = signed(float(shares[high, at])), signed(float(shares[low, at]))
    if len(set(printed)) == 1:
        return ""
    names = [model_name(key, result.label) for key, result in results.items()]
    return filled(
        DIFFER_MOST,
        word=words_at(next(iter(results.values())).words, [at]),
        **dict(zip(("high", "low"), printed, strict=True)),
        most=names[high],
        least=names[low],
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
