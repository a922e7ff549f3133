"""Which tensor each layer of a forward pass used: the proof that ALBERT's layers are one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.views.markup import Markup, el, model_name
from explorer.views.numbers import Numbers

if TYPE_CHECKING:
    from explorer.analysis.parameters.applied import LayerCalls


@dataclass(frozen=True, slots=True)
class CallRow:
    """The calls of one network and what kind of network it was."""

    key: str
    label: str
    calls: "LayerCalls"
    source: str
    """Printed beside the name: loaded weights, or the shape alone."""


def calls_html(rows: Sequence[CallRow], sentence: str, chip: str) -> Markup:
    """One chip per layer call, numbered by the weight tensor that the call used."""
    return el("div", *(_row(row, sentence, chip) for row in rows), class_="pt-calls")


def calls_numbers(rows: Sequence[CallRow]) -> Numbers:
    """Every chip: which weights each layer of a pass used."""
    body = [
        [row.label, row.source, layer, tensor + 1]
        for row in rows
        for layer, tensor in enumerate(row.calls.tensors, 1)
    ]
    said = {"family": True, "models": True}
    return Numbers(("model", "weights", "layer_of_the_pass", "tensor"), body, said)


def _row(row: CallRow, sentence: str, chip: str) -> Markup:
    calls = row.calls
    total = sentence.format(calls=calls.calls, distinct=calls.distinct)
    chips = [
        el(
            "li",
            str(tensor + 1),
            title=chip.format(layer=place + 1, tensor=tensor + 1),
            class_="again" if tensor in calls.tensors[:place] else "first",
        )
        for place, tensor in enumerate(calls.tensors)
    ]
    return el(
        "section",
        el("h3", model_name(row.key, row.label), " ", el("span", row.source, class_="badge")),
        el("ol", *chips, aria_label=total),
        el("p", total),
        data_model=row.key,
    )
