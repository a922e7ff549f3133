"""The sentences of the attention tab's fold of summaries."""

from collections.abc import Mapping

from explorer.analysis.attention.summary import Drawn
from explorer.ui.attention.words import ZOOM
from explorer.views.markup import (
    Markup,
    el,
    explained,
    finding,
    join,
    listed,
    model_name,
    note,
    word,
)

SUMMARY_QUESTION = "Attention summed over all layers: which words count?"
SUMMARY_LABEL = "Method"
SUMMARIES = {
    "mean": "mean",
    "rollout": "rollout",
    "value": "value norms",
    "gradient": "gradient × attention",
}
FORMULA = "Formula"
SUMMARY_FORMULAS = {
    "mean": (
        "mean = (1 / L·H) Σ a(l, h)",
        "The average over all layers and heads. It shows where heads attend, not what they carry.",
    ),
    "rollout": (
        "R = Â(L) · … · Â(2) · Â(1), with Â(l) = (mean over heads of a(l) + I) / 2",
        "How much of each input word reaches each position if attention alone moved information.\n"
        "I is the residual connection and each new layer multiplies from the left (Abnar and "
        "Zuidema 2020).",
    ),
    "value": (
        "w(i, j) = mean over l, h of a(i, j) · |W_O (W_V x(j) + b_V)|, rows scaled to sum to 1",
        "Attention weighted by the norm of what it carries: attending to a word with a near-zero "
        "value vector moves nothing (Kobayashi et al. 2020).",
    ),
    "gradient": (
        "g(i, j) = Σ over l of mean over h of max(0, a(i, j) · ∂y/∂a(i, j)), all cells sum to 1",
        "y is the logit of the model's top prediction at the first [MASK]. A cell is strong where "
        "more attention would raise that logit (after Chefer et al. 2021).",
    ),
}
SUMMARY = {
    "cell": "{query} from {key}: {value}",
    "hint": "Point at a cell, or move with the arrow keys.",
    "zoom": ZOOM,
    "added": "[CLS] and [SEP]",
    "addeds": {"hidden": "hidden", "shown": "shown"},
    "title": "{label}: {kind}",
}
NOTHING_DRAWN = "By {kind}, the chosen word attends to no other word in any model."
NO_MASK = "Mask a word first: this summary explains a predicted word."
PREDICTED = "for its top prediction, {token}"


def summary_finding(
    drawn: Mapping[str, Drawn | None], labels: Mapping[str, str], kind: str
) -> Markup:
    """For each model, what is no other word and its share, then the other word drawn on most."""
    found = {key: one for key, one in drawn.items() if one is not None}
    if not found:
        return note(NOTHING_DRAWN.format(kind=SUMMARIES[kind]))
    parts = [
        join("in ", model_name(key, labels[key]), ", ", _drawn(one)) for key, one in found.items()
    ]
    between = [piece for part in parts for piece in ("; ", part)][1:]
    query = next(iter(found.values())).query
    by = explained(f"By {SUMMARIES[kind]}, ", "rollout")
    return finding(by, "for ", word(query), ": ", *between, ".")


def _drawn(one: Drawn) -> Markup:
    apart = join(f"{one.apart_share:.0%} comes from ", listed(one.apart))
    if not one.best:
        even = ", and no other word stands out" if one.n_others > 1 else ""
        return join(apart, even)
    return join(apart, ", then most from ", word(one.best), f" ({one.share:.0%})")


def formula_html(kind: str) -> Markup:
    """Return what a summary means, and one click away its formula and the rest."""
    formula, meaning = SUMMARY_FORMULAS[kind]
    first, _, rest = meaning.partition("\n")
    return join(
        note(explained(first, "logit")),
        el(
            "details",
            el("summary", FORMULA),
            el("p", formula, class_="aw-formula"),
            el("p", rest) if rest else None,
            class_="note",
        ),
    )
