"""Student layers against teacher layers: two small matrices as tables."""

import numpy as np

from explorer.analysis.distillation.layers import StateAlignment, WeightLineage
from explorer.views.markup import Markup, el

Marks = dict[tuple[int, int], list[str]]


def state_alignment_html(found: StateAlignment, title: str, axes: tuple[str, str]) -> Markup:
    """Cosines of hidden states; the trained pair and the copied pairs are outlined."""
    marks: Marks = {pair: ["initialised"] for pair in found.initialised}
    marks.setdefault(found.trained, []).append("trained")
    for row, column in enumerate(found.nearest):
        marks.setdefault((row, column), []).append("nearest")
    return matrix_html(found.cosine, marks, title, (axes, 0))


def weight_lineage_html(found: WeightLineage, title: str, axes: tuple[str, str]) -> Markup:
    """Cosines of weights; the layers that were copied are outlined."""
    marks: Marks = {pair: ["initialised"] for pair in enumerate(found.initialised_from)}
    for row, column in enumerate(found.nearest):
        marks.setdefault((row, column), []).append("nearest")
    return matrix_html(found.cosine, marks, title, (axes, 1))


def matrix_html(
    values: np.ndarray, marks: Marks, title: str, labels: tuple[tuple[str, str], int]
) -> Markup:
    """A matrix as a table: darker is more alike; numbers are printed, colour only helps."""
    (rows, columns), first = labels
    names = (el("th", layer_name(i + first), scope="col") for i in range(values.shape[1]))
    head = el("tr", el("th", f"{rows} ↓ {columns} →", scope="col"), *names)
    body = [
        el(
            "tr",
            el("th", layer_name(i + first), scope="row"),
            *(_cell(v, marks.get((i, j), [])) for j, v in enumerate(row)),
        )
        for i, row in enumerate(values)
    ]
    table = el("table", el("thead", head), el("tbody", *body))
    box = el("div", table, class_="table dy", tabindex="0", role="region", aria_label=title)
    return el("section", el("h3", title), box)


def layer_name(i: int) -> str:
    """Layers counted from 1 as readers do; 0 is the embedding output."""
    return str(i) if i else "emb."


def _cell(value: float, marks: list[str]) -> Markup:
    shade = f"--v:{max(0.0, float(value)):.3f}"
    return el(
        "td", f"{value:.2f}", style=shade, class_=" ".join(marks) or None, title=f"{value:.4f}"
    )


def keys_html(*entries: tuple[str, str]) -> Markup:
    """What the outlines mean."""
    return el(
        "p", *(el("span", el("i", class_=mark), label) for mark, label in entries), class_="dy-keys"
    )
