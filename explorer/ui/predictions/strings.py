"""Sentences and labels of the Predictions tab."""

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
from explorer.models.choice.family import member, parent_of
from explorer.models.specs import ModelSpec
from explorer.models.tokens import Word
from explorer.refusal import Sentence
from explorer.views.markup import (
    Markup,
    el,
    finding,
    join,
    listed,
    model_name,
    note,
    plain,
    semicolons,
    term,
    word,
)

LABEL = "Predictions"
QUESTION = "What does each model predict for [MASK], and how sure is it?"
NO_MASK = (
    "No word is masked yet: click a word of the text to mask it, or open “Surprisal: how well is "
    "every word predicted?” below."
)
NO_WORD = "The text has no word: write a sentence with [MASK] where a word is to be predicted."
NO_MODEL = "None of the models is available here; the cards below say why."
UNREADABLE = "{names} {read} half of this text or more as [UNK], so {their} answers are guesses. "
AGREE_ON = "The {models} models agree on {of} masks. The first {shown}:"
LINES = 3
"""Number of masks whose line is shown; the others are collapsed."""
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
    "shared": "In {lists}: {words}.",
    "shared_none": "No word is in {lists}.",
    "both_lists": "both lists",
    "all_lists": "all {n} lists",
    "scale": "Bars end at {max}.",
    "rule": "[MASK] hides a word, which each model predicts from both sides. Bold: in all lists; "
    "dots: other models that list it.\n"
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
    has_word: bool = True,
) -> Markup:
    """Return which models agree at the masks and which do not.

    Args:
        predictions: Each model's answers.
        labels: The models' names.
        unreadable: Names of models that read half of the text or more as [UNK].
        has_word: Whether the text has a word that could be masked.
    """
    if not predictions:
        return finding(NO_MODEL)
    n_masks = len(next(iter(predictions.values())).positions)
    if not n_masks:
        return finding(NO_MASK if has_word else NO_WORD)
    agreements = [agreement(predictions, mask) for mask in range(n_masks)]
    if n_masks == 1:
        return finding(_guessing(unreadable), _one_mask(agreements[0], labels))
    return _many_masks(agreements, labels, _guessing(unreadable))


def _guessing(names: Sequence[str]) -> str:
    if not names:
        return ""
    read, their = ("reads", "its") if len(names) == 1 else ("read", "their")
    return UNREADABLE.format(names=plain(listed(names)), read=read, their=their)


def _named(key: str, labels: Mapping[str, str]) -> Markup:
    return model_name(key, labels[key])


def _all_of(count: int) -> str:
    return "Both" if count == 2 else f"All {NUMBERS.get(count, count)}"


def _one_mask(result: Agreement, labels: Mapping[str, str]) -> Markup:
    """Return the models' answers at one mask, and the most confident model."""
    p = dict(zip(result.probabilities, side_by_side([*result.probabilities.values()]), strict=True))
    if len(p) == 1:
        (answer, (key,)), *_ = result.groups
        return join(_named(key, labels), " says ", word(answer), f" ({p[key]}).")
    if result.is_unanimous:
        lead = join(f"{_all_of(len(p))} answer ", word(result.groups[0][0]))
        return join(lead, _surest(result, p, labels, True), ".")
    if len(result.groups) == len(p):
        parts = [
            join(_named(key, labels), "" if i else " says", " ", word(answer), f" ({p[key]})")
            for i, (answer, (key,)) in enumerate(result.groups)
        ]
        return join(listed(parts), _surest(result, p, labels, False), ".")
    groups = semicolons(_camp(answer, keys, p, labels) for answer, keys in result.groups)
    return join(groups, _surest(result, p, labels, False), ".")


def _camp(
    answer: str, keys: tuple[str, ...], printed: Mapping[str, str], labels: Mapping[str, str]
) -> Markup:
    """Return the models that give one answer, each with its probability."""
    if len(keys) == 1:
        return join(_named(keys[0], labels), " says ", word(answer), f" ({printed[keys[0]]})")
    names = listed([join(_named(key, labels), f" ({printed[key]})") for key in keys])
    return join(names, " answer ", word(answer))


def _surest(
    result: Agreement, printed: Mapping[str, str], labels: Mapping[str, str], with_p: bool
) -> Markup:
    """Return the model with the largest probability, or those whose printed values tie.

    Args:
        result: The answers at one mask.
        printed: Each model's probability as it is printed.
        labels: The models' names.
        with_p: Whether to print the probability; False if it is beside the answer.
    """
    top = printed[max(result.probabilities, key=result.probabilities.__getitem__)]
    keys = [key for key, p in printed.items() if p == top]
    if len(keys) == len(printed):
        everyone = _all_of(len(printed)).lower()
        return join(
            f", equally confident ({top} each)" if with_p else f"; {everyone} are equally confident"
        )
    most = "more" if len(printed) == 2 else "most"
    verb = "is" if len(keys) == 1 else "are"
    each = f" ({top})" if len(keys) == 1 else f" ({top} each)"
    names = listed([_named(key, labels) for key in keys])
    return join("; ", names, f" {verb} {most} confident", each if with_p else "")


