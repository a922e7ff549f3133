"""Sentences of the predictions tab."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from explorer.analysis.digits import side_by_side
from explorer.analysis.predictions.masks import Agreement, MaskPredictions, agreement
from explorer.models.choice.family import parent_of
from explorer.models.specs import ModelSpec
from explorer.views.markup import (
    Markup,
    el,
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
LINES = 3
"""Masks whose line is in sight; the others open on demand."""
NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
CANVAS = {
    "shown": "Words shown",
    "rest": "outside the top {k}",
    "rest_one": "outside the top word",
    "put": "Fill the mask with “{word}”",
    "spread": "perplexity {n}",
    "first": "top prediction",
    "also": "also listed by {names}",
    "only": "listed by this model only",
    "shared": "In all {n} lists: {words}.",
    "shared_none": "No word is in all {n} lists.",
    "scale": "Bars end at {max}.",
    "rule": "Words in all lists are bold; a dot marks the other model that also lists a word.\n"
    "Probabilities are over the whole vocabulary; all bars of a mask share one scale. A word that "
    "starts with … continues the word before. Perplexity n: like choosing among n equally likely "
    "words.",
    "mask": "Mask {i} of {n}",
    "masks": "Masks of the text",
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
    if n_masks == 1:
        return finding(_guessing(unreadable), _one_mask(found[0], labels))
    return _many_masks(found, labels, _guessing(unreadable))


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
    """Who answers what in one mask, and which model is most confident, with the probabilities."""
    p = dict(zip(found.probabilities, side_by_side([*found.probabilities.values()]), strict=True))
    if len(p) == 1:
        (answer, (key,)), *_ = found.groups
        return join(_named(key, labels), " says ", word(answer), f" ({p[key]}).")
    if found.is_unanimous:
        who = join(f"{_all_of(len(p))} answer ", word(found.groups[0][0]))
        return join(who, _surest(found, p, labels, True), ".")
    if len(found.groups) == len(p):
        parts = [
            join(_named(key, labels), "" if i else " says", " ", word(answer), f" ({p[key]})")
            for i, (answer, (key,)) in enumerate(found.groups)
        ]
        return join(listed(parts), _surest(found, p, labels, False), ".")
    camps = [_camp(answer, keys, p, labels) for answer, keys in found.groups]
    said = join(*(part for camp in camps for part in ("; ", camp)[camp is camps[0] :]))
    return join(said, _surest(found, p, labels, False), ".")


def _camp(
    answer: str, keys: tuple[str, ...], printed: Mapping[str, str], labels: Mapping[str, str]
) -> Markup:
    """Name the models that give one answer, each with its probability."""
    if len(keys) == 1:
        return join(_named(keys[0], labels), " says ", word(answer), f" ({printed[keys[0]]})")
    names = listed([join(_named(key, labels), f" ({printed[key]})") for key in keys])
    return join(names, " answer ", word(answer))


def _surest(
    found: Agreement, printed: Mapping[str, str], labels: Mapping[str, str], with_p: bool
) -> Markup:
    """Name the model of the largest probability, or those whose largest prints alike.

    Args:
        found: The answers of one mask.
        printed: Each model's probability as it is printed.
        labels: The models' names.
        with_p: Whether the probability follows; left out where it stands beside the answer.
    """
    top = printed[max(found.probabilities, key=found.probabilities.__getitem__)]
    keys = [key for key, p in printed.items() if p == top]
    if len(keys) == len(printed):
        everyone = _all_of(len(printed)).lower()
        return join(
            f", equally confident ({top} each)" if with_p else f"; {everyone} are equally confident"
        )
    most = "more" if len(printed) == 2 else "most"
    said = "is" if len(keys) == 1 else "are"
    each = f" ({top})" if len(keys) == 1 else f" ({top} each)"
    names = listed([_named(key, labels) for key in keys])
    return join("; ", names, f" {said} {most} confident", each if with_p else "")


def _many_masks(found: Sequence[Agreement], labels: Mapping[str, str], before: str) -> Markup:
    """One numbered line for each mask; those after the first few open on demand."""
    lines = [join(f"{i}. ", _one_mask(one, labels)) for i, one in enumerate(found, 1)]
    same = sum(one.is_unanimous for one in found)
    of = f"{same} of {len(found)}" if same else f"none of the {len(found)}"
    n_models = len(found[0].probabilities)
    top = (
        f"The {NUMBERS.get(n_models, n_models)} models agree on {of} masks."
        if n_models > 1 and len(found) > LINES
        else ""
    )
    shown = [
        el("span", line, " ", class_="line") for line in (before + top, *lines[:LINES]) if line
    ]
    said = finding(*shown)
    if len(found) <= LINES:
        return said
    rest = lines[LINES:]
    to = "and" if len(rest) == 2 else "to"
    title = f"Mask {len(found)}" if len(rest) == 1 else f"Masks {LINES + 1} {to} {len(found)}"
    folded = el(
        "details", el("summary", title, " "), *(el("p", line, " ") for line in rest), class_="lines"
    )
    return join(said, folded)


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
