"""A sentence pair in three orders: one bar for each, a column for each model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.analysis.digits import percent
from explorer.analysis.tasks.objectives import OBJECTIVES, CrossTest
from explorer.analysis.tasks.pairs import ORDERS, PairOrders, SentencePair, Skill
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, el, join, model_name, note, plain_card, table
from explorer.views.numbers import NOT_RUN, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class PairColumn:
    """What stands below one model's name."""

    spec: ModelSpec
    orders: PairOrders | None
    """None where there is no head to ask."""
    said: str
    """How good the head is, or why there is none to ask."""


def pair_orders_html(
    pair: SentencePair, columns: Sequence[PairColumn], texts: Mapping[str, str]
) -> Markup:
    """The three sentences by their letters, then every model's bars or its card."""
    sentences = zip("ABC", (pair.first, pair.second, pair.stranger), strict=True)
    legend = [
        el("div", el("dt", letter), el("dd", sentence, el("small", texts[letter])))
        for letter, sentence in sentences
    ]
    return join(
        el("dl", *legend, class_="tp-legend"),
        el("div", *(_column(column, texts) for column in columns), class_="columns tp"),
    )


def pair_orders_numbers(pair: SentencePair, columns: Sequence[PairColumn]) -> Numbers:
    """Every bar; the text is the pair's, which may be the example's."""
    pairs = {order: pair.text(order) for order in ORDERS}
    asked = {c.spec.label: c.orders.yes for c in columns if c.orders is not None}
    rows = [
        [label, order, pairs[order], yes[place]]
        for label, yes in asked.items()
        for place, order in enumerate(ORDERS)
    ]
    said = {"text": pairs[ORDERS[0]]}
    constants = {"PAIRS": pairs, "ASKED": list(asked)}
    return Numbers(("model", "order", "pair", "probability_in_order"), rows, said, constants)


def _column(column: PairColumn, texts: Mapping[str, str]) -> Markup:
    spec = column.spec
    if column.orders is None:
        return plain_card(spec.label, column.said, spec.key)
    objective = spec.kind.pair.objective if spec.kind.pair else ""
    rows = [
        _bar(texts[order], float(yes)) for order, yes in zip(ORDERS, column.orders.yes, strict=True)
    ]
    return el(
        "section",
        el("header", el("h3", model_name(spec.key, spec.label)), el("p", texts[objective])),
        el("ol", *rows),
        note(column.said),
        class_="tp-column",
        data_model=spec.key,
    )


def _bar(label: str, yes: float) -> Markup:
    """One probability of yes; the line across the track stands at one half."""
    return el(
        "li",
        el("span", label, class_="tp-order"),
        el("span", el("i", style=f"width:{100 * yes:.2f}%"), class_="tp-track", aria_hidden="true"),
        el("span", f"{yes:.3f}", class_="tp-p"),
    )


def cross_test_html(
    found: CrossTest, labels: Mapping[str, str], texts: Mapping[str, str]
) -> Markup:
    """Two tables that are not to be mixed: measured here, and printed."""
    head = [texts["head"], *(texts[f"{objective}_pairs"] for objective in OBJECTIVES)]
    measured: list[list[str | Markup]] = [
        [labels[name], *(_skill(skill) for skill in skills)]
        for name, skills in found.measured.items()
    ]
    printed: list[list[str | Markup]] = [
        [texts["trained"].format(objective=name), *(f"{value:.1f}%" for value in values)]
        for name, values in found.printed.items()
    ]
    return el(
        "div",
        table(head, measured, texts["measured"]) if measured else note(texts["unmeasured"]),
        table(head, printed, texts["printed"].format(source=found.source)),
        class_="tp-tables",
    )


def cross_test_numbers(found: CrossTest) -> Numbers:
    """Both tables as one, each row with where it is from."""
    columns = ("source", "model", "pairs", "share_right", "low", "high", "count")
    measured = [
        ["measured", name, objective, skill.share, *skill.ends, skill.count]
        for name, skills in found.measured.items()
        for objective, skill in zip(OBJECTIVES, skills, strict=True)
        if skill is not None
    ]
    printed = [
        [found.source, f"ALBERT-base, {name}", objective, value / 100, None, None, None]
        for name, values in found.printed.items()
        for objective, value in zip(OBJECTIVES, values, strict=True)
    ]
    return Numbers(columns, [*measured, *printed], NOT_RUN)


def _skill(skill: Skill | None) -> str:
    if skill is None:
        return "–"
    low, high = skill.ends
    return f"{percent(skill.share)} [{percent(low)}, {percent(high)}] of {skill.count:,}"
