"""Pictures of Layer: stations, steps, contexts, an LSTM beside a layer."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.digits import side_by_side
from explorer.analysis.layer import (
    BLOCKS,
    NAMES,
    AnswerSteps,
    ContextAnswers,
    ContextScore,
    LayerWay,
    RecurrentPoint,
    mean_weights,
    normalised,
)
from explorer.models.run import READINGS, Run
from explorer.models.tokens import spelling_of
from explorer.views.chart import ROUND, chart_canvas, line
from explorer.views.markup import Markup, el, join, script_json, word
from explorer.views.numbers import NO_RUN, Numbers
from explorer.views.theme import COLOURS, PARTS, faint

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.models.inside.stations import (
        EmbeddingStations,
        LayerStations,
        Normalisation,
        Projected,
    )


ANSWERS = ("model", "reading", "first_answer", "probability", "word", "probability_of_word", "rank")
SCORES = ("model", "reading", "among", "share", "low", "high", "sentences")
CONTEXTS_HEIGHT = 340


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
    figure = go.Figure(
        layout={"title": texts["scores"], "height": CONTEXTS_HEIGHT, "barmode": "group"}
    )
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


RECURRENT_COLUMNS = ("tokens", "network", "us_per_token", "gflop", "sequential_steps")
RATIOS = ("lstm_over_layer", "low", "high")
RECURRENT_HEIGHT = 320


def recurrent_figure(
    points: Sequence[RecurrentPoint], model: str, texts: Mapping[str, Any]
) -> "go.Figure":
    """Both lines with logarithmic axes; the layer in its model's colour, the LSTM in ink."""
    import plotly.graph_objects as go

    lengths = [point.length for point in points]
    figure = go.Figure(layout={"title": texts["title"], "height": RECURRENT_HEIGHT})
    for i, name in enumerate(NAMES):
        times = [point.us_per_token[i] for point in points]
        look: dict[str, Any] = {"mode": "lines+markers", "hovertemplate": texts["hover"]}
        look["customdata"] = [[point.steps[i], point.flops[i] / 1e9] for point in points]
        figure.add_trace(line(lengths, times, texts["names"][name], "" if i else model, **look))
    figure.update_xaxes(type="log", title=texts["length"], tickvals=lengths, ticktext=lengths)
    figure.update_yaxes(type="log", title=texts["time"], tickvals=ROUND, tickformat=",")
    return figure


def recurrent_canvas(points: Sequence[RecurrentPoint], model: str, texts: Mapping[str, Any]) -> str:
    """The chart and its numbers."""
    rows = [
        (
            *(point.length, name, point.us_per_token[i], point.flops[i] / 1e9, point.steps[i]),
            *((point.ratio.ratio, point.ratio.low, point.ratio.high) if i else (None,) * 3),
        )
        for point in points
        for i, name in enumerate(NAMES)
    ]
    figure = recurrent_figure(points, model, texts)
    return chart_canvas([figure], Numbers((*RECURRENT_COLUMNS, *RATIOS), rows, NO_RUN))


