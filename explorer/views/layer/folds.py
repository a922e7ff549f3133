"""Charts of the folds of Layer: contexts, an LSTM to compare with, the steps of an answer."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.digits import side_by_side
from explorer.analysis.layer import (
    BLOCKS,
    NAMES,
    AnswerSteps,
    ContextAnswers,
    ContextScore,
    RecurrentPoint,
)
from explorer.analysis.records import NO_RUN, Records
from explorer.models.run import READINGS
from explorer.views.chart import ROUND_TICKS, chart_canvas, line
from explorer.views.markup import Markup, el, join, word
from explorer.views.theme import PARTS, colour_of, faint

if TYPE_CHECKING:
    import plotly.graph_objects as go


ANSWERS = ("model", "reading", "first_answer", "probability", "word", "probability_of_word", "rank")
SCORES = ("model", "reading", "among", "share", "low", "high", "sentences")
CONTEXTS_HEIGHT = 340


def context_rows(
    answers: Mapping[str, ContextAnswers], labels: Mapping[str, str], texts: Mapping[str, Any]
) -> tuple[list[str], list[list[str | Markup]]]:
    """Return the table's head and rows: one row per reading, one column per model."""
    rows: list[list[str | Markup]] = [
        [texts["readings"][name], *_cells([*answers.values()], name, texts)] for name in READINGS
    ]
    return [texts["reading"], *(labels[key] for key in answers)], rows


def _cells(
    answers: Sequence[ContextAnswers], reading: str, texts: Mapping[str, Any]
) -> list[str | Markup]:
    """Return one reading's cells, with enough digits that unequal probabilities differ."""
    indices = [
        answer.readings.index(reading) if reading in answer.readings else None for answer in answers
    ]
    pairs = [
        pair
        for answer, i in zip(answers, indices, strict=True)
        for pair in ([] if i is None else [answer.probabilities[i], answer.of_wanted[i]])
    ]
    printed = iter(side_by_side([float(p) for p in pairs]))
    return [
        texts["unshuffled"]
        if i is None
        else _cell(answer, i, (next(printed), next(printed)), texts)
        for answer, i in zip(answers, indices, strict=True)
    ]


def _cell(
    answer: ContextAnswers, i: int, printed: tuple[str, str], texts: Mapping[str, Any]
) -> Markup:
    first = join(word(answer.words[i]), f" {printed[0]}")
    if answer.words[i] == answer.wanted:
        return first
    rest = texts["wanted"].format(p=printed[1], rank=f"{answer.ranks[i]:,}")
    return join(first, el("span", word(answer.wanted), f" {rest}", class_="lc-wanted"))


def context_records(
    answers: Mapping[str, ContextAnswers],
    labels: Mapping[str, str],
    constants: Mapping[str, object],
) -> Records:
    """Return the unrounded answers; ``constants`` hold the mask and the shuffled order."""
    rows = [
        (
            labels[key],
            name,
            *(answer.tokens[i], answer.probabilities[i], answer.wanted_token),
            *(answer.of_wanted[i], answer.ranks[i]),
        )
        for key, answer in answers.items()
        for i, name in enumerate(answer.readings)
    ]
    return Records(ANSWERS, rows, {"state": {"mask": 1 + int(str(constants["MASK"]))}}, constants)


def held_out_figure(
    by_model: Mapping[str, tuple[ContextScore, ...]],
    labels: Mapping[str, str],
    texts: Mapping[str, Any],
) -> "go.Figure":
    """Draw the shares with the hidden word in the top 1 and in the top 5, with 95% intervals."""
    import plotly.graph_objects as go

    names = [texts["short"][name] for name in READINGS]
    figure = go.Figure(
        layout={"title": texts["scores"], "height": CONTEXTS_HEIGHT, "barmode": "group"}
    )
    for key, scores in by_model.items():
        for is_first in (False, True):
            shares = [score.first if is_first else score.among for score in scores]
            ends = [score.first_interval if is_first else score.among_interval for score in scores]
            figure.add_bar(
                x=names,
                y=shares,
                name=texts["first" if is_first else "among"].format(model=labels[key]),
                offsetgroup=f"{key}{is_first}",
                marker_color=colour_of(key).fill if is_first else faint(colour_of(key).fill, 0.35),
                error_y={
                    "type": "data",
                    "array": [high - share for share, (_, high) in zip(shares, ends, strict=True)],
                    "arrayminus": [
                        share - low for share, (low, _) in zip(shares, ends, strict=True)
                    ],
                    "thickness": 1.25,
                    "width": 2,
                },
                hovertemplate="%{x}: %{y:.1%}",
            )
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    return figure


def held_out_canvas(
    by_model: Mapping[str, tuple[ContextScore, ...]],
    labels: Mapping[str, str],
    texts: Mapping[str, Any],
    header: Mapping[str, object],
) -> str:
    """Return the chart and its numbers; the header has the number of sentences."""
    rows = [
        (labels[key], name, among, *score, header["sentences"])
        for key, scores in by_model.items()
        for name, result in zip(READINGS, scores, strict=True)
        for among, score in (
            (1, (result.first, *result.first_interval)),
            (5, (result.among, *result.among_interval)),
        )
    ]
    figure = held_out_figure(by_model, labels, texts)
    return chart_canvas([figure], Records(SCORES, rows, header), note=texts["upper"])


RECURRENT_COLUMNS = ("tokens", "network", "us_per_token", "gflop", "sequential_steps")
RATIOS = ("lstm_over_layer", "low", "high")
RECURRENT_HEIGHT = 320


