"""Sentences of the folds of predictions: every word masked in turn, words asked for, many masks."""

from collections.abc import Collection, Mapping, Sequence

from explorer.analysis.digits import counted
from explorer.analysis.predictions.every_word import SpanScore, mean_surprisal, shared_scores
from explorer.analysis.predictions.joint import MaskFillings
from explorer.models.tokens import Word
from explorer.views.markup import Markup, el, join, listed, model_name, note, term, word

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
