"""Sentences of the predictions tab."""

from collections import Counter
from collections.abc import Mapping, Sequence

from explorer.analysis.predictions.every_word import SpanScore, mean_surprisal
from explorer.analysis.predictions.joint import MaskFillings
from explorer.analysis.predictions.masks import Agreement, MaskPredictions, agreement
from explorer.models.kinds import label_of
from explorer.models.specs import ModelSpec
from explorer.views.markup import (
    Markup,
    el,
    finding,
    join,
    listed,
    model_name,
    note,
    term,
    word,
)

LABEL = "Predictions"
QUESTION = "What does each model put in the gap, and how sure is it?"
NO_MASK = (
    "No word is masked yet: click a word of the text to hide it, "
    "or open “How well is every word predicted?” below."
)
NO_MODEL = "None of the models can be run here; the cards below say why."
BAD_TOP_K = "top_k is a whole number from {low} to {high}."
NO_MASK_TO_PREDICT = "There is no [MASK] in the text: put one where a word is to be predicted."
NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
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
    "scale": "Full bar: {max}.",
    "rule": "Probabilities are shares of the whole vocabulary; all bars of a gap have one scale. "
    "A dot beside a word names another model that lists it too; a word that starts with … "
    "continues the word before.",
    "mask": "Gap {i} of {n}",
    "yours": "your word {word}: {p}, rank {rank} of {size}",
    "yours_pieces": "your word {word} is {n} pieces here; this gap takes one, so it has no number",
    "yours_unknown": "your word {word} has no piece of its own in this vocabulary",
    "yours_row": "the word you hid",
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
    return "Both" if count == 2 else f"All {NUMBERS.get(count, count)}"


def _one_mask(found: Agreement, labels: Mapping[str, str]) -> Markup:
    p = found.probabilities
    if len(p) == 1:
        (answer, (key,)), *_ = found.groups
        return join(_named(key, labels), " answers ", word(answer), f", {p[key]:.3f}.")
    if found.is_unanimous:
        least = min(p, key=p.__getitem__)
        answer = found.groups[0][0]
        return join(
            f"{_all_of(len(p))} answer ",
            word(answer),
            "; ",
            _named(least, labels),
            f" is least sure, {p[least]:.3f}.",
        )
    if len(found.groups) == len(p):
        parts = [
            join(_named(key, labels), " says ", word(answer), f" ({p[key]:.3f})")
            for answer, (key,) in found.groups
        ]
        number = NUMBERS.get(len(p), len(p))
        return join(f"{number} models, {number} answers: ".capitalize(), listed(parts), ".")
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
        shown = listed([word(answer) for answer in together[:5]])
        return join(f"{who} on {len(together)} of {len(found)} gaps: ", shown, ".")
    return join(f"{who} on none of the {len(found)} gaps", _closest_pair(found, labels), ".")


def _closest_pair(found: list[Agreement], labels: Mapping[str, str]) -> Markup | None:
    """The models that, though not all, give the same first answer most often."""
    pairs = Counter(f.groups[0][1] for f in found if len(f.groups[0][1]) > 1)
    if not pairs:
        return None
    (pair, count), *_ = pairs.most_common()
    answers = [word(f.groups[0][0]) for f in found if f.groups[0][1] == pair]
    names = listed([_named(key, labels) for key in pair])
    return join("; ", names, f" agree on {count}: ", listed(answers[:5]))


def origin_note(specs: Sequence[ModelSpec]) -> Markup | None:
    """Which of a family's models were made from another one: their agreement is no accident."""
    made = [
        f"{spec.label} was distilled from {spec.prefix}{label_of(spec.kind.teacher)}"
        if spec.kind.teacher
        else f"{spec.label}'s layer began as one of {spec.prefix}{label_of(spec.fitted_to)}'s and "
        "was fitted to them and to its guesses"
        for spec in specs
        if spec.kind.teacher or spec.fitted_to
    ]
    if not any(spec.fitted_to for spec in specs):
        return None
    return note(listed(made), ": where these agree, they do not agree on their own.")


# Every word masked in turn

