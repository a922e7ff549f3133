"""Charts of a list's result: shares, scatter of two models, score against cost, confusion."""

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.records import Records
from explorer.lists.comparison import Share
from explorer.lists.disagreement import per_word
from explorer.lists.head_scores import HeadScores
from explorer.lists.judge import Scored
from explorer.lists.multilabel import MultilabelList
from explorer.lists.results import (
    LabelledList,
    ListResult,
    MaskedList,
    PairList,
    ScoredList,
    SentenceList,
)
from explorer.lists.tagged import LEXICON, TaggedList
from explorer.lists.views.head_charts import reliability
from explorer.lists.views.strings import BASELINES, names_of, scored_names
from explorer.lists.views.tag_strings import CONTROL
from explorer.refusal import brief
from explorer.views.chart import band, categories, chart_canvas, line
from explorer.views.theme import colour_of, faint, page_colours

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 340
MAX_GROUPS = 12
"""Groups that are drawn, those with the most rows."""
MAX_COUNTS = 8
"""Labels up to which a confusion matrix prints its counts."""
SHADE = 0.6
"""Opacity of a full cell, on which the page's ink is read in light and dark."""
BASELINE = "#7b8496"
"""Colour of what is no model, visible on both pages."""
LONGEST_NAME, ITS_END = 24, 9
"""Characters of a name on an axis, and of its end: names of one origin often differ there."""
COLUMNS = ("chart", "model", "at", "value", "low", "high")
Texts = Mapping[str, str]
Row = tuple[object, ...]


def list_charts(result: ListResult, texts: Texts, header: Mapping[str, object]) -> str:
    """Return the JSON of the charts of a list's result, with the numbers that they draw."""
    makers = {
        MaskedList: _masked,
        SentenceList: _sentences,
        PairList: _pairs,
        LabelledList: _labelled,
        MultilabelList: _multilabel,
        ScoredList: _scored,
        TaggedList: _tagged,
    }
    figures, rows = [], []
    for figure, numbers in makers[type(result)](result, texts):  # type: ignore[operator]
        figures.append(figure)
        rows += numbers
    return chart_canvas(figures, Records(COLUMNS, rows, header)) if figures else ""


def literal(text: str) -> str:
    """Return a reader's text for Plotly, which would take signs of markup for markup."""
    start = LONGEST_NAME - ITS_END - 1
    short = text if len(text) <= LONGEST_NAME else f"{text[:start]}…{text[-ITS_END:]}"
    return html.escape(brief(short), quote=False)


Charts = Iterator[tuple["go.Figure", list[Row]]]


def _masked(result: MaskedList, texts: Texts) -> Charts:
    if any(row.answer for row in result.texts.rows):
        yield _shares(result.summary.at_1, result.summary.by_group, result.labels, texts, "at_1")
        yield _shares(result.summary.at_5, {}, result.labels, texts, "at_5")


def _pairs(result: PairList, texts: Texts) -> Charts:
    summary = result.summary
    named = {**texts, "good": texts["good"].format(first=result.sides.first)}
    yield _shares(summary.good_first, summary.by_group, result.labels, named, "good")


def _shares(
    overall: Mapping[str, Share],
    by_group: Mapping[str, Mapping[str, Share]],
    labels: Mapping[str, str],
    texts: Texts,
    name: str,
) -> tuple["go.Figure", list[Row]]:
    """Draw each model's share of all rows and of each group, with 95% intervals."""
    import plotly.graph_objects as go

    groups = next(iter(by_group.values()), {})
    largest = set(sorted(groups, key=lambda group: -groups[group].n)[:MAX_GROUPS])
    drawn = [group for group in groups if group in largest]
    names = [texts["all_rows"], *drawn]
    figure = go.Figure(layout={"title": texts[name], "height": HEIGHT, "barmode": "group"})
    rows: list[Row] = []
    for key, label in labels.items():
        shares = [overall[key], *(by_group[key][group] for group in drawn)]
        ends = [share.interval for share in shares]
        values = [share.value for share in shares]
        figure.add_bar(
            x=categories(map(literal, names)),
            y=values,
            name=label,
            marker_color=colour_of(key).fill,
            error_y={
                "type": "data",
                "array": [high - value for (_, high), value in zip(ends, values, strict=True)],
                "arrayminus": [value - low for (low, _), value in zip(ends, values, strict=True)],
                "thickness": 1.5,
                "width": 3,
            },
            hovertemplate="%{x}: %{y:.1%}<extra>%{fullData.name}</extra>",
        )
        rows += [
            (texts[name], label, group, share.value, *share.interval)
            for group, share in zip(names, shares, strict=True)
        ]
    figure.update_yaxes(range=[0, 1], tickformat=".0%")
    figure.update_xaxes(type="category")
    return figure, rows


