"""Charts of the Tasks tab: sentence pairs, attention quadrants, sentiment, answers, scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.alignment import Alignment
from explorer.analysis.digits import percent, probability
from explorer.analysis.records import NO_RUN, NOT_RUN, Records
from explorer.analysis.tasks.pairs import (
    OBJECTIVES,
    ORDERS,
    CrossTest,
    PairAccuracy,
    PairOrders,
    PairQuadrants,
    SentencePair,
)
from explorer.analysis.tasks.scores import TASKS, PrintedShare, TunedScore, trained_seconds
from explorer.analysis.tasks.tuned import AnswerSpans
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, el, join, model_name, note, plain_card, table

Scores = Mapping[str, TunedScore]
Cards = Mapping[str, Mapping[str, Any]]
Shares = Sequence[PrintedShare]


def tuned_table(
    scores: Scores, cards: Cards, specs: Mapping[str, ModelSpec], head: Sequence[str], caption: str
) -> Markup:
    """Build a table with a row per model."""
    rows: list[list[str | Markup]] = []
    for key, score in scores.items():
        interval = f"{percent(score.value)} [{percent(score.low)}, {percent(score.high)}]"
        kept = "–" if score.share_of_reference is None else percent(score.share_of_reference)
        size, minutes = cards[key]["trained_parameters"], trained_seconds(cards[key]) / 60
        rows.append([specs[key].label, interval, kept, f"{size:,}", f"{minutes:.1f}"])
    return table([*head], rows, caption)


def tuned_records(
    scores: Scores, cards: Cards, specs: Mapping[str, ModelSpec], task: str
) -> Records:
    """Return the scores and the training cost of each adapter, independent of the page's text."""
    columns = ("model", TASKS[task], "low", "high", "examples", "share_of_bert")
    rows = [
        [
            specs[key].label,
            score.value,
            score.low,
            score.high,
            score.count,
            score.share_of_reference,
            cards[key]["trained_parameters"],
            trained_seconds(cards[key]),
        ]
        for key, score in scores.items()
    ]
    return Records((*columns, "trained_parameters", "seconds"), rows, NOT_RUN)


def printed_table(shares: Shares, head: Sequence[str], caption: str) -> Markup:
    """Build a table with a row per published score."""
    rows: list[list[str | Markup]] = [
        [
            f"{model}, {task.task}",
            f"{task.student:g}",
            f"{task.reference:g}",
            f"{task.kept:.1f}%",
            source,
        ]
        for model, task, source in shares
    ]
    return table([*head], rows, caption)


def printed_records(shares: Shares) -> Records:
    """Return the published scores, independent of text and weights."""
    columns = ("model", "column", "score", "bert_base", "share_in_percent", "source")
    rows = [[m, task.task, task.student, task.reference, task.kept, s] for m, task, s in shares]
    return Records(columns, rows, NO_RUN)


@dataclass(frozen=True, slots=True, eq=False)
class PairColumn:
    """Content of one model's column."""

    spec: ModelSpec
    orders: PairOrders | None
    """Results of the pair head; None without one."""
    note: str
    """Sentence on the head's quality, or the reason why there is no head."""


def pair_orders_html(
    pair: SentencePair, columns: Sequence[PairColumn], texts: Mapping[str, str]
) -> Markup:
    """Draw the three sentences by their letters, then every model's bars or its card."""
    sentences = zip("ABC", (pair.first, pair.second, pair.unrelated), strict=True)
    legend = [
        el("div", el("dt", letter), el("dd", sentence, el("small", texts[letter])))
        for letter, sentence in sentences
    ]
    return join(
        el("dl", *legend, class_="tp-legend"),
        el("div", *(_pairs_column(column, texts) for column in columns), class_="columns tp"),
    )


def pair_orders_records(pair: SentencePair, columns: Sequence[PairColumn]) -> Records:
    """Return the value of every bar; the text is that of the pair, which may be an example."""
    pairs = {order: pair.text(order) for order in ORDERS}
    yes_of = {c.spec.label: c.orders.in_order for c in columns if c.orders is not None}
    rows = [
        [label, order, pairs[order], yes[place]]
        for label, yes in yes_of.items()
        for place, order in enumerate(ORDERS)
    ]
    header = {"text": pairs[ORDERS[0]]}
    constants = {"PAIRS": pairs, "ASKED": list(yes_of)}
    return Records(("model", "order", "pair", "probability_in_order"), rows, header, constants)


def _pairs_column(column: PairColumn, texts: Mapping[str, str]) -> Markup:
    spec = column.spec
    if column.orders is None:
        return plain_card(spec.label, column.note, spec.key)
    objective = spec.kind.pair.objective if spec.kind.pair else ""
    rows = [
        _bar(texts[order], float(yes))
        for order, yes in zip(ORDERS, column.orders.in_order, strict=True)
    ]
    return el(
        "section",
        el("header", el("h3", model_name(spec.key, spec.label)), el("p", texts[objective])),
        el("ol", *rows),
        note(column.note),
        class_="tp-column",
        data_model=spec.key,
    )


