"""Sentences about words compared in one place: the contrast's, and those asked for."""

from collections.abc import Sequence

import numpy as np

from explorer.analysis.predictions.contrast import Contrast
from explorer.views.markup import Markup, el, join, listed, model_name, note, word

CONTRAST_TITLE = "Compare alternatives written in the text, [he|she]"
CONTRAST_HINT = (
    "Write the alternatives into the text, separated by a bar, for example “The nurse said that "
    "[he|she] was tired.”, and press Compare."
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
    groups: dict[str, list[Contrast]] = {}
    parts = [_unequal(one) for one in found if one.preferred is None]
    for one in found:
        if one.preferred is not None:
            groups.setdefault(one.scores[one.preferred].word.text, []).append(one)
    for alternative, who in groups.items():
        names = listed(
            [
                join(model_name(one.model, one.label), f" ({float(np.nanmax(one.shares)):.3f})")
                for one in who
            ]
        )
        parts.append(join(names, " prefers " if len(who) == 1 else " prefer ", word(alternative)))
    sentence = [piece for part in parts for piece in ("; ", part)][1:]
    return el("p", *sentence, ".", class_="fold-finding")


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
        join(word(one.scores[places[0]].word.text), f" among those of {masks(n)}")
        for n, places in one.equals
    ]
    likeliest = join(", the likeliest is ", listed(best)) if best else ", so they are not ranked"
    return join("for ", model_name(one.model, one.label), " ", listed(counts), likeliest)


def asked_equals(one: Contrast, gap: int, n_gaps: int) -> Markup | None:
    """The asked words of one gap compared where they take equally many masks; None if none do."""
    groups = [
        join(
            f"{n}-token words only: ",
            listed(
                [
                    join(word(one.scores[i].word.text), f" {float(one.shares[i]):.3f}")
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