def _many_masks(results: Sequence[Agreement], labels: Mapping[str, str], before: str) -> Markup:
    """Return one numbered line per mask; those after the first few are collapsed."""
    lines = [join(f"{i}. ", _one_mask(result, labels)) for i, result in enumerate(results, 1)]
    same = sum(result.is_unanimous for result in results)
    of = f"{same} of {len(results)}" if same else f"none of the {len(results)}"
    n_models = len(results[0].probabilities)
    top = (
        AGREE_ON.format(models=NUMBERS.get(n_models, n_models), of=of, shown=NUMBERS[LINES])
        if n_models > 1 and len(results) > LINES
        else ""
    )
    visible = [
        el("span", line, " ", class_="line") for line in (before + top, *lines[:LINES]) if line
    ]
    message = finding(*visible)
    if len(results) <= LINES:
        return message
    rest = lines[LINES:]
    to = "and" if len(rest) == 2 else "to"
    title = f"Mask {len(results)}" if len(rest) == 1 else f"Masks {LINES + 1} {to} {len(results)}"
    details = el(
        "details", el("summary", title, " "), *(el("p", line, " ") for line in rest), class_="lines"
    )
    return join(message, details)


def origin_note(
    specs: Sequence[ModelSpec], predictions: Mapping[str, MaskPredictions]
) -> Markup | None:
    """Return which of the models that agree are, or were made from, another that is shown."""
    agreeing = _related(specs, predictions)
    first = {spec.name: spec for spec in reversed(specs)}
    twins = [
        join(
            *(model_name(spec.key, spec.label), " is the same model as "),
            model_name(first[spec.name].key, first[spec.name].label),
        )
        for spec in specs
        if spec.key in agreeing and spec.key != first[spec.name].key
    ]
    origins = [
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
        if spec.key in agreeing and (parent := member(parent_of(spec), specs))
    ]
    said = twins + (origins if any(spec.fitted_to for spec in specs) else [])
    if not said:
        return None
    return note(listed(said), ", so their agreement is not independent evidence.")


def _related(specs: Sequence[ModelSpec], predictions: Mapping[str, MaskPredictions]) -> set[str]:
    """Return the models that share a first answer with their parent or its other child.

    A model in two columns shares its own.
    """
    parents = {spec.key: member(parent_of(spec), specs) or spec for spec in specs}
    roots = {key: parent.name for key, parent in parents.items()}
    n_masks = min((len(result.positions) for result in predictions.values()), default=0)
    related: set[str] = set()
    for mask in range(n_masks):
        for _, keys in agreement(predictions, mask).groups:
            for pair in combinations(keys, 2):
                related |= set(pair) if roots[pair[0]] == roots[pair[1]] else set()
    return related


