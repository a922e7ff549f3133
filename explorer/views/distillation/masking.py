"""Simulator of dynamic masking: a text in one round, and the shares of all rounds."""

from explorer.analysis.distillation.losses import (
    KEPT,
    LABELS,
    LEFT,
    MASKED,
    OUTCOME_SHARES,
    SWAPPED,
    MaskedText,
    MaskingSimulation,
)
from explorer.analysis.records import Records
from explorer.views.markup import Markup, el, join, note, table

LIMITS = {
    MASKED: 15 * OUTCOME_SHARES[0],
    SWAPPED: 15 * OUTCOME_SHARES[1],
    KEPT: 15 * OUTCOME_SHARES[2],
    LEFT: 85.0,
}
"""Expected share of each fate, in percent of all tokens."""
CLASSES = {MASKED: "dm-masked", SWAPPED: "dm-swapped", KEPT: "dm-kept"}


def masking_html(masked: MaskedText, sentence: str) -> Markup:
    """Draw the first round in full, and the shares of all rounds with the expected ones.

    ``sentence`` explains the marks.
    """
    simulation = masked.simulation
    fates = zip(simulation.outcomes, masked.replacements, strict=True)
    words = [
        el("span", piece, class_="dm-own") if is_own else _word(piece, *next(fates))
        for piece, is_own in masked.pieces
    ]
    text = join(*(part for word in words for part in (word, " ")))
    return el("div", el("p", text, class_="dm-text"), note(sentence), _counters(simulation))


def masking_records(masked: MaskedText) -> Records:
    """Return the fates over all rounds."""
    simulation = masked.simulation
    rows = [
        [LABELS[fate], simulation.counts[fate], simulation.shares[fate], limit / 100]
        for fate, limit in LIMITS.items()
    ]
    state = {"rounds": simulation.rounds, "seed": simulation.seed}
    constants = {name.upper(): value for name, value in state.items()}
    constants |= {"TOKENS": len(simulation.outcomes), "POOL": masked.n_candidates}
    header = {"models": None, "state": state}
    columns = ("token", "count", "share_of_all_tokens", "tends_to")
    return Records(columns, rows, header, constants)


def _word(piece: str, outcome: int, replacement: str) -> Markup:
    outcome = int(outcome)
    if outcome == LEFT:
        return el("span", piece)
    text = {MASKED: "[MASK]", SWAPPED: replacement, KEPT: piece}[outcome]
    return el("span", text, el("small", f"{LABELS[outcome]}: {piece}"), class_=CLASSES[outcome])


def _counters(simulation: MaskingSimulation) -> Markup:
    rows: list[list[str | Markup]] = [
        [
            LABELS[fate],
            f"{simulation.counts[fate]:,}",
            f"{simulation.shares[fate]:.3%}",
            f"{limit:.1f}%",
        ]
        for fate, limit in LIMITS.items()
    ]
    rounds = "1 round" if simulation.rounds == 1 else f"{simulation.rounds:,} rounds"
    caption = f"{rounds}, {simulation.counts.sum():,} tokens seen, seed {simulation.seed}"
    return table(["token", "count", "share of all tokens", "tends to"], rows, caption)
