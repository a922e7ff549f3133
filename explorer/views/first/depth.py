"""Depth as HTML: the logit lens of one mask, a strip per model, as depth/strip.js draws it."""

from collections.abc import Mapping, Sequence
from math import inf, sqrt
from typing import Any

from explorer.analysis.digits import nats, probability
from explorer.views.first.parts import buttons, controls
from explorer.views.markup import (
    Markup,
    card_of,
    el,
    filled,
    finding,
    join,
    model_name,
    note,
    word,
)

CURVE = 34
"""Width of the curve of KL beside a strip."""
MANY, LOW_ROW, HIGH_ROW = 8, 26, 36
"""Layers from which the rows are lower; the two heights."""
LEAST_PRINTED = 0.0005
Model = Mapping[str, Any]


def depth_html(data: Mapping[str, Any], chosen: int = 0, follow: str = "") -> Markup:
    """Draw the JSON of ``lens_canvas`` for one mask, with one model's answer in all of them."""
    texts, masks = data["texts"], data["masks"]
    if not masks:
        return finding(texts["nothing_hidden"])
    place = min(chosen, len(masks) - 1)
    models = [_with_first(model, place, follow) for model in data["models"]]
    lenses = [model["masks"][place] for model in models]
    top_kl = max(max(lens["kl"]) for lens in lenses)
    top_p = max(max(max(row) for row in lens["p"]) for lens in lenses)
    deepest = max(model["layers"] for model in models)
    row = LOW_ROW if deepest > MANY else HIGH_ROW
    size = (row, row * (deepest + 1))
    strips = [_strip(model, place, size, (top_kl, top_p), texts) for model in models]
    cards = [card_of(card, "sentence") for card in data["cards"]]
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
    answers, one = _offered(data, place), _word_of(data, place, follow)
    if len(answers) > 2:
        near.append(buttons(texts["follow"], answers, answers.index(one) if one else 0))
    looks = controls(buttons(texts["look"], names, 0), *near, class_="aw-bar")
    said = _followed(data, place, follow) if one else _finding(data, place)
    return join(said, looks, drawn)


def _word_of(data: Mapping[str, Any], place: int, key: str) -> str | None:
    """Return the word that a key stands for at a mask: that model's answer; None for no word."""
    followed = [model["masks"][place]["followed"] for model in data["models"]]
    return next((words[key]["word"] for words in followed if key in words), None)


def _offered(data: Mapping[str, Any], place: int) -> list[str]:
    """Return what can be followed: each model's own answer, then every different answer once."""
    words = [_word_of(data, place, model["key"]) for model in data["models"]]
    return [data["texts"]["own"], *dict.fromkeys(word for word in words if word)]


def _with_first(model: Model, place: int, key: str) -> Model:
    """Return the model with the followed word first at one mask; without it, the model as it is."""
    mask = model["masks"][place]
    one = mask["followed"].get(key)
    if one is None:
        return model
    n = len(mask["words"])
    others = [i for i, word in enumerate(mask["words"]) if word != one["word"]][: n - 1]
    drawn = {
        "words": [one["word"], *(mask["words"][i] for i in others)],
        "p": [[one["p"][i], *(row[j] for j in others)] for i, row in enumerate(mask["p"])],
        "rank": one["rank"],
        "decided": inf if one["decided"] is None else one["decided"],
        "is_followed": True,
    }
    masks = [mask | drawn if i == place else other for i, other in enumerate(model["masks"])]
    return {**model, "masks": masks}


def _followed(data: Mapping[str, Any], place: int, key: str) -> Markup:
    """Return what becomes of the followed word in each model."""
    texts, parts = data["texts"], list[Markup | str]()
    for model in data["models"]:
        one, name = model["masks"][place]["followed"].get(key), "followed_none"
        values: dict[str, str | Markup] = {"model": model_name(model["key"], model["label"])}
        if one is not None:
            ranks = one["rank"]
            firsts = [layer for layer, rank in enumerate(ranks) if rank == 1]
            from_layer = one["decided"]
            name = "followed_first" if from_layer else "followed_at_once"
            if from_layer is None:
                name = "followed_lost" if firsts and firsts[-1] else "followed_last"
                from_layer = firsts[-1] if firsts else 0
            values |= {
                "n": str(from_layer),
                "total": str(model["layers"]),
                "rank": f"{ranks[-1]:,}",
            }
        parts += ["; ", filled(texts[name], **values)] if parts else [filled(texts[name], **values)]
    lead = filled(texts["followed"], word=word(_word_of(data, place, key) or ""))
    return finding(lead, *parts, ".")


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
    return nats(kl)


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
    labels = (texts["place_of" if mask.get("is_followed") else "place"], texts["kl"])
    names = [el("span", label, class_="dp-name") for label in labels]
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
