"""Sentences about words compared in one place: the contrast's, and those asked for."""

from collections.abc import Sequence

import numpy as np

from explorer.analysis.digits import probability
from explorer.analysis.predictions.contrast import Contrast
from explorer.views.markup import Markup, el, join, listed, model_name, note, word

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
