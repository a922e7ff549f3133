"""Parameters as HTML: every stored weight of three models on one scale, as parameters/map.js."""

from collections.abc import Mapping
from typing import Any

from explorer.analysis.digits import memory, weights
from explorer.views.first.parts import controls, switch
from explorer.views.markup import Markup, el, explained

Row = Mapping[str, Any]
LEAST_LABELLED, LEAST_COUNTED = 0.075, 0.025
"""Shares of the scale from which a part has room for its name, or for its layer's number."""


def parameters_html(data: Mapping[str, Any]) -> Markup:
    """Draw the JSON of ``parameters_map`` as it is stored."""
    families, texts = data["families"], data["texts"]
    rows = families[shown_family(data)]
    scale = max(max(row["total"], row["applied"]) for row in rows)
    used = {cell["part"] for row in rows for cell in row["cells"]}
    legend = [
        el("li", el("i", class_="pm-swatch", data_part=part), name)
        for part, name in texts["parts"].items()
        if part in used
    ]
    note = texts["stored_note"].format(first=rows[0]["label"])
    apart = el("p", explained(texts["heads_apart"], *texts["terms"]), class_="note")
    return el(
        "div",
        _modes(data),
        el("p", note, class_="note"),
        *(_row(row, scale, texts) for row in rows),
        el("ul", *legend, class_="pm-legend"),
        apart,
        class_="pm",
    )


def shown_family(data: Mapping[str, Any]) -> str:
    """Return the family that the page opens on: the chosen one where it is neither of the usual."""
    return "chosen" if "chosen" in data["families"] else next(iter(data["families"]))


def _modes(data: Mapping[str, Any]) -> Markup:
    """Name what is shown, of all that the page can show."""
    texts, families = data["texts"], data["families"]
    names = [texts["families"][family] for family in families]
    shown = list(families).index(shown_family(data))
    choices = [(list(texts["modes"].values()), 0), (names, shown)]
    return controls(*(switch(named, at) for named, at in choices), class_="pm-controls")


def _row(row: Row, scale: int, texts: Mapping[str, Any]) -> Markup:
    head = f"+ {weights(row['head']['size'])} {texts['parts']['head'].lower()}"
    unit = f"{memory(row['bytes'])} fp32"
    header = el(
        "header",
        el("h3", row["label"], class_="model-name"),
        el("strong", weights(row["total"]), class_="pm-total"),
        el("span", unit, class_="pm-unit"),
        el("span", head, class_="chip pm-head"),
    )
    parts, at = list[Markup](), 0
    for cell in row["cells"]:
        parts.append(_cell(cell, at, scale, texts))
        at += cell["size"]
    smaller = [(change, saved) for change, saved in row["savings"] if saved > 0]
    if row["total"] + sum(saved for _, saved in smaller) <= scale:
        for change, saved in smaller:
            change_text = f"{texts['changes'][change]}: −{weights(saved)}"
            label = el("span", change_text) if saved / scale >= LEAST_LABELLED * 2 else None
            parts.append(el("i", label, class_="pm-ghost", style=_place(at, saved, scale)))
            at += saved
    bar = el("div", *parts, class_="pm-bar")
    return el("section", header, bar, class_="pm-row", data_model=row["key"], data_size=row["size"])


def _cell(cell: Row, at: int, scale: int, texts: Mapping[str, Any]) -> Markup:
    part, share = cell["part"], cell["size"] / scale
    label = None
    if part == "word_embeddings" and share >= LEAST_LABELLED:
        label = el("span", texts["embeddings"])
    if part == "ffn" and share >= LEAST_COUNTED:
        label = el("span", str(cell["layer"] + 1))
    starts = " starts" if part == "attention" else ""
    place = _place(at, cell["size"], scale)
    return el("i", label, class_=f"pm-cell{starts}", data_part=part, style=place)


def _place(at: int, size: int, scale: int) -> str:
    return f"left:{100 * at / scale:.4f}%;width:{100 * size / scale:.4f}%"