WORDS_QUESTION = "How well is every word predicted?"
STOP = "Stop"
STOPPED = note("Stopped; what was done so far stays.")
WORDS_CANVAS = {
    "rule": "Each word is hidden whole and the rest of the text is kept. A word of several pieces "
    "is filled from left to right: its probability is the product over the pieces. A stronger "
    "colour means more surprising (−ln p, nats). ≠ marks words that one model gets right at first "
    "guess and another does not. Choose a word to see what the models say instead.",
    "nothing": "not in its vocabulary",
    "surprise": "{nats} nats",
    "rank": "rank {rank}",
    "instead": "says {answers}",
    "disagree": "the models disagree",
    "head": ["Model", "p(word)", "Surprise", "Rank", "Pieces", "Likeliest in its place"],
    "strip": "Words of the text, each with every model’s probability of it",
}


def words_finding(
    scores: Mapping[str, Sequence[SpanScore]],
    labels: Mapping[str, str],
    done: Mapping[str, tuple[int, int]],
) -> Markup:
    """How far the strip is; when it is complete, who finds how many words at first guess."""
    if any(count < total for count, total in done.values()):
        parts = [
            join(model_name(key, labels[key]), f" {count} of {total} words")
            for key, (count, total) in done.items()
        ]
        return note(listed(parts), "…")
    if not any(scores.values()):
        return note("There is no whole word in this text that could be hidden.")
    parts = [
        join(
            model_name(key, labels[key]),
            f" finds {sum(s.is_first for s in found)} of "
            f"{len(found)} words at first guess ({mean_surprisal(found):.2f} ",
            "nats" if i else term("nats"),
            " per word)",
        )
        for i, (key, found) in enumerate(scores.items())
    ]
    return el("p", listed(parts), ".", class_="fold-finding")


# Ask for a word

ASK_QUESTION = "How likely are words of my own, and which does each model prefer?"
ASK_TITLE = "In a gap of the text"
ASK_LABEL = "Words or phrases, separated by commas"
ASK_PLACEHOLDER = "paris, new york"
ASK_BUTTON = "Ask"
ASK_HINT = "Type a word or a phrase; several are separated by commas."
ASK_TOO_MUCH = "Please ask for at most {words} words at once, of at most {letters} letters each."
ASK_BRACKETS = "A word to ask for has no square brackets in it."
ASK_TABLE = {
    "head": "Word",
    "caption": "Probability in the gap",
    "unknown": "not in its vocabulary",
    "rank": "rank {rank:,} of {size:,}",
    "several": "{n} masks: {pieces}",
}
ASK_RULE = (
    "A word of several pieces is filled from left to right: p = p(piece 1) × p(piece 2 | piece 1) "
    "× …; the gap then becomes one mask for each piece. Only a word of one piece has a rank: "
    "longer ones are products over more masks and are not comparable with it. Words that take "
    "equally many masks are: above are their shares among each other."
)


def asked_title(asked: str, gap: int, n_gaps: int) -> Markup:
    """The word that was asked for, and the gap if there are several."""
    return join(word(asked), f" in gap {gap + 1}" if n_gaps > 1 else None)


# Several masks

JOINT_QUESTION = "What if the gaps are filled together?"
JOINT_NEEDS = "Gaps in the text: {n}. This question needs 2 to {most}."
JOINT = {
    "alone": "Each gap on its own",
    "together": "From left to right",
    "numbers": "joint {joint}, independent {apart}",
}
JOINT_RULE = (
    "Independent: the product of each gap’s probability while the other gaps stay hidden. "
    "Joint: p(word 1) × p(word 2 | word 1) × …, each gap seeing the words already filled to its "
    "left; the five best found by a beam of five, so a better filling may exist. One piece fills "
    "one gap. Words that differ from the lone answers are underlined."
)


def joint_finding(found: Sequence[MaskFillings]) -> Markup:
    """Which models change their words when the gaps know of each other."""
    changed = [model_name(f.model, f.label) for f in found if f.is_changed]
    if not changed:
        return el(
            "p",
            "No model changes its words when the gaps are filled one after the other.",
            class_="fold-finding",
        )
    verb = " changes its words" if len(changed) == 1 else " change their words"
    return el(
        "p", listed(changed), verb, " when each gap sees the ones before it.", class_="fold-finding"
    )
