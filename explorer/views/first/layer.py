"""Layer as HTML: the boxes of one layer and the lines between them, as layer/flow.js draws them."""

from collections.abc import Mapping, Sequence
from math import cos, pi, sin
from typing import Any

from explorer.analysis.digits import probability
from explorer.views.first.parts import controls, menu
from explorer.views.markup import (
    Markup,
    card_of,
    el,
    filled,
    finding,
    join,
    listed,
    model_name,
    note,
    word,
)

STAGES = ("input", "attention", "norm1", "feed", "norm2")
READ_AT = ("input", "norm1", "norm2")
"""Boxes with a state that the model's head can read."""
BLOCK_OF = {"norm1": "attention", "norm2": "feed_forward"}
PART_OF = {"attention": "attention", "feed": "ffn"}
MAX_READ = 3
Model = Mapping[str, Any]


def layer_html(data: Mapping[str, Any]) -> Markup:
    """Draw the JSON of ``layer_canvas``: what changed the word, and a lane of boxes per model."""
    models, printed = data["models"], Printed(data["models"])
    rows = [_stage(stage, data, printed) for stage in STAGES]
    flow = el(
        "div",
        _heads(models),
        *rows,
        _exits(data),
        class_="ly-grid",
        style=f"--models:{len(models)}",
    )
    cards = (card_of(card, "why") for card in data["cards"])
    return join(_finding(data), _controls(data), flow, *cards, note(data["texts"]["note"]))


def _controls(data: Mapping[str, Any]) -> Markup:
    texts, chosen = data["texts"], data["chosen"]
    deep = next(model for model in data["models"] if model["key"] == chosen["deepest"])
    word_menu = menu(texts["word"], chosen["words"][chosen["at"]])
    layer_menu = menu(texts["layer"], str(deep["layer"] + 1))
    return controls(el("div", word_menu, layer_menu, class_="ly-controls"), class_="ly-top")


def degrees(angle: float) -> str:
    """Format by how much a vector turned, in whole degrees."""
    return "< 1°" if 0 < angle < 1 else f"{int(angle + 0.5)}°"


class Printed:
    """Probabilities of the boxes as they are printed."""

    def __init__(self, models: Sequence[Model]) -> None:
        readings = [(m["key"], n) for m in models for n in range(len(m.get("readings") or ()))]
        p = [m["readings"][n][1] for m in models for n in range(len(m.get("readings") or ()))]
        self.most_read = {m["key"]: _largest(m["read_from"]) for m in models}
        weights = [
            (m["key"], i, m["read_from"][i]) for m in models for i in self.most_read[m["key"]]
        ]
        self.predicted = dict(zip(readings, map(probability, p), strict=True))
        self.read = {(key, i): probability(weight) for key, i, weight in weights}
        self.most = max([w for *_, w in weights] + [1e-9])


def _largest(weights: Sequence[float]) -> list[int]:
    return sorted(range(len(weights)), key=lambda i: -weights[i])[:MAX_READ]


def _changed_by(model: Model) -> str:
    """Return the block that turned the state further; empty where both angles print alike."""
    angles = model["angles"]
    same = degrees(angles["attention"]) == degrees(angles["feed_forward"])
    return "" if same else model["changed_by"]


def _finding(data: Mapping[str, Any]) -> Markup:
    models, texts, chosen = data["models"], data["texts"], data["chosen"]
    one_place = len({model["layer"] for model in models}) == 1
    place = texts["place"].format(n=models[0]["layer"] + 1) if one_place else texts["places"]
    blocks = dict.fromkeys(map(_changed_by, models))
    parts: list[Markup] = []
    for block in sorted(blocks, key=lambda block: not block):
        of = [model for model in models if _changed_by(model) == block]
        who = _who(of, texts, is_all=len(of) == len(models) and len(of) > 1)
        if parts:
            text = texts["rest" if block else "equal_rest"]
            parts.append(filled(text, block=texts["blocks"].get(block, ""), models=who))
            continue
        first = block or "attention"
        second = "feed_forward" if first == "attention" else "attention"
        parts.append(
            filled(
                texts["finding" if block else "equal"],
                word=word(chosen["words"][chosen["at"]]),
                models=who,
                place=place,
                first=texts["blocks"][first],
                second=texts["blocks"][second],
            )
        )
    return finding(*parts, ".")


def _who(models: Sequence[Model], texts: Mapping[str, Any], *, is_all: bool) -> Markup:
    if not is_all:
        return listed([model_name(model["key"], model["label"]) for model in models])
    n = len(models)
    number = texts["numbers"].get(str(n), str(n))
    return join(texts["every"]["both"] if n == 2 else texts["every"]["all"].format(n=number))


