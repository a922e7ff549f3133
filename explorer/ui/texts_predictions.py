"""Sentences of the predictions tab."""

from collections.abc import Mapping

from explorer.analysis.predictions import Agreement, MaskPredictions, agreement
from explorer.views.markup import Markup, finding, join, model_name, word
from explorer.views.predictions import listed

LABEL = "Predictions"
QUESTION = "What does each model put in the gap, and how sure is it?"
NO_MASK = (
    "No word is masked yet: click a word of the text to hide it, "
    "or open “How well is every word predicted?” below."
)
NO_MODEL = "None of the three models can be run here; the cards below say why."
BAD_FAMILY = "The family is either mini or base."
BAD_TOP_K = "top_k is a whole number from {low} to {high}."
NO_MASK_TO_PREDICT = "There is no [MASK] in the text: put one where a word is to be predicted."
ALL_DIFFER = {2: "Two models, two answers: ", 3: "Three models, three answers: "}
CANVAS = {
    "shown": "Words shown",
    "rest": "outside these {k}",
    "rest_one": "outside this word",
    "spread": "as unsure as a choice among {n} equal words",
    "first": "first answer",
    "also": "also listed by {names}",
    "only": "listed by this model alone",
    "shared": "In all {n} lists: {words}.",
    "shared_none": "No word is in all {n} lists.",
    "scale": "All bars share one scale: full width is {max}. Probabilities are shares of the whole "
    "vocabulary. A dot beside a word names another model that lists it too; a word that starts "
    "with … continues the word before.",
    "mask": "Gap {i} of {n}",
}


def predictions_finding(
    predictions: Mapping[str, MaskPredictions], labels: Mapping[str, str]
) -> Markup:
    """The tab's one sentence: who agrees, who does not, who is least sure."""
    if not predictions:
        return finding(NO_MODEL)
    n_masks = len(next(iter(predictions.values())).positions)
    if not n_masks:
        return finding(NO_MASK)
    found = [agreement(predictions, mask) for mask in range(n_masks)]
    if n_masks == 1:
        return finding(_one_mask(found[0], labels))
    return finding(_many_masks(found, labels))


def _named(key: str, labels: Mapping[str, str]) -> Markup:
    return model_name(key, labels[key])


def _all_of(count: int) -> str:
    return {1: "", 2: "Both", 3: "All three"}[count]


def _one_mask(found: Agreement, labels: Mapping[str, str]) -> Markup:
    p = found.probabilities
    if len(p) == 1:
        (answer, (key,)), *_ = found.groups
        return join(_named(key, labels), " answers ", word(answer), f", {p[key]:.3f}.")
    if found.is_unanimous:
        least = min(p, key=p.__getitem__)
        answer = found.groups[0][0]
        return join(
            f"{_all_of(len(p))} answer ", word(answer), "; ",
            _named(least, labels), f" is least sure, {p[least]:.3f}.",
        )  # fmt: skip
    if len(found.groups) == len(p):
        parts = [
            join(_named(key, labels), " says ", word(answer), f" ({p[key]:.3f})")
            for answer, (key,) in found.groups
        ]
        return join(ALL_DIFFER[len(p)], listed(parts), ".")
    (answer, pair), (other, (odd,)) = found.groups
    return join(
        listed([_named(key, labels) for key in pair]), " answer ", word(answer), "; ",
        _named(odd, labels), " says ", word(other), f" ({p[odd]:.3f}).",
    )  # fmt: skip


def _many_masks(found: list[Agreement], labels: Mapping[str, str]) -> Markup:
    together = [f.groups[0][0] for f in found if f.is_unanimous]
    n_models = len(found[0].probabilities)
    if n_models == 1:
        answers = [word(f.groups[0][0]) for f in found]
        return join(_named(next(iter(labels)), labels), " answers ", listed(list(answers)), ".")
    who = "The three models" if n_models == 3 else "The two models"
    if not together:
        return join(f"{who} agree on none of the {len(found)} gaps.")
    shown = listed([word(answer) for answer in together[:5]])
    return join(f"{who} agree on {len(together)} of {len(found)} gaps: ", shown, ".")
