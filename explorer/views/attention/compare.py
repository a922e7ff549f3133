"""Heads that behave alike, as tables; ALBERT's shared heads, as data for a strip of pictures."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.analysis.attention.compare import HeadTwins, SharedDrift
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, el, script_json, table

SHOWN = 24
"""The table lists this many heads, the most similar first."""


def head_button(spec: ModelSpec, head: int) -> Markup:
    """A head as ``layer.head``; a click shows it on the wall."""
    layer, within = divmod(head, spec.architecture.n_heads)
    return el(
        "button",
        f"{layer + 1}.{within + 1}",
        type="button",
        class_="aw-jump",
        data_model=spec.key,
        data_layer=layer,
        data_head=within,
    )


def head_twins_html(
    twins: HeadTwins, first: ModelSpec, second: ModelSpec, texts: Mapping[str, str]
) -> Markup:
    """The second model's heads with their partner and their most similar head in the first."""
    every = np.arange(len(twins.partner))
    matched = np.where(twins.partner >= 0, twins.js[twins.partner, every], np.inf)
    order = matched.argsort()[:SHOWN]
    rows = [
        [
            head_button(second, i),
            *_with_js(twins, first, twins.partner[i], i),
            *_with_js(twins, first, twins.nearest[i], i),
        ]
        for i in order
    ]
    head = [
        second.label,
        f"{first.label}, {texts['one_to_one']}",
        texts["js"],
        f"{first.label}, {texts['nearest']}",
        texts["js"],
    ]
    caption = texts["twins_caption"].format(n=len(order), total=len(every))
    return el("div", table(head, rows, caption), class_="aw-twins")


def _with_js(twins: HeadTwins, first: ModelSpec, head: int, other: int) -> list[str | Markup]:
    if head < 0:
        return ["–", "–"]
    return [head_button(first, int(head)), f"{twins.js[head, other]:.3f}"]


def layer_twins_html(
    twins: HeadTwins, first: ModelSpec, second: ModelSpec, texts: Mapping[str, str]
) -> Markup:
    """Layer by layer: the darker the cell, the more alike; each row's closest layer is marked."""
    values = twins.layers
    low, high = float(values.min()), float(values.max())
    head = el(
        "tr",
        el("th", f"{second.label} \\ {first.label}", scope="col"),
        *(el("th", str(k + 1), scope="col") for k in range(values.shape[1])),
    )
    rows = [
        el(
            "tr",
            el("th", str(layer + 1), scope="row"),
            *(
                el(
                    "td",
                    f"{value:.2f}",
                    class_="best" if k == row.argmin() else None,
                    style=f"--v:{1 - (value - low) / max(high - low, 1e-9):.3f}",
                )
                for k, value in enumerate(row)
            ),
        )
        for layer, row in enumerate(values)
    ]
    caption = texts["layers_caption"].format(first=first.label, second=second.label)
    return el(
        "div",
        el("table", el("caption", caption), el("thead", head), el("tbody", *rows)),
        class_="table aw-heat",
        data_model=second.key,
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def shared_drift_canvas(drift: SharedDrift, spec: ModelSpec, texts: Mapping[str, Any]) -> str:
    """What the strip of one shared head needs besides the wall's own numbers."""
    return script_json(
        {
            "model": spec.key,
            "texts": dict(texts),
            "step": np.round(drift.step, 4).tolist(),
            "from_first": np.round(drift.from_first, 4).tolist(),
        }
    )