Reading = tuple[str, float]
"""The head's first word and its probability."""


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """All that is shown of one model."""

    run: Run
    layer: int
    head: int
    position: int
    """The token that is followed."""
    note: str
    """How this layer is related to the others."""
    pieces: str
    """Which piece of the word is followed; empty for a word of one."""
    stations: "LayerStations"
    embedding: "EmbeddingStations"
    way: LayerWay
    readings: tuple[Reading, Reading, Reading] | None
    """Before the layer, after attention and after the layer; None without a masked-LM head."""

    @property
    def norms(self) -> "dict[str, Normalisation]":
        """The layer norms by the station that each ends."""
        found = self.stations
        ends = {"attention_norm": found.attention_norm, "output": found.norm}
        return {"embedding": self.embedding.norm, **ends}


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the reader looks at, and what there is to choose from."""

    words: Sequence[str]
    at: int
    first: int
    """The word that is followed unless the reader chooses another."""
    deepest: str
    """The model whose layers can be chosen."""
    widest: str
    """The model whose heads can be chosen."""


def stations_canvas(
    walked: Sequence[Walked],
    chosen: Chosen,
    cards: Mapping[str, tuple[str, str]],
    texts: Mapping[str, Any],
) -> str:
    """The picture's JSON.

    Args:
        walked: By model, in the fixed order.
        chosen: What is looked at.
        cards: Label and reason of each model that cannot be shown.
        texts: The picture's sentences.
    """
    return script_json(
        {
            "models": [_model(one) for one in walked],
            "chosen": {name: getattr(chosen, name) for name in Chosen.__slots__},
            "cards": [
                {"key": key, "label": label, "why": why} for key, (label, why) in cards.items()
            ],
            "texts": texts,
        }
    )


def _model(one: Walked) -> dict[str, Any]:
    found, way, shape = one.stations, one.way, one.run.spec.architecture
    spelling = spelling_of(one.run.vocabulary)
    pieces = [spelling.word(piece) for piece in one.run.tokens.pieces]
    units = [(int(i), found.units[i], found.unit_lengths[i]) for i in way.units]
    return {
        "key": one.run.spec.key,
        "label": one.run.spec.label,
        "layer": one.layer,
        "n_layers": shape.n_layers,
        "head": one.head,
        "n_heads": shape.n_heads,
        "note": one.note,
        "pieces": one.pieces,
        "tokens": pieces,
        "raw": one.run.tokens.pieces,
        "position": one.position,
        "vectors": {name: _packed(vector) for name, vector in way.vectors.items()},
        "norms": _rounded(way.norms),
        "cosines": _rounded(way.cosines),
        "query": _packed(found.query),
        "keys": _packed(found.keys),
        "read": _packed(found.read),
        "value_lengths": _list(np.linalg.norm(found.values, axis=-1)),
        "scores": _list(found.scores),
        "exponentials": _list(way.exponentials),
        "weights": _list(way.weights),
        "read_from": _list(mean_weights(one.run, one.layer, one.position)),
        "shares": shape.shares_layers,
        "heads": _list(way.head_lengths),
        "units": [[i, _digits(value), _digits(length)] for i, value, length in units],
        "active": int((found.units > 0).sum()),
        "d_ffn": shape.d_ffn,
        "normalised": {name: _arithmetic(norm) for name, norm in one.norms.items()},
        "embedding": _embedding(one.embedding, shape.d_model),
        "readings": one.readings,
        "changed_by": way.changed_by,
        "blocks": _rounded(
            {"attention": way.attention_cosine, "feed_forward": way.feed_forward_cosine}
        ),
        "angles": _rounded(way.angles),
    }


def _arithmetic(norm: "Normalisation") -> dict[str, Any]:
    sums = normalised(norm)
    rows = [[int(i), *_list(row)] for i, row in zip(sums.shown, sums.rows, strict=True)]
    return {"mean": _digits(sums.mean), "deviation": _digits(sums.deviation), "rows": rows}


def _embedding(found: "EmbeddingStations", width: int) -> dict[str, Any]:
    rows = {"word": found.word, "position": found.position, "segment": found.segment}
    return {
        "parts": {name: _packed(row) for name, row in rows.items() if row is not None},
        "normalised": _packed(found.norm.gave),
        "projected": found.projected and _projected(found.projected),
        "dimensions": len(found.word),
        "width": width,
    }


def _projected(found: "Projected") -> dict[str, Any]:
    """The arithmetic of the largest dimensions."""
    return {
        "shown": found.shown.tolist(),
        "weight": _packed(found.weight),
        "bias": _list(found.bias),
        "result": _list(found.result[found.shown]),
    }


def _packed(vector: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(vector, np.float32).tobytes()).decode()


def _digits(value: float) -> float:
    return float(f"{value:.7g}")


def _list(values: np.ndarray) -> list[float]:
    return [_digits(value) for value in values]


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: _digits(value) for name, value in values.items()}


STEPS_COLUMNS = ("model", "layer", "block", "log_probability", "step")
STEPS_HEIGHT = 300
WIDTH = 0.9


def steps_figures(
    found: Mapping[str, AnswerSteps],
    labels: Mapping[str, str],
    words: Mapping[str, str],
    texts: Mapping[str, Any],
) -> "list[go.Figure]":
    """One waterfall a model, all on one scale: grey where it begins, then two bars a layer."""
    import plotly.graph_objects as go

    values = np.concatenate([one.log_probs for one in found.values()])
    low, high = float(values.min()), max(0.0, float(values.max()))
    figures = []
    for key, one in found.items():
        title = texts["title"].format(model=labels[key], word=words[key])
        figure = go.Figure(layout={"title": title, "height": STEPS_HEIGHT, "barmode": "overlay"})
        figure.add_traces(_bars(one, key, texts))
        layers = range(1, 1 + len(one.steps) // 2)
        places = [_place(i) for i in range(-1, len(one.steps) + 1)]
        figure.update_xaxes(title=texts["layer"], type="category", categoryarray=places)
        ticks = [_place(2 * n - 2) for n in layers]
        figure.update_xaxes(tickvals=ticks, ticktext=[str(n) for n in layers], tickangle=0)
        figure.update_yaxes(title=texts["axis"], range=[low - 0.05 * (high - low), high + 0.2])
        figures.append(figure)
    return figures


def _place(step: int) -> str:
    """The name of a bar's place: steps from 0, the embedding before them and the answer after."""
    return f"{step // 2 + 1} {BLOCKS[step % 2]}"


