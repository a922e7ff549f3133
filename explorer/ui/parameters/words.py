"""The sentences of the parameters tab."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from explorer.analysis.digits import counted, repeated
from explorer.analysis.parameters.shape import forward_flops
from explorer.models.choice.family import teacher_of
from explorer.ui.kit.words import AT_CHOICE, AT_SIZE, MIXED, SIZES, compute_said, stored_said
from explorer.views.glossary import places
from explorer.views.markup import Markup, el, join, model_name

if TYPE_CHECKING:
    from explorer.analysis.parameters.family import FamilyMember

LABEL = "Parameters"
QUESTION = "Where are the parameters, and what do sharing and factorising save?"

PARTS = {
    "word_embeddings": "Word embeddings",
    "position_embeddings": "Position embeddings",
    "token_type_embeddings": "Segment embeddings",
    "embedding_norm": "Embedding norm",
    "embedding_projection": "Projection E to H",
    "attention": "Attention",
    "ffn": "Feed-forward",
    "layer_norm": "Layer norms",
    "pooler": "Pooler",
    "head": "Pre-training head",
}
CHANGES = {
    "layers": "fewer layers",
    "width": "narrower layers",
    "segments": "no segment embeddings",
    "pooler": "no pooler",
    "vocabulary": "a smaller vocabulary",
    "sharing": "one shared layer",
    "factorising": "factorised embedding",
    "positions": "fewer positions",
}
MAP = {
    "parts": PARTS,
    "changes": CHANGES,
    "families": {"base": SIZES["base"], "mini": SIZES["mini"], "chosen": MIXED},
    "family_label": "Models",
    "modes": {"stored": "Stored", "applied": "Applied in one pass"},
    "mode_label": "Count each weight",
    "stored_note": "Each weight once, in float32. Dashed: what {first} has in addition.",
    "applied_note": "Each weight as often as one pass uses it. Hatched: the same layer again. "
    "Embedding tables count in full, though a pass reads only the rows of its own tokens, at no "
    "FLOP: with a smaller table a model applies fewer weights and does the same compute.",
    "hint": "Point at a part of a bar, or move with the arrow keys, to see its tensors.",
    "again": "the same tensors again",
    "run": "run {n} times",
    "less": "less {how} than {first}",
    "more": "more {how} than {first}",
    "how": {"stored": "stored", "applied": "applied"},
    "numbers": "weights",
    "stored_unit": "MB in fp32",
    "layer": "Layer",
    "layers_each": "layers of",
    "one_layer": "one layer of",
    "tensor_head": ["Tensor", "Shape", "Type", "Bytes"],
    "bar": "{label}: {stored} weights stored, {applied} applied in one pass",
    "embeddings": "embeddings",
    "terms": places("pooler"),
    "heads_apart": "Encoder and pooler; pre-training heads come on top.",
}

LENGTH = 128
"""Tokens of the pass whose FLOP are compared."""


def millions(count: float) -> str:
    """109,482,240 as ``109.5 M``."""
    return f"{count / 1e6:,.1f} M"


def parameters_findings(families: Mapping[str, Sequence["FamilyMember"]]) -> Markup:
    """One sentence for each family that is here; the style sheet shows that of the chosen one."""
    return join(*(parameters_finding(found, name) for name, found in families.items() if found))


def parameters_finding(members: Sequence["FamilyMember"], family: str = "base") -> Markup:
    """Say what each model stores and computes beside the first, and why; shared layers first."""
    first, *others = members
    lead = AT_SIZE.get(family, AT_CHOICE)
    in_order = sorted(others, key=lambda one: not _shares(one))
    said = [_compared(one, first, not i) for i, one in enumerate(in_order)]
    if not said:
        said = [join(_named(first), f" stores {millions(first.counts.total)} weights")]
    return el(
        "p",
        lead,
        *(part for one in said for part in ("; " if one is not said[0] else "", one)),
        ".",
        class_="finding",
        data_family=family,
    )


def _shares(member: "FamilyMember") -> bool:
    return member.spec.architecture.shares_layers


def _named(member: "FamilyMember") -> Markup:
    return model_name(member.spec.key, member.spec.label)


def _compared(member: "FamilyMember", first: "FamilyMember", is_first: bool) -> Markup:
    """How many times fewer weights a model stores than the first, its compute, and the reason."""
    own, other = member.counts.total, first.counts.total
    work = forward_flops(member.spec, LENGTH) / forward_flops(first.spec, LENGTH)
    return join(
        *(_named(member), f" stores {stored_said(own, other)} ", _named(first)),
        f" ({millions(own)}{f', not {millions(other)}' if is_first and own != other else ''})",
        f" and does {compute_said(work)}",
        _reason(member, first),
    )


def _reason(member: "FamilyMember", first: "FamilyMember") -> str:
    shape = member.spec.architecture
    missing = first.spec.architecture.n_layers - shape.n_layers
    if shape.shares_layers:
        return f": it stores one layer and runs it {repeated(shape.n_layers)}"
    if missing <= 0:
        return ""
    if teacher_of(member.spec) == first.spec:
        return f": it leaves out {counted(missing, 'layer')}"
    return f": it has {counted(shape.n_layers, 'layer')}"
