"""JSON of the logit lens: the answer after each layer."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.analysis.alignment import Alignment
from explorer.analysis.depth.lens import DepthDial, EveryWord, MaskLens, shared_words
from explorer.analysis.records import unrounded
from explorer.models.run import Run
from explorer.models.specs import ModelSpec
from explorer.models.tokens import Tokens, spelling_of
from explorer.refusal import code_of
from explorer.views.chart import figure_json, line
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
        _model(run, lenses[key]) | _dial(run, work.get(key, ()), extra["texts"])
        for key, run in runs.items()
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
    return script_json({"top": _listed(run, dial.top_ids, dial.top), "kl": unrounded(dial.kl)})


def every_word_json(
    runs: Mapping[str, Run], alignment: Alignment, most: int, by_model: Mapping[str, EveryWord]
) -> str:
    """Return the ranks of the first words at each layer; only words in ``shared_words`` count."""
    indices = alignment.readable[:most]
    counted = shared_words(by_model)
    models = [
        {
            "key": key,
            "label": run.spec.label,
            "rank": by_model[key].rank.tolist(),
            "groups": [list(alignment.groups[key][i]) for i in indices],
            "first": int((by_model[key].rank[-1, counted] == 1).sum()),
        }
        for key, run in runs.items()
    ]
    words = [alignment.words[i].text for i in indices]
    summary = {"words": words, "n_words": len(alignment.readable), "counted": int(counted.sum())}
    return script_json({**summary, "models": models})


def _dial(run: Run, work: Sequence[int], texts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the FLOPs of each depth, whether a pooler is counted, and a shared layer's chart."""
    dial: dict[str, Any] = {"flops": list(work), "pooled": run.spec.architecture.has_pooler}
    return dial | {"chart": figure_json(dial_figure(run.spec, len(work), texts))} if work else dial


def _model(run: Run, lenses: Sequence[MaskLens]) -> dict[str, Any]:
    return {
        "key": run.spec.key,
        "label": run.spec.label,
        "layers": run.spec.architecture.n_layers,
        "masks": [_mask(run, lens) for lens in lenses],
    }


def _mask(run: Run, lens: MaskLens) -> dict[str, Any]:
    return {
        "words": list(lens.words),
        "p": unrounded(lens.probabilities),
        "rank": lens.rank.tolist(),
        "kl": unrounded(lens.kl),
        "top": _listed(run, lens.top_ids, lens.top),
        "decided": lens.decided_at,
        "followed": {
            key: {
                "word": one.word,
                "piece": one.piece,
                "p": unrounded(one.probabilities),
                "rank": one.rank.tolist(),
                "decided": one.decided_at,
            }
            for key, one in lens.followed.items()
        },
    }


def _listed(run: Run, ids: np.ndarray, shares: np.ndarray) -> list[list[list[Any]]]:
    spelling = spelling_of(run.vocabulary)
    return [
        [[spelling.word(run.vocabulary[i]), p] for i, p in zip(row, unrounded(ps), strict=True)]
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