def _bar(label: str, p: float) -> Markup:
    """Draw a probability of yes as a bar, with a line at one half."""
    return el(
        "li",
        el("span", label, class_="tp-order"),
        el(
            "span",
            el("i", style=f"width:{100 * p:.2f}%"),
            class_="tp-track",
            aria_hidden="true",
        ),
        el("span", probability(p), class_="tp-p"),
    )


def cross_test_html(
    result: CrossTest, labels: Mapping[str, str], texts: Mapping[str, str]
) -> Markup:
    """Build two separate tables: measured here, and published."""
    head = [texts["head"], *(texts[f"{objective}_pairs"] for objective in OBJECTIVES)]
    measured: list[list[str | Markup]] = [
        [labels[name], *(_skill(skill) for skill in skills)]
        for name, skills in result.measured.items()
    ]
    printed: list[list[str | Markup]] = [
        [texts["trained"].format(objective=name), *(f"{value:.1f}%" for value in values)]
        for name, values in result.printed.items()
    ]
    return el(
        "div",
        table(head, measured, texts["measured"]) if measured else note(texts["unmeasured"]),
        table(head, printed, texts["printed"].format(source=result.source)),
        class_="tp-tables",
    )


def cross_test_records(result: CrossTest) -> Records:
    """Return both tables as one, with the source of each row."""
    columns = ("source", "model", "pairs", "share_right", "low", "high", "count")
    measured = [
        ["measured", name, objective, skill.accuracy, *skill.interval, skill.count]
        for name, skills in result.measured.items()
        for objective, skill in zip(OBJECTIVES, skills, strict=True)
        if skill is not None
    ]
    printed = [
        [result.source, f"ALBERT-base, {name}", objective, value / 100, None, None, None]
        for name, values in result.printed.items()
        for objective, value in zip(OBJECTIVES, values, strict=True)
    ]
    return Records(columns, [*measured, *printed], NOT_RUN)


def _skill(skill: PairAccuracy | None) -> str:
    if skill is None:
        return "–"
    low, high = skill.interval
    return f"{percent(skill.accuracy)} [{percent(low)}, {percent(high)}] of {skill.count:,}"


STRONGEST = 3


def pair_quadrants_html(results: Sequence[PairQuadrants], texts: Mapping[str, str]) -> Markup:
    """Draw a column per model: two stacked bars, a map of heads, the heads that cross most."""
    top = max((float(result.crossing.max()) for result in results), default=0.0)
    columns = [_quadrants_column(result, top, texts) for result in results]
    return el("div", *columns, class_="columns pq")


def pair_quadrants_records(results: Sequence[PairQuadrants], alignment: Alignment) -> Records:
    """Return every head's attention from A and B to A, B and added tokens, and each model's mean.

    The three shares from one sentence add up to one.
    """
    groups = {result.label: alignment.groups[result.model] for result in results}
    directions = [f"{a}_to_{b}" for a in ("a", "b") for b in ("a", "b", "added")]
    rows = [
        [result.label, layer + 1, head + 1, *mass.ravel()]
        for result in results
        for layer, heads in enumerate(result.mass)
        for head, mass in enumerate(heads)
    ]
    rows += [[result.label, None, None, *result.mean.ravel()] for result in results]
    return Records(("model", "layer", "head", *directions), rows, constants={"GROUPS": groups})


def _quadrants_column(result: PairQuadrants, top: float, texts: Mapping[str, str]) -> Markup:
    return el(
        "section",
        el("h3", model_name(result.model, result.label)),
        *(_stack(result, sentence, texts) for sentence in (0, 1)),
        _map(result, top, texts),
        el("p", texts["strongest"].format(heads=_heads(result)), class_="note"),
        class_="pq-column",
        data_model=result.model,
    )


def _stack(result: PairQuadrants, sentence: int, texts: Mapping[str, str]) -> Markup:
    """Draw one sentence's attention to A, to B and to the added tokens as a stacked bar."""
    names = ("to_a", "to_b", "to_added")
    shares = [float(share) for share in result.mean[sentence]]
    parts = [
        el("i", class_=f"pq-{name}", style=f"width:{100 * share:.2f}%")
        for name, share in zip(names, shares, strict=True)
    ]
    values = [
        el("span", f"{texts[name]} {share:.1%}", class_=f"pq-key pq-{name}-key")
        for name, share in zip(names, shares, strict=True)
    ]
    title = texts["from_b" if sentence else "from_a"]
    return el(
        "div",
        el("p", title, class_="pq-title"),
        el("div", *parts, class_="pq-bar", aria_hidden="true"),
        el("p", *values, class_="pq-values"),
        class_="pq-stack",
    )


