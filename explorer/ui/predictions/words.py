"""Sentences of the predictions tab."""

from collections import Counter
from collections.abc import Mapping, Sequence

from explorer.analysis.predictions.every_word import SpanScore, mean_surprisal, shared_scores
from explorer.analysis.predictions.joint import MaskFillings
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
    "Perplexity n: like choosing among n equally likely words. Words in all lists are bold; a dot "
    "marks the one other model that also lists a word; a word that starts with … continues the "
    "word before.",
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
        shown = listed([word(answer) for answer in together[:5]])
        return join(f"{who} on {len(together)} of {len(found)} masks: ", shown, ".")
    return join(f"{who} on none of the {len(found)} masks", _closest_pair(found, labels), ".")


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
    """Which of these models were made from another of them: their agreement is no accident."""
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
        if (parent := parent_of(spec)) in specs and parent
    ]
    if not made or not any(spec.fitted_to for spec in specs):
        return None
    return note(listed(made), "; so their agreement is not independent evidence.")


# Every word masked in turn

WORDS_QUESTION = "Surprisal: how well is every word predicted?"
STOP = "Stop"
STOPPED = note("Stopped; finished words are kept.")
WORDS_CANVAS = {
    "rule": "Each word is masked whole, the rest of the text is kept. A word of several pieces is "
    "filled left to right: its probability is the product over the pieces. Stronger colour = "
    "higher surprisal (−ln p, nats). ≠ marks words that one model ranks first and another does "
    "not. Choose a word to see what the models predict instead.",
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
            join(model_name(key, labels[key]), f" {count} of {total} words")
            for key, (count, total) in done.items()
        ]
        return note(listed(parts), "…")
    if not any(scores.values()):
        return note("No whole word in this text can be masked.")
    shared, n_words = (
        shared_scores(scores),
        len({s.word for found in scores.values() for s in found}),
    )
    n_shared = len(next(iter(shared.values())))
    if not n_shared:
        return note("No word in this text can be read by all models: nothing to compare.")
    parts = [
        join(
            model_name(key, labels[key]),
            f" ranks {sum(s.is_first for s in found)} of "
            f"{n_shared} words first (mean surprisal {mean_surprisal(found):.2f} ",
            "nats" if i else term("nats"),
            ")",
        )
        for i, (key, found) in enumerate(shared.items())
    ]
    left = f" Counted: the {n_shared} of {n_words} words that all models can read."
    return el("p", listed(parts), ".", left if n_shared < n_words else None, class_="fold-finding")


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