# Every word masked in turn
WORDS_QUESTION = "Surprisal: how well is every word predicted?"
STOP = "Stop"
STOPPED = note("Stopped; finished words are kept.")
WORDS_CANVAS = {
    "rule": "Each word is masked in turn; stronger colour: higher surprisal (−ln p, nats); "
    "≠: first in some models only.\n"
    "A word of several pieces is filled left to right: its probability is the product over the "
    "pieces, and it has no rank.",
    "how": "Choose a word for the predictions.",
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
    """Return the progress; at the end each model's words ranked first and mean surprisal."""
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
    ranked = set.intersection(
        *(
            {score.word for score in scores_of_model if score.rank}
            for scores_of_model in shared.values()
        )
    )
    parts = []
    for key, model_scores in shared.items():
        firsts = sum(score.is_first for score in model_scores if score.word in ranked)
        ranks = (
            f" ranks {firsts} of {counted(len(ranked), 'word')} first, with" if ranked else " has"
        )
        mean = f" a mean surprisal of {mean_surprisal(model_scores):.2f} "
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
    """Return on which words the figures are based, if not on all of them."""
    n_words = len({score.word for model_scores in scores.values() for score in model_scores})
    n_shared = len(next(iter(shared.values())))
    sentence = f" Surprisal is over the {n_shared} of {n_words} words that all models can read."
    message = sentence if n_shared < n_words else ""
    if not ranked or len(ranked) == n_shared:
        return message
    has = "only one has" if len(ranked) == 1 else f"the {len(ranked)} have"
    return f"{message} A word of several pieces has no rank: {has} one piece in every model."


# Ask for a word
ASK_QUESTION = "Your own words: how likely is each?"
ASK_TITLE = "At a [MASK] of the text"
ASK_LABEL = "Words or phrases, separated by commas"
ASK_PLACEHOLDER = "paris, new york"
ASK_BUTTON = "Ask"
ASK_HINT = "Type a word or a phrase; several are separated by commas."
ASK_TOO_MUCH = Sentence(
    "too-many-words-asked",
    "Please ask for at most {words} words at once, each of at most {letters} letters.",
)
ASK_BRACKETS = Sentence("word-with-brackets", "A word cannot contain square brackets.")
ASK_TABLE = {
    "head": "Word",
    "caption": "Probability at the mask",
    "unknown": "not in its vocabulary",
    "rank": "rank {rank:,} of {size:,}",
    "several": "{n} masks: {pieces}",
}
FIRST_MASKS = "The first {n} of {all} masks are answered."
ASK_RULE = (
    "A word of several pieces is filled left to right: p = p(piece 1) × p(piece 2 | piece 1) × …, "
    "with one mask for each piece. Only one-piece words have a rank: a longer word is a product "
    "over several masks and not comparable with them. Words with equal numbers of masks are "
    "compared above by relative probability."
)


def asked_title(typed: str, gap: int, n_gaps: int) -> Markup:
    """Return the typed word, and its mask if there are several."""
    return join(word(typed), f" at mask {gap + 1}" if n_gaps > 1 else None)


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


def joint_finding(fillings: Sequence[MaskFillings]) -> Markup:
    """Return which models change their words if masks are filled one after another."""
    changed = [model_name(f.model, f.label) for f in fillings if f.is_changed]
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
CONTRAST_TOO_MUCH = Sentence(
    "too-many-alternatives",
    "Please write at most {alternatives} alternatives in at most {choices} places.",
)
CONTRAST = {"detail": "p = {p} ({pieces}, {masks})", "unknown": "not in its vocabulary"}
CONTRAST_RULE = (
    "Bars: p(alternative) divided by the sum over the alternatives with the same number of masks, "
    "so they add up to 1 for each model and number of masks. p is the probability over the whole "
    "vocabulary; a longer alternative is filled left to right and its p is a product, which makes "
    "it smaller: alternatives with different numbers of masks are not compared."
)


def contrast_finding(contrasts: Sequence[Contrast]) -> Markup:
    """Return the preferred alternative per model, among those with equally many masks."""
    groups: dict[tuple[str, ...], list[Contrast]] = {}
    parts = [_unequal(result) for result in contrasts if result.preferred is None]
    for result in contrasts:
        if result.favourites:
            tied = tuple(result.scores[i].word.text for i in result.favourites)
            groups.setdefault(tied, []).append(result)
    for alternatives, results in groups.items():
        parts.append(_preference([word(text) for text in alternatives], results))
    return el("p", semicolons(parts), ".", class_="fold-finding")


def _preference(alternatives: Sequence[Markup], results: Sequence[Contrast]) -> Markup:
    """Return the models that prefer an alternative, or find several equally likely."""
    names = listed(
        [
            join(model_name(result.model, result.label), f" ({probability(float(share))})")
            for result, share in ((result, np.nanmax(result.shares)) for result in results)
        ]
    )
    suffix = "s" if len(results) == 1 else ""
    if len(alternatives) == 1:
        return join(names, f" prefer{suffix} ", *alternatives)
    return join(names, f" find{suffix} ", listed(alternatives), " equally likely")


def _unequal(result: Contrast) -> Markup:
    """Return each alternative's number of masks, and the likeliest among equal numbers."""
    counts = [
        join(
            word(score.word.text),
            " is not in its vocabulary"
            if score.is_unknown
            else f" needs {masks(len(score.pieces))}",
        )
        for score in result.scores
    ]
    best = [
        join(_likeliest(result, places), f" among those of {masks(n)}")
        for n, places in result.equals
    ]
    likeliest = join(", the likeliest is ", listed(best)) if best else ", so they are not ranked"
    return join("for ", model_name(result.model, result.label), " ", listed(counts), likeliest)


def _likeliest(result: Contrast, places: Sequence[int]) -> Markup:
    """Return the first alternative of ``places``, with those whose printed share ties."""
    largest = probability(result.shares[places[0]])
    tied = [i for i in places if probability(result.shares[i]) == largest]
    return join(
        *(join(" or " if n else "", word(result.scores[i].word.text)) for n, i in enumerate(tied))
    )


def asked_equals(contrast: Contrast, gap: int, n_gaps: int) -> Markup | None:
    """Compare the typed words at one mask that take equally many masks; None if none do."""
    groups = [
        join(
            f"{n}-token words only: ",
            listed(
                [
                    join(
                        word(contrast.scores[i].word.text),
                        f" {probability(float(contrast.shares[i]))}",
                    )
                    for i in places
                ]
            ),
        )
        for n, places in contrast.equals
    ]
    if not groups:
        return None
    where = f" at mask {gap + 1}" if n_gaps > 1 else ""
    return note(
        model_name(contrast.model, contrast.label),
        f"{where}, relative probability, ",
        listed(groups),
    )


def masks(n: int) -> str:
    """Return a number of masks with its noun."""
    return "1 mask" if n == 1 else f"{n} masks"