def _sentences(result: SentenceList, texts: Texts) -> Charts:
    """Draw each later model against the first, a point for each sentence."""
    scores = per_word(result)
    first, *others = scores
    for other in others:
        yield _scatter(result, texts, (first, other), (scores[first], scores[other]))


def _scatter(
    result: SentenceList,
    texts: Texts,
    keys: tuple[str, str],
    values: tuple[np.ndarray, np.ndarray],
) -> tuple["go.Figure", list[Row]]:
    import plotly.graph_objects as go

    names = [result.labels[key] for key in keys]
    numbers = [row.number for row in result.texts.rows]
    ends = [float(min(map(np.min, values))), float(max(map(np.max, values)))]
    title = texts["scatter"].format(first=names[0], second=names[1])
    figure = go.Figure(layout={"title": title, "height": HEIGHT, "showlegend": False})
    figure.add_scatter(x=ends, y=ends, mode="lines", line={"width": 1, "dash": "dot"})
    figure.data[0].hoverinfo = "skip"
    figure.add_scatter(
        x=values[0].tolist(),
        y=values[1].tolist(),
        mode="markers",
        marker={"color": colour_of(keys[1]).fill, "size": 7, "opacity": 0.75},
        customdata=numbers,
        hovertemplate="row %{customdata}: %{x:.2f}, %{y:.2f}<extra></extra>",
    )
    figure.update_xaxes(title=texts["axis"].format(label=names[0]))
    figure.update_yaxes(title=texts["axis"].format(label=names[1]))
    rows: list[Row] = [
        (title, name, number, float(value), None, None)
        for name, of_model in zip(names, values, strict=True)
        for number, value in zip(numbers, of_model, strict=True)
    ]
    return figure, rows


def _labelled(result: LabelledList, texts: Texts) -> Charts:
    """Draw the models' own heads, then the regressions on their features."""
    yield from reliability(result, texts)
    for key, each in result.heads.scores.items():
        yield _confusion_of_head(result, (key, each), texts)
    if result.untrained:
        return
    yield _score_and_cost(result, texts)
    if result.learning:
        yield _curves(result, texts, "learning")
        yield _curves(result, texts, "by_layer")
    for key in result.labels:
        yield _confusion(result, key, texts)


def _multilabel(result: MultilabelList, texts: Texts) -> Charts:
    """Draw macro and micro F1 and that of each label, by classifier, with 95% intervals."""
    found, names = result.result.scores, names_of(result)
    both = {key: [each.macro, each.micro] for key, each in found.items()}
    yield _f1(both, names, [texts["macro"], texts["micro"]], texts["f1"])
    labels = result.result.sets.names
    by_label = {key: list(each.by_label) for key, each in found.items()}
    yield _f1(by_label, names, labels, texts["f1_by_label"])


def _tagged(result: TaggedList, texts: Texts) -> Charts:
    """Draw F1 of exact spans, of all and of each label of the list, with 95% intervals."""
    found = result.heads
    every = dict(found.scores) | ({LEXICON: found.lexicon} if found.lexicon else {})
    names = {**result.labels, LEXICON: CONTROL}
    types = result.types[:MAX_GROUPS]
    scores = {
        key: [each.micro.f1, *(each.by_type[label].f1 for label in types)]
        for key, each in every.items()
    }
    yield _f1(scores, names, [texts["all_spans"], *types], texts["f1_spans"])


def _f1(
    scores: Mapping[str, Sequence[Scored]],
    names: Mapping[str, str],
    places: Sequence[str],
    title: str,
) -> tuple["go.Figure", list[Row]]:
    import plotly.graph_objects as go

    figure = go.Figure(layout={"title": title, "height": HEIGHT, "barmode": "group"})
    rows: list[Row] = []
    known = page_colours()
    for key, of_place in scores.items():
        figure.add_bar(
            x=categories(map(literal, places)),
            y=[each.value for each in of_place],
            name=names[key],
            marker_color=known[key].fill if key in known else BASELINE,
            marker_opacity=0.5 if key == "majority" else 1.0,
            error_y={
                "type": "data",
                "array": [each.high - each.value for each in of_place],
                "arrayminus": [each.value - each.low for each in of_place],
                "thickness": 1.5,
                "width": 3,
            },
            hovertemplate="%{x}: %{y:.1%}<extra>%{fullData.name}</extra>",
        )
        rows += [
            (title, names[key], place, each.value, each.low, each.high)
            for place, each in zip(places, of_place, strict=True)
        ]
    figure.update_yaxes(range=[0, 1], tickformat=".0%")
    figure.update_xaxes(type="category")
    return figure, rows


def _scored(result: ScoredList, texts: Texts) -> Charts:
    yield _correlations(result, texts)
    for key, label in result.labels.items():
        yield _predictions(result, texts, key, label)