def _bars(one: AnswerSteps, key: str, texts: Mapping[str, Any]) -> "list[go.Bar]":
    """The embedding, the steps of each block in its colour, and the answer."""
    import plotly.graph_objects as go

    start, end, n = one.log_probs[0], one.log_probs[-1], len(one.steps)
    bars = []
    for offset, block in enumerate(BLOCKS):
        places = np.arange(offset, n, 2)
        bars.append(
            go.Bar(
                name=texts["blocks"][block],
                x=[_place(int(i)) for i in places],
                base=one.log_probs[places].tolist(),
                y=one.steps[places].tolist(),
                width=WIDTH,
                marker_color=PARTS["ffn" if block == "feed_forward" else "attention"],
                customdata=[[int(i) // 2 + 1, texts["blocks"][block]] for i in places],
                hovertemplate=texts["step"],
            )
        )
    ends = {texts["embedding"]: (-1, start), texts["answer"].format(n=n // 2): (n, end)}
    for name, (place, value) in ends.items():
        bar = go.Bar(x=[_place(place)], y=[value], name=name, width=WIDTH, opacity=0.45)
        bar.update(marker_color=COLOURS[key].fill)
        bars.append(bar.update(hovertemplate=texts["end"].format(name=name), showlegend=False))
    return bars


def steps_canvas(
    found: Mapping[str, AnswerSteps],
    labels: Mapping[str, str],
    words: Mapping[str, str],
    constants: Mapping[str, object],
    texts: Mapping[str, Any],
) -> str:
    """The charts and their numbers; ``constants`` say to the recipe which token and which word."""
    rows = [row for key, one in found.items() for row in _rows(one, labels[key])]
    figures = steps_figures(found, labels, words, texts)
    places: Mapping[str, int] = constants["POSITIONS"]  # type: ignore[assignment]
    state = {"piece": ", ".join(dict.fromkeys(words.values())), "token": min(places.values())}
    numbers = Numbers(STEPS_COLUMNS, rows, {"state": state}, constants)
    return chart_canvas(figures, numbers, note=texts["note"])


def _rows(one: AnswerSteps, label: str) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = [(label, 0, "embedding", one.log_probs[0], None)]
    for i, step in enumerate(one.steps):
        rows.append((label, i // 2 + 1, BLOCKS[i % 2], one.log_probs[i + 1], step))
    return rows
