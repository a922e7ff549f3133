"""Which tensor each layer of a forward pass used: the proof that ALBERT's layers are one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.views.markup import Markup, el, join, model_name, table
from explorer.views.numbers import Numbers

if TYPE_CHECKING:
    from explorer.analysis.parameters.applied import LayerCalls
    from explorer.models.specs import ModelSpec


@dataclass(frozen=True, slots=True)
class CallRow:
    """The calls of one network and what kind of network it was."""

    spec: "ModelSpec"
    calls: "LayerCalls"
    source: str
    """Printed beside the name: loaded weights, or the shape alone."""


def calls_table(rows: Sequence[CallRow], heads: Mapping[str, str], chip: str) -> Markup:
    """One row a network: its layer calls, the distinct weights among them, and each call's."""
    body: list[list[str | Markup]] = [
        [
            join(
                model_name(row.spec.key, row.spec.name, row.spec.size),
                " ",
                el("span", row.source, class_="badge"),
            ),
            str(row.calls.calls),
            str(row.calls.distinct),
            _chips(row, chip),
        ]
        for row in rows
    ]
    return el("div", table(list(heads.values()), body), class_="pt-calls")


def calls_numbers(
    rows: Sequence[CallRow], loaded: Sequence["ModelSpec"], shapes: Sequence["ModelSpec"]
) -> Numbers:
    """Every chip: which weights each layer of a pass used, in loaded networks and in shapes."""
    body = [
        [row.spec.name, row.source, layer, tensor + 1]
        for row in rows
        for layer, tensor in enumerate(row.calls.tensors, 1)
    ]
    said = {"family": True, "models": True}
    constants = {
        "LOADED": {spec.label: spec.name for spec in loaded},
        "CONFIGS": {spec.name: spec.config for spec in shapes},
        "KINDS": list(dict.fromkeys(row.source for row in rows)),
    }
    return Numbers(("model", "weights", "layer_of_the_pass", "tensor"), body, said, constants)


def _chips(row: CallRow, chip: str) -> Markup:
    """A chip a layer call, numbered by the weight tensor that the call used."""
    tensors = row.calls.tensors
    chips = [
        el(
            "li",
            str(tensor + 1),
            title=chip.format(layer=place + 1, tensor=tensor + 1),
            class_="again" if tensor in tensors[:place] else "first",
        )
        for place, tensor in enumerate(tensors)
    ]
    return el("ol", *chips, data_model=row.spec.key)
