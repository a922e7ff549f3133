"""How each model shares its belief among words of equally many masks, as bars."""

from collections.abc import Mapping, Sequence
from math import isfinite

from explorer.analysis.digits import probability
from explorer.analysis.predictions.contrast import Contrast
from explorer.models.tokens import Word
from explorer.views.markup import Markup, el
from explorer.views.numbers import Numbers
from explorer.views.predictions.every_word import placed


def contrast_html(contrasts: Sequence[Contrast], texts: Mapping[str, str]) -> Markup:
    """One block per alternative, one bar per model; the length is the share among equals."""
    n_alternatives = len(contrasts[0].scores)
    blocks = [_alternative(contrasts, place, texts) for place in range(n_alternatives)]
    return el("div", *blocks, class_="pr-contrast")


def contrast_numbers(
    contrasts: Sequence[Contrast], stretches: Sequence[tuple[str, Word]]
) -> Numbers:
    """Every alternative's share among those of as many masks, and its own probability.

    ``stretches`` has the text with each alternative in its place, and where it stands there.
    """
    columns = ("model", "alternative", "pieces", "share_among_equals", "probability")
    rows = [
        [found.label, score.word.text, " ".join(score.pieces), share, score.probability]
        for found in contrasts
        for score, share in zip(found.scores, found.shares, strict=True)
        if not score.is_unknown
    ]
    return Numbers(columns, rows, constants={"STRETCHES": placed(stretches)})


def _alternative(contrasts: Sequence[Contrast], place: int, texts: Mapping[str, str]) -> Markup:
    word = contrasts[0].scores[place].word.text
    rows = [_bar(found, place, texts) for found in contrasts]
    return el("section", el("h3", word), *rows, class_="pr-alternative")


def _bar(found: Contrast, place: int, texts: Mapping[str, str]) -> Markup:
    score, share = found.scores[place], float(found.shares[place])
    detail = (
        texts["unknown"]
        if score.is_unknown
        else texts["detail"].format(
            p=probability(score.probability),
            pieces=" + ".join(score.pieces),
            masks="1 mask" if len(score.pieces) == 1 else f"{len(score.pieces)} masks",
        )
    )
    return el(
        "div",
        el("span", found.label, class_="model-name", data_model=found.model),
        el(
            "span",
            el("i", style=f"width:{100 * share:.2f}%") if isfinite(share) else None,
            class_="pr-share",
        ),
        el("strong", probability(share) if isfinite(share) else "–"),
        el("span", detail, class_="pr-detail"),
        class_="pr-contrast-row" + (" preferred" if found.favourites == (place,) else ""),
        data_model=found.model,
    )
