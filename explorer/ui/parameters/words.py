"""The sentences of the parameters tab."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from explorer.analysis.digits import counted, quotient, repeated
from explorer.models.choice.family import teacher_of
from explorer.ui.kit.words import AT_CHOICE, AT_SIZE, MIXED, SIZES
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
    "stored_note": "Each weight once; MB are of float32, whatever a file holds. Dashed: what "
    "{first} has in addition.",
    "applied_note": "Each weight as often as one pass uses it. Hatched: the same layer again. "
    "Embedding tables count in full, though a pass reads only the rows of its own tokens.",
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
    "heads_apart": "Encoder and pooler as released; the pre-training heads come on top and "
    "are not in the totals.",
}


def millions(count: float) -> str:
    """109,482,240 as ``109.5 M``."""
    return f"{count / 1e6:,.1f} M"


def parameters_findings(families: Mapping[str, Sequence["FamilyMember"]]) -> Markup:
    """One sentence for each family that is here; the style sheet shows that of the chosen one."""
    return join(*(parameters_finding(found, name) for name, found in families.items() if found))


def parameters_finding(members: Sequence["FamilyMember"], family: str = "base") -> Markup:
    """What the picture shows of a family in one sentence, with its numbers."""
    first, *others = members
    said = join(_named(first), f" stores {millions(first.counts.total)} weights")
    compared = (_compared(other, first) for other in others)
    lead = AT_SIZE.get(family, AT_CHOICE)
    return el("p", lead, said, *compared, ".", class_="finding", data_family=family)


def _named(member: "FamilyMember") -> Markup:
    return model_name(member.spec.key, member.spec.label)


def _fewer(total: int, first: "FamilyMember") -> str:
    """Say how many times fewer weights these are than the first model's, where they are fewer."""
    times = quotient(first.counts.total / total)
    if total >= first.counts.total or times == "1.00":
        return ""
    return f", {times} times fewer than {first.spec.label},"


def _compared(member: "FamilyMember", first: "FamilyMember") -> Markup:
    """What a model stores and why that is less than what the first one stores."""
    shape, counts = member.spec.architecture, member.counts
    is_student = teacher_of(member.spec) == first.spec
    missing = first.spec.architecture.n_layers - shape.n_layers
    said = f" stores {millions(counts.total)}"
    if shape.shares_layers:
        link = "but still" if counts.applied > counts.total else "and"
        said = (
            f" stores one layer and runs it {repeated(shape.n_layers)}, so it keeps "
            f"{millions(counts.total)}{_fewer(counts.total, first)} {link} applies "
            f"{millions(counts.applied)}"
        )
    elif missing > 0 and not is_student:
        said = f" has {counted(shape.n_layers, 'layer')} and{said}"
    elif missing > 0:
        said = f" leaves out {counted(missing, 'layer')} and{said}"
    return join("; ", _named(member), said)
