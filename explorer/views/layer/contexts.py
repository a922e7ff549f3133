"""Six readings of a text side by side, and their scores over many sentences."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.analysis.digits import side_by_side
from explorer.analysis.layer.contexts import ContextAnswers, ContextScore
from explorer.models.rows import READINGS
from explorer.views.chart import chart_canvas
from explorer.views.markup import Markup, el, join, word
from explorer.views.numbers import Numbers
from explorer.views.theme import COLOURS, faint

if TYPE_CHECKING:
    import plotly.graph_objects as go

ANSWERS = ("model", "reading", "first_answer", "probability", "word", "probability_of_word", "rank")
SCORES = ("model", "reading", "among", "share", "low", "high", "sentences")
HEIGHT = 340


def context_rows(
    found: Mapping[str, ContextAnswers], labels: Mapping[str, str], texts: Mapping[str, Any]
) -> tuple[list[str], list[list[str | Markup]]]:
    """The head and the rows of the table: a reading a row, a model a column."""
    rows: list[list[str | Markup]] = [
        [texts["readings"][name], *_cells([*found.values()], name, texts)] for name in READINGS
    ]
    return [texts["reading"], *(labels[key] for key in found)], rows


def _cells(
    found: Sequence[ContextAnswers], reading: str, texts: Mapping[str, Any]
) -> list[str | Markup]:
    """One reading in every model; unequal probabilities never print alike."""
    places = [one.readings.index(reading) if reading in one.readings else None for one in found]
    pairs = [
        pair
        for one, i in zip(found, places, strict=True)
        for pair in ([] if i is None else [one.probabilities[i], one.of_wanted[i]])
    ]
    printed = iter(side_by_side([float(p) for p in pairs]))
    return [
        texts["unshuffled"] if i is None else _cell(one, i, (next(printed), next(printed)), texts)
        for one, i in zip(found, places, strict=True)
    ]


def _cell(
    one: ContextAnswers, i: int, printed: tuple[str, str], texts: Mapping[str, Any]
) -> Markup:
    first = join(word(one.words[i]), f" {printed[0]}")
    if one.words[i] == one.wanted:
        return first
    rest = texts["wanted"].format(p=printed[1], rank=f"{one.ranks[i]:,}")
    return join(first, el("span", word(one.wanted), f" {rest}", class_="lc-wanted"))


def context_numbers(
    found: Mapping[str, ContextAnswers],
    labels: Mapping[str, str],
    constants: Mapping[str, object],
) -> Numbers:
    """The same unrounded; ``constants`` say to the recipe which mask and which order."""
    rows = [
        (
            labels[key],
            name,
            *(one.tokens[i], one.probabilities[i], one.wanted_token),
            *(one.of_wanted[i], one.ranks[i]),
        )
        for key, one in found.items()
        for i, name in enumerate(one.readings)
    ]
    return Numbers(ANSWERS, rows, {"state": {"mask": 1 + int(str(constants["MASK"]))}}, constants)


def held_out_figure(
    found: Mapping[str, tuple[ContextScore, ...]],
    labels: Mapping[str, str],
    texts: Mapping[str, Any],
) -> "go.Figure":
    """Shares with the hidden word first, and behind them among five, with 95% intervals."""
    import plotly.graph_objects as go

    names = [texts["short"][name] for name in READINGS]
    figure = go.Figure(layout={"title": texts["scores"], "height": HEIGHT, "barmode": "group"})
    for key, scores in found.items():
        for is_first in (False, True):
            shares = [one.first if is_first else one.among for one in scores]
            ends = [one.first_interval if is_first else one.among_interval for one in scores]
            figure.add_bar(
                x=names,
                y=shares,
                name=texts["first" if is_first else "among"].format(model=labels[key]),
                offsetgroup=f"{key}{is_first}",
                marker_color=COLOURS[key].fill if is_first else faint(COLOURS[key].fill, 0.35),
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
    found: Mapping[str, tuple[ContextScore, ...]],
    labels: Mapping[str, str],
    n: int,
    texts: Mapping[str, Any],
) -> str:
    """The chart and its numbers."""
    rows = [
        (labels[key], name, among, *score, n)
        for key, scores in found.items()
        for name, one in zip(READINGS, scores, strict=True)
        for among, score in (
            (1, (one.first, *one.first_interval)),
            (5, (one.among, *one.among_interval)),
        )
    ]
    said = {"text": None, "sentences": n}
    figure = held_out_figure(found, labels, texts)
    return chart_canvas([figure], Numbers(SCORES, rows, said), note=texts["upper"])
