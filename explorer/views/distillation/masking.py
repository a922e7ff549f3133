"""One round of hiding written over the text, and the counters over all rounds."""

from collections.abc import Sequence

from explorer.analysis.distillation.masking import (
    FATES,
    KEPT,
    LABELS,
    LEFT,
    MASKED,
    SWAPPED,
    MaskingSimulation,
)
from explorer.views.markup import Markup, el, join, note, table
from explorer.views.numbers import Numbers

LIMITS = {MASKED: 15 * FATES[0], SWAPPED: 15 * FATES[1], KEPT: 15 * FATES[2], LEFT: 85.0}
"""Of all tokens in percent: what the shares tend to."""
CLASSES = {MASKED: "dm-masked", SWAPPED: "dm-swapped", KEPT: "dm-kept"}


def masking_html(
    found: MaskingSimulation,
    pieces: Sequence[tuple[str, bool]],
    swapped: Sequence[str],
    sentence: str,
) -> Markup:
    """The first round in full and the shares of all rounds beside what they tend to.

    Args:
        found: The simulation.
        pieces: The tokens of the text as a reader writes them, and which are the reader's own
            masks, of which nothing was drawn.
        swapped: For each of the other tokens the random piece, where one was put in.
        sentence: What the marks mean.
    """
    fates = zip(found.fate, swapped, strict=True)
    words = [
        el("span", piece, class_="dm-own") if is_own else _word(piece, *next(fates))
        for piece, is_own in pieces
    ]
    text = join(*(part for word in words for part in (word, " ")))
    return el("div", el("p", text, class_="dm-text"), note(sentence), _counters(found))


def masking_numbers(found: MaskingSimulation, pool: int) -> Numbers:
    """What became of the tokens over all rounds; a swapped one became one of ``pool`` pieces."""
    rows = [
        [LABELS[fate], found.counts[fate], found.shares[fate], limit / 100]
        for fate, limit in LIMITS.items()
    ]
    drawn = {"rounds": found.rounds, "seed": found.seed}
    constants = {name.upper(): value for name, value in drawn.items()}
    constants |= {"TOKENS": len(found.fate), "POOL": pool}
    said = {"models": None, "state": drawn}
    columns = ("token", "count", "share_of_all_tokens", "tends_to")
    return Numbers(columns, rows, said, constants)


def _word(piece: str, fate: int, other: str) -> Markup:
    fate = int(fate)
    if fate == LEFT:
        return el("span", piece)
    shown = {MASKED: "[MASK]", SWAPPED: other, KEPT: piece}[fate]
    return el("span", shown, el("small", f"{LABELS[fate]}: {piece}"), class_=CLASSES[fate])


def _counters(found: MaskingSimulation) -> Markup:
    rows: list[list[str | Markup]] = [
        [
            LABELS[fate],
            f"{found.counts[fate]:,}",
            f"{found.shares[fate]:.3%}",
            f"{limit:.1f}%",
        ]
        for fate, limit in LIMITS.items()
    ]
    rounds = "1 round" if found.rounds == 1 else f"{found.rounds:,} rounds"
    caption = f"{rounds}, {found.counts.sum():,} tokens seen, seed {found.seed}"
    return table(["token", "count", "share of all tokens", "tends to"], rows, caption)