def _correlations(result: ScoredList, texts: Texts) -> tuple["go.Figure", list[Row]]:
    """Draw each regression's rank correlation with its interval, and that of shuffled scores."""
    import plotly.graph_objects as go

    found = result.result.correlations
    names = [name for _, name in scored_names(result)]
    scores = [found[key].spearman for key, _ in scored_names(result)]
    controls = [found[key].control for key, _ in scored_names(result)]
    known = page_colours()
    colours = [known[key].fill if key in known else BASELINE for key, _ in scored_names(result)]
    figure = go.Figure(layout={"title": texts["spearman"], "height": HEIGHT, "barmode": "group"})
    figure.add_bar(
        x=categories(names),
        y=[score.value for score in scores],
        marker_color=colours,
        name=texts["your_scores"],
        error_y={
            "type": "data",
            "array": [score.high - score.value for score in scores],
            "arrayminus": [score.value - score.low for score in scores],
            "thickness": 1.5,
            "width": 3,
        },
    )
    figure.add_bar(x=categories(names), y=controls, marker_color=BASELINE, name=texts["shuffled"])
    figure.update_xaxes(type="category")
    rows: list[Row] = [
        (texts["spearman"], name, texts["your_scores"], score.value, score.low, score.high)
        for name, score in zip(names, scores, strict=True)
    ]
    rows += [
        (texts["spearman"], name, texts["shuffled"], control, None, None)
        for name, control in zip(names, controls, strict=True)
    ]
    return figure, rows


def _predictions(
    result: ScoredList, texts: Texts, key: str, label: str
) -> tuple["go.Figure", list[Row]]:
    """Draw one model's predicted scores against the given ones, a point for each row."""
    import plotly.graph_objects as go

    title, values = texts["scored"].format(label=label), result.result.predicted[key].values
    given, numbers = result.result.truth.scores, [row.number for row in result.texts.rows]
    figure = go.Figure(layout={"title": title, "height": HEIGHT, "showlegend": False})
    figure.add_scatter(
        x=given.tolist(),
        y=values.tolist(),
        mode="markers",
        marker={"color": colour_of(key).fill, "size": 7, "opacity": 0.75},
        customdata=numbers,
        hovertemplate="row %{customdata}: %{x:.2f}, %{y:.2f}<extra></extra>",
    )
    figure.update_xaxes(title=texts["given"])
    figure.update_yaxes(title=texts["predicted_score"])
    rows: list[Row] = [
        (title, label, number, float(value), None, None)
        for number, value in zip(numbers, values, strict=True)
    ]
    return figure, rows


MOST_TICKS = 3
"""Powers of ten that are named on an axis of half a phone's width."""


def _score_and_cost(result: LabelledList, texts: Texts) -> tuple["go.Figure", list[Row]]:
    """Draw accuracy against time and against megabytes, each classifier in its colour."""
    from plotly.subplots import make_subplots

    names, scores = names_of(result), result.result
    figure = make_subplots(1, 2, shared_yaxes=True, horizontal_spacing=0.06)
    figure.update_layout(title=texts["cost"], height=HEIGHT)
    rows: list[Row] = []
    for key, cost in result.costs.items():
        score, colour = scores.accuracy[key], page_colours().get(key)
        error = {
            "type": "data",
            "array": [score.high - score.value],
            "arrayminus": [score.value - score.low],
        }
        for place, value in enumerate((cost.ms_per_row, cost.megabytes), 1):
            figure.add_scatter(
                x=[value],
                y=[score.value],
                error_y=error | {"thickness": 1.5, "width": 4},
                name=names[key],
                mode="markers",
                marker={
                    "size": 11,
                    "symbol": "circle" if colour else "diamond",
                    "color": colour.fill if colour else BASELINE,
                },
                legendgroup=key,
                showlegend=place == 1,
                hovertemplate="%{y:.1%}, %{x:.3g}<extra>%{fullData.name}</extra>",
                row=1,
                col=place,
            )
        ends = (score.value, score.low, score.high)
        rows += [
            (texts["cost_ms"], names[key], cost.ms_per_row, *ends),
            (texts["cost_mb"], names[key], cost.megabytes, *ends),
        ]
    usual = scores.accuracy["majority"].value
    figure.add_hline(usual, line_width=1, line_dash="dot", annotation_text=BASELINES["majority"])
    figure.layout.annotations = figure.layout.annotations[:1]  # once, not in each part
    figure.update_yaxes(tickformat=".0%", title=texts["accuracy"], col=1)
    costs = [(cost.ms_per_row, cost.megabytes) for cost in result.costs.values()]
    for place, (name, values) in enumerate(
        zip(("cost_ms", "cost_mb"), zip(*costs, strict=True), strict=True), 1
    ):
        dtick = math.ceil(decades_between(values) / MOST_TICKS)
        figure.update_xaxes(title=texts[name], dtick=dtick, col=place)
    figure.update_xaxes(type="log", tickformat="~g", tickangle=0)
    return figure, rows


