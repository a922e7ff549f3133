"""Depth as HTML: the logit lens of one mask, a strip per model, as depth/strip.js draws it."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from explorer.analysis.digits import probability
from explorer.views.first.parts import buttons, controls
from explorer.views.markup import (
    Markup,
    el,
    filled,
    finding,
    join,
    model_name,
    note,
    plain_card,
    word,
)

CURVE = 34
"""Width of the curve of KL beside a strip."""
MANY, LOW_ROW, HIGH_ROW = 8, 26, 36
"""Layers from which the rows are lower; the two heights."""
LEAST_PRINTED = 0.0005
Model = Mapping[str, Any]


def depth_html(data: Mapping[str, Any], chosen: int = 0) -> Markup:
    """Draw the JSON of ``lens_canvas`` for one mask."""
    models, texts, masks = data["models"], data["texts"], data["masks"]
    if not masks:
        return finding(texts["nothing_hidden"])
    place = min(chosen, len(masks) - 1)
    lenses = [model["masks"][place] for model in models]
    top_kl = max(max(lens["kl"]) for lens in lenses)
    top_p = max(max(max(row) for row in lens["p"]) for lens in lenses)
    deepest = max(model["layers"] for model in models)
    row = LOW_ROW if deepest > MANY else HIGH_ROW
    size = (row, row * (deepest + 1))
    strips = [_strip(model, place, size, (top_kl, top_p), texts) for model in models]
    cards = [plain_card(card["label"], card["sentence"], card["key"]) for card in data["cards"]]
    scale = el(
        "p",
        texts["scale"],
        el("i"),
        probability(top_p),
        texts["kl_scale"].format(kl=_kl(top_kl)),
        class_="note dp-scale",
    )
    left = texts["first_masks"].format(n=len(masks), all=data["n_masks"])
    left_out = el("p", left, class_="note") if len(masks) < data["n_masks"] else None
    below = el("div", el("div", left_out, note(texts["rows"])), class_="dp-below")
    drawn = el("div", el("div", *strips, *cards, class_="dp-strips"), scale, below, class_="dp")
    names = list(texts["looks"].values())
    near = [buttons(texts["mask"], _named(data), place)] if len(masks) > 1 else []
    looks = controls(buttons(texts["look"], names, 0), *near, class_="aw-bar")
    return join(_finding(data, place), looks, drawn)


def _named(data: Mapping[str, Any]) -> list[str]:
    name = data["texts"]["mask_name"]
    return [name.format(i=i, near=near) for i, near in enumerate(data["masks"], 1)]


def _finding(data: Mapping[str, Any], place: int) -> Markup:
    texts, parts = data["texts"], list[Markup | str]()
    if data["n_masks"] > 1:
        parts.append(texts["numbered"].format(i=place + 1, n=data["n_masks"]))
    for i, model in enumerate(data["models"]):
        mask = model["masks"][place]
        sentence = filled(
            texts["finding" if mask["decided"] else "at_once"],
            model=model_name(model["key"], model["label"]),
            word=word(mask["words"][0]),
            n=str(mask["decided"]),
            total=str(model["layers"]),
        )
        parts += ["; ", sentence] if i else [sentence]
    return finding(*parts, ".")


def _kl(kl: float) -> str:
    return f"{kl:.1f}" if kl >= 9.95 else f"{kl:.2f}"


def _strip(
    model: Model,
    place: int,
    size: tuple[int, int],
    most: tuple[float, float],
    texts: Mapping[str, Any],
) -> Markup:
    mask, (row, height), (top_kl, top_p) = model["masks"][place], size, most
    tops = [int((height - row) * n / model["layers"] + 0.5) for n in range(len(mask["p"]))]
    words = [
        el("span", el("b", w), class_="dp-word" if i else "dp-word first")
        for i, w in enumerate(mask["words"])
    ]
    names = [el("span", texts[name], class_="dp-name") for name in ("place", "kl")]
    head = el("div", el("span"), *words, *names, class_="dp-head")
    rows = [_row(mask, layer, top, top_p, texts) for layer, top in enumerate(tops)]
    body = el(
        "div",
        *rows,
        _curve(mask["kl"], top_kl, tops, size),
        class_="dp-body",
        style=f"--height:{height};--row:{row}",
    )
    name = el("h3", model["label"], class_="model-name", data_model=model["key"])
    return el(
        "section",
        name,
        head,
        body,
        class_="dp-strip",
        data_model=model["key"],
        style=f"--words:{len(mask['words'])}",
    )


def _row(
    mask: Mapping[str, Any], layer: int, top: int, top_p: float, texts: Mapping[str, Any]
) -> Markup:
    cells = [
        el(
            "span",
            f"{p:.3f}" if p >= LEAST_PRINTED else "",
            class_="dp-cell",
            style=f"--share:{sqrt(p / (top_p or 1)):.6g}",
        )
        for p in mask["p"][layer]
    ]
    decided = mask["decided"]
    kind = f"dp-row{' decides' * (layer == decided)}{' decided' * (layer >= decided)}"
    return el(
        "div",
        el("span", str(layer) if layer else texts["embeddings"], class_="dp-layer"),
        *cells,
        el("span", f"{mask['rank'][layer]:,}", class_="dp-place"),
        el("span", _kl(mask["kl"][layer]), class_="dp-kl"),
        class_=kind,
        style=f"--top:{top}",
    )


def _curve(
    kl: Sequence[float], top_kl: float, tops: Sequence[int], size: tuple[int, int]
) -> Markup:
    row, height = size
    points = [
        (f"{2 + (CURVE - 4) * value / (top_kl or 1):.1f}", f"{top + row / 2:g}")
        for value, top in zip(kl, tops, strict=True)
    ]
    ends = [el("line", x1=x, x2=x, y1=0, y2=height, class_="dp-end") for x in (2, CURVE - 2)]
    line = el("polyline", points=" ".join(map(",".join, points)))
    dots = [el("circle", cx=x, cy=y, r=2.5) for x, y in points]
    inside = (*ends, line, *dots)
    return el("svg", *inside, class_="dp-curve", width=CURVE, height=height, aria_hidden="true")
