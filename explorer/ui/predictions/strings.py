"""What Predictions says."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np

from explorer.analysis.digits import counted, probability, side_by_side
from explorer.analysis.predictions import (
    Agreement,
    Contrast,
    MaskFillings,
    MaskPredictions,
    SpanScore,
    agreement,
    mean_surprisal,
    shared_scores,
)
from explorer.models.choice.family import parent_of
from explorer.models.specs import ModelSpec
from explorer.models.tokens import Word
from explorer.views.markup import (
    Markup,
    el,
    finding,
    join,
    listed,
    model_name,
    note,
    plain,
    term,
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


# Every word masked in turn
WORDS_QUESTION = "Surprisal: how well is every word predicted?"
STOP = "Stop"
STOPPED = note("Stopped; finished words are kept.")
WORDS_CANVAS = {
    "rule": "Each word is masked in turn; stronger colour = higher surprisal (−ln p, nats). Choose "
    "a word for the predictions.\n"
    "A word of several pieces is filled left to right: its probability is the product over the "
    "pieces, and it has no rank. ≠ marks words that one model ranks first and another does not.",
    "nothing": "not in its vocabulary",
    "surprise": "{nats} nats",
    "rank": "rank {rank}",
    "instead": "predicts {answers}",
    "disagree": "the models disagree",
    "head": ["Model", "p(word)", "Surprisal", "Rank", "Pieces", "Top predictions"],
    "strip": "Words of the text, each with its probability from every model",
}


def words_finding(
    scores: Mapping[str, Sequence[SpanScore]],
    labels: Mapping[str, str],
    done: Mapping[str, tuple[int, int]],
) -> Markup:
    """How far the strip is; when it is complete, who finds how many words at first guess."""
    if any(count < total for count, total in done.values()):
        parts = [
            join(model_name(key, labels[key]), f" {count} of {counted(total, 'word')}")
            for key, (count, total) in done.items()
        ]
        return note(listed(parts), "…")
    if not any(scores.values()):
        return note("No whole word in this text can be masked.")
    shared = shared_scores(scores)
    if not next(iter(shared.values())):
        return note("No word in this text can be read by all models: nothing to compare.")
    ranked = set.intersection(*({s.word for s in f if s.rank} for f in shared.values()))
    parts = []
    for key, found in shared.items():
        firsts = sum(s.is_first for s in found if s.word in ranked)
        ranks = (
            f" ranks {firsts} of {counted(len(ranked), 'word')} first, with" if ranked else " has"
        )
        mean = f" a mean surprisal of {mean_surprisal(found):.2f} "
        name = model_name(key, labels[key])
        parts.append(join(name, ranks, mean, "nats" if parts else term("nats")))
    return el(
        "p", listed(parts), ".", _words_counted(scores, shared, ranked), class_="fold-finding"
    )


def _words_counted(
    scores: Mapping[str, Sequence[SpanScore]],
    shared: Mapping[str, Sequence[SpanScore]],
    ranked: Collection[Word],
) -> str:
    """Say which words the figures rest on, where it is not all of them."""
    n_words = len({s.word for found in scores.values() for s in found})
    n_shared = len(next(iter(shared.values())))
    some = f" Surprisal is over the {n_shared} of {n_words} words that all models can read."
    said = some if n_shared < n_words else ""
    if not ranked or len(ranked) == n_shared:
        return said
    has = "only one has" if len(ranked) == 1 else f"the {len(ranked)} have"
    return f"{said} A word of several pieces has no rank: {has} one piece in every model."


# Ask for a word
ASK_QUESTION = "Your own words: how likely is each, and which does each model prefer?"
ASK_TITLE = "At a [MASK] of the text"
ASK_LABEL = "Words or phrases, separated by commas"
ASK_PLACEHOLDER = "paris, new york"
ASK_BUTTON = "Ask"
ASK_HINT = "Type a word or a phrase; several are separated by commas."
ASK_TOO_MUCH = "Please ask for at most {words} words at once, each of at most {letters} letters."
ASK_BRACKETS = "A word cannot contain square brackets."
ASK_TABLE = {
    "head": "Word",
    "caption": "Probability at the mask",
    "unknown": "not in its vocabulary",
    "rank": "rank {rank:,} of {size:,}",
    "several": "{n} masks: {pieces}",
}
ASK_RULE = (
    "A word of several pieces is filled left to right: p = p(piece 1) × p(piece 2 | piece 1) × …, "
    "with one mask for each piece. Only one-piece words have a rank: a longer word is a product "
    "over several masks and not comparable with them. Words with equal numbers of masks are "
    "compared above by relative probability."
)


def asked_title(asked: str, gap: int, n_gaps: int) -> Markup:
    """The word that was asked for, and the gap if there are several."""
    return join(word(asked), f" at mask {gap + 1}" if n_gaps > 1 else None)


# Several masks
JOINT_QUESTION = "Filling several masks jointly: do the answers change?"
JOINT_NEEDS = "Masks in the text: {n}. This needs 2 to {most}."
JOINT = {
    "alone": "Each mask alone",
    "together": "Left to right",
    "numbers": "joint {joint}, independent {apart}",
}
JOINT_RULE = (
    "Independent: the product of each mask’s probability while the others stay masked. Joint: "
    "p(word 1) × p(word 2 | word 1) × …, each mask seeing the words already filled in to its "
    "left; the best five of a beam search of width five, so a better filling may exist. One piece "
    "fills one mask. Words that differ from the independent answers are underlined."
)


def joint_finding(found: Sequence[MaskFillings]) -> Markup:
    """Which models change their words when the gaps know of each other."""
    changed = [model_name(f.model, f.label) for f in found if f.is_changed]
    if not changed:
        return el(
            "p",
            "No model changes its words when the masks are filled one after another.",
            class_="fold-finding",
        )
    verb = " changes its words" if len(changed) == 1 else " change their words"
    return el(
        "p",
        listed(changed),
        verb,
        " when each mask sees the ones filled before it.",
        class_="fold-finding",
    )


CONTRAST_TITLE = "Compare alternatives written in the text, [he|she]"
CONTRAST_HINT = (
    "Write alternatives into the text, for example “The nurse said that [he|she] was tired.”, and"
    " press Compare."
)
CONTRAST_TOO_MUCH = "Please write at most {alternatives} alternatives in at most {choices} places."
CONTRAST = {"detail": "p = {p} ({pieces}, {masks})", "unknown": "not in its vocabulary"}
CONTRAST_RULE = (
    "Bars: p(alternative) divided by the sum over the alternatives with the same number of masks, "
    "so they add up to 1 for each model and number of masks. p is the probability over the whole "
    "vocabulary; a longer alternative is filled left to right and its p is a product, which makes "
    "it smaller: alternatives with different numbers of masks are not compared."
)


def contrast_finding(found: Sequence[Contrast]) -> Markup:
    """Which alternative the models prefer, among those that take the same number of masks."""
    groups: dict[tuple[str, ...], list[Contrast]] = {}
    parts = [_unequal(one) for one in found if one.preferred is None]
    for one in found:
        if one.favourites:
            alike = tuple(one.scores[i].word.text for i in one.favourites)
            groups.setdefault(alike, []).append(one)
    for alternatives, who in groups.items():
        parts.append(_preference([word(one) for one in alternatives], who))
    sentence = [piece for part in parts for piece in ("; ", part)][1:]
    return el("p", *sentence, ".", class_="fold-finding")


def _preference(alternatives: Sequence[Markup], who: Sequence[Contrast]) -> Markup:
    """Say who prefers one alternative, or finds several equally likely to the digits printed."""
    names = listed(
        [
            join(model_name(one.model, one.label), f" ({probability(float(share))})")
            for one, share in ((one, np.nanmax(one.shares)) for one in who)
        ]
    )
    s = "s" if len(who) == 1 else ""
    if len(alternatives) == 1:
        return join(names, f" prefer{s} ", *alternatives)
    return join(names, f" find{s} ", listed(alternatives), " equally likely")


def _unequal(one: Contrast) -> Markup:
    """The number of masks of each alternative, and the likeliest of those that share one."""
    counts = [
        join(
            word(score.word.text),
            " is not in its vocabulary"
            if score.is_unknown
            else f" needs {masks(len(score.pieces))}",
        )
        for score in one.scores
    ]
    best = [
        join(_likeliest(one, places), f" among those of {masks(n)}") for n, places in one.equals
    ]
    likeliest = join(", the likeliest is ", listed(best)) if best else ", so they are not ranked"
    return join("for ", model_name(one.model, one.label), " ", listed(counts), likeliest)


def _likeliest(one: Contrast, places: Sequence[int]) -> Markup:
    """Name the first of these, with those whose share prints alike."""
    most = probability(one.shares[places[0]])
    alike = [i for i in places if probability(one.shares[i]) == most]
    return join(
        *(join(" or " if n else "", word(one.scores[i].word.text)) for n, i in enumerate(alike))
    )


def asked_equals(one: Contrast, gap: int, n_gaps: int) -> Markup | None:
    """The asked words of one gap compared where they take equally many masks; None if none do."""
    groups = [
        join(
            f"{n}-token words only: ",
            listed(
                [
                    join(word(one.scores[i].word.text), f" {probability(float(one.shares[i]))}")
                    for i in places
                ]
            ),
        )
        for n, places in one.equals
    ]
    if not groups:
        return None
    where = f" at mask {gap + 1}" if n_gaps > 1 else ""
    return note(
        model_name(one.model, one.label), f"{where}, relative probability, ", listed(groups)
    )


def masks(n: int) -> str:
    """A number of masks in words that fit it."""
    return "1 mask" if n == 1 else f"{n} masks"