def decades_between(values: Sequence[float]) -> float:
    """Return the decimal logarithm of the quotient of the ends of positive values, at least 1."""
    drawn = [value for value in values if value > 0]
    return max(1.0, math.log10(max(drawn) / min(drawn))) if drawn else 1.0


def share_range(values: Sequence[float]) -> list[float]:
    """Return the ends of an axis of shares: around the values, and never far outside 0 to 1."""
    low, high = min(values), max(values)
    space = max(0.05, 0.08 * (high - low))
    return [max(-0.02, low - space), min(1.02, high + space)]


def _curves(result: LabelledList, texts: Texts, name: str) -> tuple["go.Figure", list[Row]]:
    """Draw accuracy over the number of training rows with intervals, or over the layers."""
    import plotly.graph_objects as go

    figure = go.Figure(layout={"title": texts[name], "height": HEIGHT})
    rows: list[Row] = []
    drawn: list[float] = []
    for key, label in result.labels.items():
        points = _points(result, key, name)
        xs, ys, ends = zip(*points, strict=True)
        drawn += [*ys, *(end for pair in ends for end in pair or ())]
        figure.add_trace(line(xs, ys, label, key, mode="lines+markers"))
        if name == "learning":
            figure.add_traces(band(xs, ends, key, label))
        rows += [(texts[name], label, x, y, *(end or (None, None))) for x, y, end in points]
    figure.update_yaxes(tickformat=".0%", range=share_range(drawn))
    figure.update_xaxes(title=texts[f"{name}_axis"])
    if name == "learning":
        sizes = [point.n_rows for point in next(iter(result.learning.values()))]
        figure.update_xaxes(type="log", tickvals=sizes, ticktext=[f"{size:,}" for size in sizes])
    else:
        figure.update_xaxes(dtick=1)
    return figure, rows


def _points(
    result: LabelledList, key: str, name: str
) -> list[tuple[int, float, tuple[float, float] | None]]:
    """Return the (place, accuracy, ends of its interval) of one model's curve."""
    if name == "learning":
        curve = [(point.n_rows, point.accuracy) for point in result.learning[key]]
        return [(size, each.value, (each.low, each.high)) for size, each in curve]
    return [(layer, value, None) for layer, value in enumerate(result.by_layer[key])]


def _confusion(result: LabelledList, key: str, texts: Texts) -> tuple["go.Figure", list[Row]]:
    """Draw how often the regression on a model's features predicts each label for each true one."""
    labels = result.result.labels.names
    title = texts["confusion"].format(label=result.labels[key])
    return _heatmap(title, key, result.result.confusion[key], (labels, labels), texts)


def _confusion_of_head(
    result: LabelledList, head: tuple[str, HeadScores], texts: Texts
) -> tuple["go.Figure", list[Row]]:
    """Draw how often a model's own head predicts each label of the list for each true one."""
    key, scores = head
    title = texts["confusion_head"].format(label=result.labels[key])
    counts, predicted = scores.confusion, (*scores.labels, texts["another"])
    if not counts[:, -1].any():
        counts, predicted = counts[:, :-1], scores.labels
    return _heatmap(title, key, counts, (scores.labels, predicted), texts)


def _heatmap(
    title: str,
    key: str,
    counts: np.ndarray,
    labels: tuple[Sequence[str], Sequence[str]],
    texts: Texts,
) -> tuple["go.Figure", list[Row]]:
    """Draw how often each label is predicted for each true one, int [true, predicted]."""
    import plotly.graph_objects as go

    true, predicted = labels
    figure = go.Figure(layout={"title": title, "height": HEIGHT})
    figure.add_heatmap(
        x=categories(map(literal, predicted)),
        y=categories(map(literal, true)),
        z=counts.tolist(),
        zmin=0,
        zmax=int(counts.sum(1).max()),  # full colour: every row of the most frequent label
        colorscale=[[0, faint(colour_of(key).fill, 0)], [1, faint(colour_of(key).fill, SHADE)]],
        showscale=False,
        hovertemplate=texts["confused"] + "<extra></extra>",
        **({"texttemplate": "%{z}"} if len(true) <= MAX_COUNTS else {}),
    )
    figure.update_xaxes(title=texts["predicted"], type="category", showgrid=False)
    figure.update_yaxes(title=texts["true"], type="category", autorange="reversed", showgrid=False)
    rows: list[Row] = [
        (title, of_true, of_predicted, int(counts[i, j]), None, None)
        for i, of_true in enumerate(true)
        for j, of_predicted in enumerate(predicted)
    ]
    return figure, rows
