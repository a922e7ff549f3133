"""The sentences of the attention tab's fold of summaries."""

from collections.abc import Mapping

from explorer.analysis.attention.summary import Drawn
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

SUMMARY_QUESTION = "What does all of a model's attention add up to?"
SUMMARY_LABEL = "Sum it up by"
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
        "The average over all layers and heads. It shows where heads point, not what they carry.",
    ),
    "rollout": (
        "R = Â(L) · … · Â(2) · Â(1), with Â(l) = (mean over heads of a(l) + I) / 2",
        "How much of each input word reaches each position if attention alone moves information; "
        "I is the residual connection and a new layer multiplies from the left "
        "(Abnar and Zuidema 2020).",
    ),
    "value": (
        "w(i, j) = mean over l, h of a(i, j) · |W_O (W_V x(j) + b_V)|, rows scaled to sum to 1",
        "Attention times the length of what it carries: looking at a word with an empty value "
        "moves nothing (Kobayashi et al. 2020).",
    ),
    "gradient": (
        "g(i, j) = Σ over l of mean over h of max(0, a(i, j) · ∂y/∂a(i, j)), all cells sum to 1",
        "y is the logit of the model's first choice at the first [MASK]. A cell is strong where "
        "more attention would raise that logit (after Chefer et al. 2021).",
    ),
}
SUMMARY = {
    "cell": "{query} from {key}: {value}",
    "hint": "Point at a cell, or walk with the arrow keys.",
    "title": "{label}: {kind}",
}
NOTHING_DRAWN = "By {kind}, the word looked from draws on nothing in any model."
NO_MASK = "Mask a word first: this summary explains a predicted word."
PREDICTED = "for its first choice, {token}"


def summary_finding(
    drawn: Mapping[str, Drawn | None], labels: Mapping[str, str], kind: str
) -> Markup:
    """For each model, what is no other word and its share, then the other word drawn on most."""
    found = {key: one for key, one in drawn.items() if one is not None}
    if not found:
        return note(NOTHING_DRAWN.format(kind=SUMMARIES[kind]))
    parts = [join(model_name(key, labels[key]), ": ", _drawn(one)) for key, one in found.items()]
    between = [piece for part in parts for piece in ("; ", part)][1:]
    query = next(iter(found.values())).query
    by = explained(f"By {SUMMARIES[kind]}, ", "rollout")
    return finding(by, word(query), " draws on, in ", *between, ".")


def _drawn(one: Drawn) -> Markup:
    apart = join(f"{one.apart_share:.0%} on ", listed(one.apart))
    if not one.best:
        return join(apart, ", and on no other word more than on the next")
    return join(apart, ", then most on ", word(one.best), f" ({one.share:.0%})")


def formula_html(kind: str) -> Markup:
    """The formula of a summary, one click away, and what it means."""
    formula, meaning = SUMMARY_FORMULAS[kind]
    return join(
        note(explained(meaning, "logit")),
        el("details", el("summary", FORMULA), el("p", formula, class_="aw-formula"), class_="note"),
    )