def recurrent_figure(
    points: Sequence[RecurrentPoint], model: str, texts: Mapping[str, Any]
) -> "go.Figure":
    """Draw the times of layer and LSTM over length, both axes logarithmic."""
    import plotly.graph_objects as go

    lengths = [point.length for point in points]
    figure = go.Figure(layout={"title": texts["title"], "height": RECURRENT_HEIGHT})
    for i, name in enumerate(NAMES):
        times = [point.us_per_token[i] for point in points]
        style: dict[str, Any] = {"mode": "lines+markers", "hovertemplate": texts["hover"]}
        style["customdata"] = [[point.steps[i], point.flops[i] / 1e9] for point in points]
        figure.add_trace(line(lengths, times, texts["names"][name], "" if i else model, **style))
    figure.update_xaxes(type="log", title=texts["length"], tickvals=lengths, ticktext=lengths)
    figure.update_yaxes(ROUND_TICKS, type="log", title=texts["time"])
    return figure


def recurrent_canvas(points: Sequence[RecurrentPoint], model: str, texts: Mapping[str, Any]) -> str:
    """Return the chart and its numbers."""
    rows = [
        (
            *(point.length, name, point.us_per_token[i], point.flops[i] / 1e9, point.steps[i]),
            *((point.ratio.ratio, point.ratio.low, point.ratio.high) if i else (None,) * 3),
        )
        for point in points
        for i, name in enumerate(NAMES)
    ]
    figure = recurrent_figure(points, model, texts)
    return chart_canvas([figure], Records((*RECURRENT_COLUMNS, *RATIOS), rows, NO_RUN))


STEPS_COLUMNS = ("model", "layer", "block", "log_probability", "step")
STEPS_HEIGHT = 300
WIDTH = 0.9


def steps_figures(
    by_model: Mapping[str, AnswerSteps],
    labels: Mapping[str, str],
    words: Mapping[str, str],
    texts: Mapping[str, Any],
) -> "list[go.Figure]":
    """Draw one waterfall per model on a common scale: the embedding, then two bars per layer."""
    import plotly.graph_objects as go

    values = np.concatenate([answer.log_probs for answer in by_model.values()])
    low, high = float(values.min()), max(0.0, float(values.max()))
    figures = []
    for key, answer in by_model.items():
        title = texts["title"].format(model=labels[key], word=words[key])
        figure = go.Figure(layout={"title": title, "height": STEPS_HEIGHT, "barmode": "overlay"})
        figure.add_traces(_bars(answer, key, texts))
        layers = range(1, 1 + len(answer.steps) // 2)
        places = [_place(i) for i in range(-1, len(answer.steps) + 1)]
        figure.update_xaxes(title=texts["layer"], type="category", categoryarray=places)
        ticks = [_place(2 * n - 2) for n in layers]
        figure.update_xaxes(tickvals=ticks, ticktext=[str(n) for n in layers], tickangle=0)
        figure.update_yaxes(title=texts["axis"], range=[low - 0.05 * (high - low), high + 0.2])
        figures.append(figure)
    return figures


def _place(step: int) -> str:
    """Return the category of a bar: steps from 0, -1 the embedding, the step count the answer."""
    return f"{step // 2 + 1} {BLOCKS[step % 2]}"


def _bars(answer: AnswerSteps, key: str, texts: Mapping[str, Any]) -> "list[go.Bar]":
    """Draw the embedding, the steps of each block in its colour, and the answer."""
    import plotly.graph_objects as go

    start, end, n = answer.log_probs[0], answer.log_probs[-1], len(answer.steps)
    bars = []
    for offset, block in enumerate(BLOCKS):
        places = np.arange(offset, n, 2)
        bars.append(
            go.Bar(
                name=texts["blocks"][block],
                x=[_place(int(i)) for i in places],
                base=answer.log_probs[places].tolist(),
                y=answer.steps[places].tolist(),
                width=WIDTH,
                marker_color=PARTS["ffn" if block == "feed_forward" else "attention"],
                customdata=[[int(i) // 2 + 1, texts["blocks"][block]] for i in places],
                hovertemplate=texts["step"],
            )
        )
    ends = {texts["embedding"]: (-1, start), texts["answer"].format(n=n // 2): (n, end)}
    for name, (place, value) in ends.items():
        bar = go.Bar(x=[_place(place)], y=[value], name=name, width=WIDTH, opacity=0.45)
        bar.update(marker_color=colour_of(key).fill)
        bars.append(bar.update(hovertemplate=texts["end"].format(name=name), showlegend=False))
    return bars


def steps_canvas(
    by_model: Mapping[str, AnswerSteps],
    labels: Mapping[str, str],
    words: Mapping[str, str],
    constants: Mapping[str, object],
    texts: Mapping[str, Any],
) -> str:
    """Return the charts and their numbers; ``constants`` hold the token and the word."""
    rows = [row for key, answer in by_model.items() for row in _rows(answer, labels[key])]
    figures = steps_figures(by_model, labels, words, texts)
    places: Mapping[str, int] = constants["POSITIONS"]  # type: ignore[assignment]
    state = {"piece": ", ".join(dict.fromkeys(words.values())), "token": min(places.values())}
    records = Records(STEPS_COLUMNS, rows, {"state": state}, constants)
    return chart_canvas(figures, records, note=texts["note"])


def _rows(answer: AnswerSteps, label: str) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = [(label, 0, "embedding", answer.log_probs[0], None)]
    for i, step in enumerate(answer.steps):
        rows.append((label, i // 2 + 1, BLOCKS[i % 2], answer.log_probs[i + 1], step))
    return rows
