"""Sentences of the predictions tab."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from explorer.analysis.predictions.masks import Agreement, MaskPredictions, agreement
from explorer.models.choice.family import parent_of
from explorer.models.specs import ModelSpec
from explorer.views.markup import (
    Markup,
    finding,
    join,
    listed,
    model_name,
    note,
    plain,
    word,
)

LABEL = "Predictions"
QUESTION = "What does each model predict for [MASK], and how sure is it?"
NO_MASK = (
    "No word is masked yet: click a word of the text to mask it, or open “Surprisal: how well is "
    "every word predicted?” below."
)
NO_MODEL = "None of the models is available here; the cards below say why."
BAD_TOP_K = "top_k must be a whole number from {low} to {high}."
NO_MASK_TO_PREDICT = "The text has no [MASK]: put one where a word is to be predicted."
UNREADABLE = "{names} {read} half of this text or more as [UNK], so {their} answers are guesses. "
MOST_LISTED = 5
"""Answers that a sentence lists."""
NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
CANVAS = {
    "shown": "Words shown",
    "rest": "outside the top {k}",
    "rest_one": "outside the top word",
    "more": "More words",
    "put": "Fill the mask with “{word}”",
    "spread": "perplexity {n}",
    "first": "top prediction",
    "also": "also listed by {names}",
    "only": "listed by this model only",
    "shared": "In all {n} lists: {words}.",
    "shared_none": "No word is in all {n} lists.",
    "scale": "Bars end at {max}.",
    "rule": "Probabilities are over the whole vocabulary; all bars of a mask share one scale. "
    "Words in all lists are bold; a dot marks the one other model that also lists a word; a word "
    "that starts with … continues the word before.",
    "spread_rule": " Perplexity n: like choosing among n equally likely words.",
    "mask": "Mask {i} of {n}",
    "yours": "your word {word}: {p}, rank {rank} of {size}",
    "yours_pieces": "your word {word} is {n} pieces here; this mask takes one, so it has no "
    "probability",
    "yours_unknown": "your word {word} is not in this vocabulary",
    "yours_row": "the word you masked",
}


def predictions_finding(
    predictions: Mapping[str, MaskPredictions],
    labels: Mapping[str, str],
    unreadable: Sequence[str] = (),
) -> Markup:
    """Say which models agree on the masks and which do not.

    Args:
        predictions: Each model's answers.
        labels: The models' names.
        unreadable: Names of those that read half of the text or more as [UNK]: said first.
    """
    if not predictions:
        return finding(NO_MODEL)
    n_masks = len(next(iter(predictions.values())).positions)
    if not n_masks:
        return finding(NO_MASK)
    found = [agreement(predictions, mask) for mask in range(n_masks)]
    said = _one_mask(found[0], labels) if n_masks == 1 else _many_masks(found, labels)
    return finding(_guessing(unreadable), said)


def _guessing(names: Sequence[str]) -> str:
    if not names:
        return ""
    read, their = ("reads", "its") if len(names) == 1 else ("read", "their")
    return UNREADABLE.format(names=plain(listed(names)), read=read, their=their)


def _named(key: str, labels: Mapping[str, str]) -> Markup:
    return model_name(key, labels[key])


def _all_of(count: int) -> str:
    return "Both" if count == 2 else f"All {NUMBERS.get(count, count)}"


def _one_mask(found: Agreement, labels: Mapping[str, str]) -> Markup:
    p = found.probabilities
    if len(p) == 1:
        (answer, (key,)), *_ = found.groups
        return join(_named(key, labels), " answers ", word(answer), f", {p[key]:.3f}.")
    if found.is_unanimous:
        answer = found.groups[0][0]
        return join(
            f"{_all_of(len(p))} answer ", word(answer), f" ({min(p.values()):.3f} or more)."
        )
    if len(found.groups) == len(p):
        parts = [
            join(_named(key, labels), "" if i else " says", " ", word(answer), f" ({p[key]:.3f})")
            for i, (answer, (key,)) in enumerate(found.groups)
        ]
        return join(listed(parts), ".")
    camps = [_camp(answer, keys, p, labels) for answer, keys in found.groups]
    return join(*(part for camp in camps for part in ("; ", camp)[camp is camps[0] :]), ".")


def _camp(
    answer: str, keys: tuple[str, ...], p: Mapping[str, float], labels: Mapping[str, str]
) -> Markup:
    """Those who give one answer; who stands alone with it, with the probability."""
    names = listed([_named(key, labels) for key in keys])
    if len(keys) > 1:
        return join(names, " answer ", word(answer))
    return join(names, " says ", word(answer), f" ({p[keys[0]]:.3f})")


def _many_masks(found: list[Agreement], labels: Mapping[str, str]) -> Markup:
    together = [f.groups[0][0] for f in found if f.is_unanimous]
    n_models = len(found[0].probabilities)
    if n_models == 1:
        answers = [word(f.groups[0][0]) for f in found]
        return join(_named(next(iter(labels)), labels), " answers ", listed(answers), ".")
    who = f"The {NUMBERS.get(n_models, n_models)} models agree"
    if together:
        return join(f"{who} on {len(together)} of {len(found)} masks: ", _first(together), ".")
    return join(f"{who} on none of the {len(found)} masks", _closest_pair(found, labels), ".")


def _closest_pair(found: list[Agreement], labels: Mapping[str, str]) -> Markup | None:
    """Name the two models that give the same first answer most often."""
    answers: dict[tuple[str, ...], list[str]] = {}
    for one in found:
        for answer, keys in one.groups:
            for two in combinations(keys, 2):
                answers.setdefault(two, []).append(answer)
    if not answers:
        return None
    pair = max(answers, key=lambda keys: len(answers[keys]))
    names = listed([_named(key, labels) for key in pair])
    return join("; ", names, f" agree on {len(answers[pair])}: ", _first(answers[pair]))


def _first(answers: Sequence[str]) -> Markup:
    """List the first answers, and say how many more there are."""
    shown: list[str | Markup] = [word(answer) for answer in answers[:MOST_LISTED]]
    more = len(answers) - len(shown)
    return listed([*shown, f"{more} more"] if more else shown)


def origin_note(
    specs: Sequence[ModelSpec], predictions: Mapping[str, MaskPredictions]
) -> Markup | None:
    """Say of models that agree on a mask which of them were made from another that is here."""
    agreeing = _related(specs, predictions)
    made = [
        join(
            model_name(spec.key, spec.label),
            " was distilled from "
            if spec.kind.teacher
            else "'s shared layer was initialised from one of ",
            model_name(parent.key, parent.label),
            ""
            if spec.kind.teacher
            else "'s layers, then fitted to all of them and to its predictions",
        )
        for spec in specs
        if spec.key in agreeing and (parent := parent_of(spec)) in specs and parent
    ]
    if not made or not any(spec.fitted_to for spec in specs):
        return None
    return note(listed(made), "; so their agreement is not independent evidence.")


def _related(specs: Sequence[ModelSpec], predictions: Mapping[str, MaskPredictions]) -> set[str]:
    """Find the models that share a first answer with their parent, or with its other child."""
    parents = {spec.key: parent_of(spec) for spec in specs}
    roots = {
        key: parent.key if parent in specs and parent else key for key, parent in parents.items()
    }
    n_masks = min((len(one.positions) for one in predictions.values()), default=0)
    found: set[str] = set()
    for mask in range(n_masks):
        for _, keys in agreement(predictions, mask).groups:
            for pair in combinations(keys, 2):
                found |= set(pair) if roots[pair[0]] == roots[pair[1]] else set()
    return found