def _map(result: PairQuadrants, top: float, texts: Mapping[str, str]) -> Markup:
    """Draw a map of layers by heads; darker heads attend more to the other sentence."""
    n_layers, n_heads = result.crossing.shape
    cells = []
    for layer in range(n_layers):
        cells.append(el("span", str(layer + 1), class_="pq-layer"))
        for head in range(n_heads):
            share = float(result.crossing[layer, head])
            title = texts["cell"].format(layer=layer + 1, head=head + 1, share=f"{share:.1%}")
            strength = round(100 * share / top) if top else 0
            cells.append(el("i", title=title, style=f"--share:{strength}"))
    label = texts["map"].format(model=result.label, top=f"{top:.0%}")
    return el(
        "div",
        *cells,
        class_="pq-map",
        role="img",
        aria_label=label,
        style=f"grid-template-columns:24px repeat({n_heads}, minmax(0, 1fr))",
    )


def _heads(result: PairQuadrants) -> str:
    heads = result.strongest(STRONGEST)
    return ", ".join(f"{layer + 1}.{head + 1} ({share:.0%})" for layer, head, share in heads)


FAINT = 1e-3
"""Smallest share of a strip's height at which a bar is drawn."""


def answer_spans_html(
    by_model: Mapping[str, AnswerSpans],
    specs: Mapping[str, ModelSpec],
    passage: str,
    texts: Mapping[str, str],
) -> Markup:
    """Draw a column per model: its best answer and the strips of start and end."""
    columns = [
        _question_column(specs[key], spans, passage, texts) for key, spans in by_model.items()
    ]
    return el("div", *columns, class_="columns tq")


def answer_spans_records(
    by_model: Mapping[str, AnswerSpans],
    specs: Mapping[str, ModelSpec],
    question_and_passage: tuple[str, str],
    adapters: Mapping[str, tuple[str, str]],
    windows: Mapping[str, tuple[int, int]],
) -> Records:
    """Return start and end probability of every token; a span's score is the product of its ends.

    Args:
        by_model: Answers by model key.
        specs: Specs by model key.
        question_and_passage: The question and the passage.
        adapters: Path and checksum of each model's adapter, by the model's label.
        windows: Tokens of a window and of the overlap of two, by the model's label.
    """
    question, passage = question_and_passage
    columns = ("model", "from", "to", "token", "answer_begins_here", "answer_ends_here")
    rows = [
        [specs[key].label, first, last, passage[first:last], begins, ends]
        for key, spans in by_model.items()
        for (first, last), begins, ends in zip(
            spans.token_spans, spans.start, spans.end, strict=True
        )
    ]
    header = {"text": None, "state": {"question": question}, "passage": passage}
    constants = {
        "QUESTION": question,
        "PASSAGE": passage,
        "ADAPTERS": {name: path for name, (path, _) in adapters.items()},
        "WINDOWS": {name: list(sizes) for name, sizes in windows.items()},
    }
    return Records(columns, rows, header | {"adapters": adapter_lines(adapters)}, constants)


def _question_column(
    spec: ModelSpec, spans: AnswerSpans, passage: str, texts: Mapping[str, str]
) -> Markup:
    best, *others = spans.best
    starts, ends = ({**texts, "side": texts[side]} for side in ("start", "end"))
    answers = ", ".join(f"“{passage[s.start : s.end]}” ({probability(s.score)})" for s in others)
    return el(
        "section",
        el(
            "header",
            el("h3", model_name(spec.key, spec.label)),
            el("p", el("strong", passage[best.start : best.end]), f" {probability(best.score)}"),
        ),
        _strip(spec, spans.token_spans, spans.start, len(passage), starts),
        _strip(spec, spans.token_spans, spans.end, len(passage), ends),
        el(
            "p",
            passage[: best.start],
            el("mark", passage[best.start : best.end]),
            passage[best.end :],
            class_="tq-passage",
            dir="auto",
        ),
        note(texts["other"].format(answers=answers)) if others else None,
        class_="tq-column",
        data_model=spec.key,
    )


def _strip(
    spec: ModelSpec,
    token_spans: Sequence[tuple[int, int]],
    shares: np.ndarray,
    length: int,
    texts: Mapping[str, str],
) -> Markup:
    """Draw bars at the tokens' positions in the passage, the likeliest at full height."""
    top = float(shares.max())
    bars = [
        el(
            "i",
            style=f"left:{100 * first / length:.2f}%;width:{100 * (last - first) / length:.2f}%;"
            f"height:{100 * share / top:.1f}%",
        )
        for (first, last), share in zip(token_spans, shares, strict=True)
        if share > FAINT * top
    ]
    label = texts["strip"].format(model=spec.label, side=texts["side"])
    return el(
        "div",
        el("span", f"{texts['side']}, {texts['scale'].format(top=top)}", class_="tq-side"),
        el("span", *bars, class_="tq-strip", role="img", aria_label=label),
        class_="tq-line",
    )


def adapter_lines(adapters: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return the file header's lines on the adapters."""
    return [f"{name}: {path} (sha256 {digest})" for name, (path, digest) in adapters.items()]
