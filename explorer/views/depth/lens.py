"""JSON of the logit lens: the answer after each layer."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import numpy as np

from explorer.analysis.alignment import Alignment
from explorer.analysis.depth.lens import DepthDial, EveryWord, MaskLens, shared_words
from explorer.analysis.records import unrounded
from explorer.models.run import Run
from explorer.models.specs import ModelSpec
from explorer.models.tokens import Tokens, spelling_of
from explorer.refusal import code_of
from explorer.views.chart import Chart, figure_json, line
from explorer.views.markup import script_json

if TYPE_CHECKING:
    import plotly.graph_objects as go


HEIGHT = 190


def dial_figure(spec: ModelSpec, most: int, texts: Mapping[str, Any]) -> "go.Figure":
    """Draw KL from the usual answer over 1 to ``most`` applications; the browser has the values.

    Two vertical lines mark the usual depth (dotted) and the chosen one.
    """
    import plotly.graph_objects as go

    times, usual = range(1, most + 1), spec.architecture.n_layers
    curve = line(times, [None] * most, texts["dial_kl"], spec.key, mode="lines+markers")
    figure = go.Figure([curve], {"height": HEIGHT, "showlegend": False, "margin_t": 8})
    figure.update_layout(title=texts["dial_chart"])
    for style in ("dot", "solid"):
        figure.add_vline(usual, line={"width": 1.25, "dash": style})
    figure.update_xaxes(title=texts["times"], tickvals=[1, usual, most], range=[0.5, most + 0.5])
    figure.update_yaxes(rangemode="tozero", hoverformat=".3f")
    return figure


class FollowedWord(TypedDict):
    """Word of another model that is followed through the layers of this one."""

    word: str
    piece: str
    p: list[float]
    rank: list[int]
    decided: int | None


class LensMask(TypedDict):
    """Answers of one model at one mask after each layer."""

    words: list[str]
    p: list[list[float]]
    rank: list[int]
    kl: list[float]
    top: list[list[tuple[str, float]]]
    decided: int
    followed: dict[str, FollowedWord]


class LensModel(TypedDict):
    """One model's answers, and of a shared layer what its dial needs."""

    key: str
    label: str
    layers: int
    masks: list[LensMask]
    flops: list[int]
    pooled: bool
    chart: NotRequired[Chart]


class LensCard(TypedDict):
    """Model without answers, and why."""

    key: str
    label: str
    sentence: str
    code: str


class DialData(TypedDict):
    """Answers after every number of applications."""

    top: list[list[tuple[str, float]]]
    kl: list[float]


class WordsRanks(TypedDict):
    """Rank of every word at each layer of one model; 0 where it has none."""

    key: str
    label: str
    rank: list[list[int]]
    groups: list[list[int]]
    first: int


class EveryWordData(TypedDict):
    """First words of a text at each layer."""

    words: list[str]
    n_words: int
    counted: int
    models: list[WordsRanks]


class LensData(TypedDict):
    """Answers of all models; ``deeper`` and ``every`` are what the browser asks for later."""

    masks: list[str]
    n_masks: int
    models: list[LensModel]
    cards: list[LensCard]
    texts: dict[str, Any]
    run: dict[str, Any]
    deeper: NotRequired[dict[str, DialData]]
    every: NotRequired[EveryWordData]


BESIDE = 2
"""Words before and after a mask in its label."""


def lens_canvas(
    runs: Mapping[str, Run],
    lenses: Mapping[str, Sequence[MaskLens]],
    work: Mapping[str, Sequence[int]],
    cards: Mapping[str, tuple[str, str]],
    extra: Mapping[str, Any],
) -> str:
    """Return the chart's JSON.

    Args:
        runs: Runs by model key, in the fixed order.
        lenses: Lenses of each model's masks, in reading order.
        work: FLOPs for 1, 2, 3 ... applications, by key of the models with a shared layer.
        cards: (label, reason) by key of the unavailable models.
        extra: ``texts``, the chart's texts, and ``run``, the parameters of its requests.
    """
    tokens = next(iter(runs.values())).tokens
    models = [
        _model(run, lenses[key], work.get(key, ()), extra["texts"]) for key, run in runs.items()
    ]
    return script_json(
        {
            "masks": mask_places(tokens)[: len(next(iter(lenses.values())))],
            "n_masks": len(tokens.mask_positions),
            "models": models,
            "cards": [
                {"key": key, "label": label, "sentence": why, "code": code_of(why)}
                for key, (label, why) in cards.items()
            ],
            **extra,
        }
    )


def dial_json(run: Run, dial: DepthDial) -> str:
    """Return the JSON of the answers after every number of applications."""
    data: DialData = {"top": _listed(run, dial.top_ids, dial.top), "kl": unrounded(dial.kl)}
    return script_json(data)


def every_word_json(
    runs: Mapping[str, Run], alignment: Alignment, most: int, by_model: Mapping[str, EveryWord]
) -> str:
    """Return the ranks of the first words at each layer; only words in ``shared_words`` count."""
    indices = alignment.readable[:most]
    counted = shared_words(by_model)
    models: list[WordsRanks] = [
        {
            "key": key,
            "label": run.spec.label,
            "rank": by_model[key].rank.tolist(),
            "groups": [list(alignment.groups[key][i]) for i in indices],
            "first": int((by_model[key].rank[-1, counted] == 1).sum()),
        }
        for key, run in runs.items()
    ]
    data: EveryWordData = {
        "words": [alignment.words[i].text for i in indices],
        "n_words": len(alignment.readable),
        "counted": int(counted.sum()),
        "models": models,
    }
    return script_json(data)


def _model(
    run: Run, lenses: Sequence[MaskLens], work: Sequence[int], texts: Mapping[str, Any]
) -> LensModel:
    """Return the answers, the FLOPs of each depth, and a shared layer's chart."""
    model: LensModel = {
        "key": run.spec.key,
        "label": run.spec.label,
        "layers": run.spec.architecture.n_layers,
        "masks": [_mask(run, lens) for lens in lenses],
        "flops": list(work),
        "pooled": run.spec.architecture.has_pooler,
    }
    if work:
        model["chart"] = figure_json(dial_figure(run.spec, len(work), texts))
    return model


def _mask(run: Run, lens: MaskLens) -> LensMask:
    return {
        "words": list(lens.words),
        "p": unrounded(lens.probabilities),
        "rank": lens.rank.tolist(),
        "kl": unrounded(lens.kl),
        "top": _listed(run, lens.top_ids, lens.top),
        "decided": lens.decided_at,
        "followed": {
            key: {
                "word": word.word,
                "piece": word.piece,
                "p": unrounded(word.probabilities),
                "rank": word.rank.tolist(),
                "decided": word.decided_at,
            }
            for key, word in lens.followed.items()
        },
    }


def _listed(run: Run, ids: np.ndarray, shares: np.ndarray) -> list[list[tuple[str, float]]]:
    spelling = spelling_of(run.vocabulary)
    return [
        [(spelling.word(run.vocabulary[i]), p) for i, p in zip(row, unrounded(ps), strict=True)]
        for row, ps in zip(ids, shares, strict=True)
    ]


def mask_places(tokens: Tokens) -> list[str]:
    """Return each mask's label: the mask with the adjacent words."""
    words, labels = tokens.words, []
    for i, word in enumerate(words):
        if word.is_mask:
            near = words[max(0, i - BESIDE) : i + BESIDE]
            labels.append(tokens.text[near[0].start : near[-1].end])
    return labels
