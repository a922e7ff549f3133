"""Attention as HTML: the wall of heads, an image per model in the model's own colour."""

import base64
import io
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image

from explorer.views.first.parts import controls, menu
from explorer.views.markup import Markup, card_of, el, explained, join, note

SIDE, GAP = 28, 5
"""Pixels of a tile and between two, in the image."""
OUTLINE = 36
"""Opacity of a tile's outline, of 255."""
Model = Mapping[str, Any]


def attention_html(data: Mapping[str, Any]) -> Markup:
    """Draw the JSON of ``attention_wall_canvas``: all heads of all models, by layer and head."""
    texts, models = data["texts"], data["models"]
    n_rows = 1 + max(max(model["rows"]) for model in models)
    blocks = [
        _block(model, tiles, n_rows, texts)
        for model, tiles in zip(models, tiles_of(data), strict=True)
    ]
    cards = [card_of(card, "sentence") for card in data["cards"]]
    pooled = texts["pooled"].format(n=data["pool"]) if data["pool"] > 1 else ""
    first, _, below = f"{texts['hint']} {texts['rows']} {pooled}".strip().partition("\n")
    rule = note(first, details=explained(below, *texts["terms"]))
    scale = [el("i", data_model=model["key"]) for model in models]
    legend = el(
        "div",
        el("span", texts["low"]),
        *scale,
        el("span", texts["high"]),
        el("span", texts["scale"]),
        class_="aw-scale",
    )
    return join(
        _choices(data),
        _words(data),
        *cards,
        el("div", *blocks, class_="fw-wall", role="img", aria_label=texts["wall"]),
        el("div", legend, rule, class_="aw-foot"),
    )


def tiles_of(data: Mapping[str, Any]) -> list[np.ndarray]:
    """Return the bytes of each model's tiles, [layer, head, query, key]."""
    raw = np.frombuffer(zlib.decompress(base64.b64decode(data["packed"])), np.uint8)
    size, tiles, at = -(-len(data["words"]) // data["pool"]), [], 0
    for model in data["models"]:
        shape = (model["layers"], model["heads"], size, size)
        n = int(np.prod(shape))
        tiles.append(raw[at : at + n].reshape(shape))
        at += n
    return tiles


def _choices(data: Mapping[str, Any]) -> Markup:
    texts, kinds = data["texts"], data["kinds"]
    chips = []
    for number, kind in enumerate(kinds):
        count = sum(model["kind"].count(number) for model in data["models"])
        name = el("span", texts["kinds"][kind])
        chips.append(el("button", name, el("b", str(count)), type="button", class_="aw-kind"))
    shown = el("span", texts["show"])
    types = el("div", shown, el("div", *chips, class_="aw-kinds"), class_="aw-choice")
    return controls(menu(texts["order"], texts["orders"]["place"]), types, class_="aw-bar")


def _words(data: Mapping[str, Any]) -> Markup:
    words = []
    for word, special, mask in zip(data["words"], data["special"], data["masks"], strict=True):
        kind = "aw-word added" if special else "aw-word mask" if mask else "aw-word"
        words.append(el("span", word, class_=kind))
    return el("div", *words, class_="aw-words")


def _block(model: Model, tiles: np.ndarray, n_rows: int, texts: Mapping[str, Any]) -> Markup:
    """Return one model's heads: a row per layer, at the height of the layer it is like."""
    heads = [el("span", str(n + 1)) for n in range(model["heads"])]
    layers = [
        el("span", str(n + 1), style=f"top:{100 * (row + 0.42) / n_rows:.3f}%")
        for n, row in enumerate(model["rows"])
    ]
    picture = base64.b64encode(image_of(tiles, model["rows"], n_rows)).decode()
    ratio = f"{model['heads']}/{n_rows}"
    mask = f"mask:url(data:image/png;base64,{picture}) 0/100% 100%;aspect-ratio:{ratio}"
    title = el(
        "p",
        el("strong", model["label"], class_="model-name", data_model=model["key"]),
        " ",
        el("small", texts["shapes"][model["key"]]),
    )
    return el(
        "section",
        title,
        el("p", *heads, class_="fw-heads"),
        el("div", *layers, el("i", style=mask), class_="fw-tiles"),
        data_model=model["key"],
    )


def image_of(tiles: np.ndarray, rows: Sequence[int], n_rows: int) -> bytes:
    """Return a PNG whose opacity is attention, for a colour that the style sheet gives."""
    n_heads, step = tiles.shape[1], SIDE + GAP
    alpha = np.zeros((n_rows * step, n_heads * step), np.uint8)
    at = np.arange(SIDE) * tiles.shape[2] // SIDE
    for layer, row in enumerate(rows):
        for head in range(n_heads):
            tile = np.maximum(tiles[layer, head][np.ix_(at, at)], 10)
            tile[[0, -1]] = np.maximum(tile[[0, -1]], OUTLINE)
            tile[:, [0, -1]] = np.maximum(tile[:, [0, -1]], OUTLINE)
            top, left = row * step, head * step
            alpha[top : top + SIDE, left : left + SIDE] = tile
    image = Image.fromarray(np.stack([np.zeros_like(alpha), alpha], -1), "LA")
    out = io.BytesIO()
    image.save(out, "png")
    return out.getvalue()