def _heads(models: Sequence[Model]) -> Markup:
    cells = [
        el(
            "div",
            el("h3", model["label"], class_="model-name", data_model=model["key"]),
            el("small", model["note"]),
            el("small", model["pieces"]) if model["pieces"] else None,
            class_="ly-cell",
        )
        for model in models
    ]
    return el("div", *cells, class_="ly-lanes ly-heads")


def _stage(stage: str, data: Mapping[str, Any], printed: Printed) -> Markup:
    lanes = [
        el(
            "div",
            *_lines(stage, loops=model["shares"]),
            el(
                "div",
                el("span", data["texts"]["stages"][stage], class_="ly-name"),
                *_inside(model, stage, data, printed),
                class_="ly-box",
                data_part=PART_OF.get(stage),
            ),
            class_="ly-lane",
            data_model=model["key"],
        )
        for model in data["models"]
    ]
    return el("section", el("div", *lanes, class_="ly-lanes"), class_="ly-stage", data_stage=stage)


def _line(name: str, tip: str = "") -> Markup:
    turned = {"right": "rotate(270 4 3)", "left": "rotate(90 4 3)"}.get(tip)
    path = el("path", d="M0 0h8L4 6z", fill="currentColor", transform=turned)
    arrow = el("svg", path, class_=f"ly-tip {tip}", viewBox="0 0 8 6", width=8, height=6)
    return el("span", arrow if tip else None, class_=f"ly-line {name}", aria_hidden="true")


def _lines(stage: str, *, loops: bool) -> list[Markup]:
    """Return the arrow from the box above, the residual connection, and a shared layer's loop."""
    lines = [] if stage == "input" else [_line("down", "down")]
    if stage in PART_OF:
        lines.append(_line("past"))
    elif stage in BLOCK_OF:
        lines.append(_line("joins", "left"))
    if loops:
        lines.append(_line("enters", "right") if stage == "input" else _line("loops"))
    return lines


def _inside(model: Model, stage: str, data: Mapping[str, Any], printed: Printed) -> list[Markup]:
    texts, parts = data["texts"], []
    if stage == "input":
        n = model["layer"]
        source = texts["from"].format(n=n) if n else texts["from_embedding"]
        parts.append(el("span", source, class_="ly-small"))
    if stage == "attention":
        parts += _reads(model, texts, printed)
    if stage == "feed":
        of = word(data["chosen"]["words"][data["chosen"]["at"]])
        parts.append(el("span", filled(texts["alone"], word=of), class_="ly-small"))
    if stage in READ_AT and model.get("readings"):
        place = READ_AT.index(stage)
        p = el("b", printed.predicted[model["key"], place])
        answer = word(model["readings"][place][0])
        parts.append(el("span", filled(texts["predicts"], word=answer, p=p), class_="ly-says"))
    if stage in BLOCK_OF:
        angle = model["angles"][BLOCK_OF[stage]]
        turned = texts["turned"].format(n=degrees(angle))
        parts.append(el("span", _turn(angle), turned, class_="ly-angle"))
    return parts


def _reads(model: Model, texts: Mapping[str, Any], printed: Printed) -> list[Markup]:
    key = model["key"]
    rows = [
        el(
            "span",
            el("span", model["tokens"][i], class_="self" if i == model["position"] else None),
            el(
                "span",
                el("i", style=f"--share:{model['read_from'][i] / printed.most:.6g}"),
                class_="ly-bar",
            ),
            el("b", printed.read[key, i]),
        )
        for i in printed.most_read[key]
    ]
    reads = el("span", texts["reads"].format(n=model["n_heads"]), class_="ly-small")
    return [reads, el("span", *rows, class_="ly-reads")]


def _turn(angle: float) -> Markup:
    """Draw the two arms of a vector and the angle between them."""
    x, y = 9 + 8 * cos(angle * pi / 180), 10 - 8 * sin(angle * pi / 180)
    path = el(
        "path",
        d=f"M17 10H9L{x:.2f} {y:.2f}",
        fill="none",
        stroke="currentColor",
        stroke_width=1.75,
        stroke_linejoin="round",
        stroke_linecap="round",
    )
    return el("svg", path, class_="ly-turn", viewBox="0 0 18 19", width=18, height=19)


def _exits(data: Mapping[str, Any]) -> Markup:
    """Say where the layer's output goes: to the next layer, round again, or to the head."""
    return el("div", *(_exit(model, data["texts"]) for model in data["models"]), class_="ly-lanes")


def _exit(model: Model, texts: Mapping[str, Any]) -> Markup:
    if model["layer"] + 1 < model["n_layers"]:
        to = texts["again" if model["shares"] else "to"].format(n=model["layer"] + 2)
    else:
        to = texts["to_head" if model.get("readings") else "ends"]
    leaves = _line("leaves") if model["shares"] else None
    destination = el("span", to, class_="ly-small")
    down, key = _line("down", "down"), model["key"]
    return el("div", down, leaves, destination, class_="ly-lane ly-exit", data_model=key)
