"""Every tensor of a model as a rectangle inside the part that it belongs to."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from explorer.views.chart import chart_canvas
from explorer.views.numbers import NO_RUN, Numbers
from explorer.views.theme import COLOURS, faint

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from explorer.analysis.parameters.count import Tensor
    from explorer.analysis.parameters.family import FamilyMember

Path = tuple[str, ...]
COLUMNS = ("model", "tensor", "shape", "stored", "uses_in_one_pass", "applied")
HEIGHT = 420
PROJECTIONS = ("query", "key", "value", "output")


def tensor_path(tensor: "Tensor", member: "FamilyMember", names: Mapping[str, str]) -> Path:
    """Where a tensor belongs, from the largest part to itself.

    A layer's attention is parted into query, key, value and output by the names that the model's
    kind has for them.
    """
    layer = (
        () if tensor.layer is None else (names["layers"], f"{names['layer']} {tensor.layer + 1}")
    )
    module, _, own = tensor.name.rpartition(".")
    if tensor.layer is None and tensor.component != "pooler":
        return names["embeddings"], names[tensor.component], tensor.name
    if tensor.component != "attention":
        return *layer, names[tensor.component], tensor.name
    kind = member.spec.kind
    part = next(one for one in PROJECTIONS if re.search(getattr(kind, one), module))
    return *layer, names["attention"], names[part], f"{names[part]} {own}"


def tensors_figure(
    member: "FamilyMember", names: Mapping[str, str], applied: bool = False
) -> "go.Figure":
    """A treemap of one model: area is weights, stored once or counted for every use in a pass."""
    import plotly.graph_objects as go

    root = member.spec.label
    sizes: dict[Path, int] = {(root,): 0}
    for tensor in member.counts.encoder:
        path = (root, *tensor_path(tensor, member, names))
        for end in range(1, len(path) + 1):
            part = path[:end]
            sizes[part] = sizes.get(part, 0) + tensor.size * (tensor.calls if applied else 1)
    colour = COLOURS[member.spec.key].fill
    tree = go.Treemap(
        ids=["/".join(path) for path in sizes],
        labels=[path[-1] for path in sizes],
        parents=["/".join(path[:-1]) for path in sizes],
        values=list(sizes.values()),
        branchvalues="total",
        maxdepth=3,
        marker={"colors": [faint(colour, min(0.85, 0.12 * len(path))) for path in sizes]},
        hovertemplate="%{label}<br>%{value:,} (%{percentRoot:.1%})<extra></extra>",
        texttemplate="%{label}<br>%{percentRoot:.1%}",
        tiling={"pad": 2},
    )
    title = f"{root}: {sizes[(root,)]:,}"
    layout = {"title": title, "height": HEIGHT, "margin": {"l": 0, "r": 0, "t": 4, "b": 0}}
    return go.Figure(tree, layout)


def tensors_canvas(members: "Sequence[FamilyMember]", texts: Mapping[str, object]) -> str:
    """The three models side by side, counted in both ways."""
    names: Mapping[str, str] = texts["parts"]  # type: ignore[assignment]
    ways = [tensors_figure(m, names, applied) for applied in (False, True) for m in members]
    rows = [
        (m.spec.label, t.name, " x ".join(map(str, t.shape)), t.size, t.calls, t.size * t.calls)
        for m in members
        for t in m.counts.encoder
    ]
    totals = {
        m.spec.label: {"stored": m.counts.total, "applied": m.counts.applied} for m in members
    }
    numbers = Numbers(COLUMNS, rows, {**NO_RUN, "totals": totals})
    return chart_canvas(ways, numbers, texts=dict(texts))
