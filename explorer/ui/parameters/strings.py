"""Sentences and labels of the Parameters tab."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.analysis.digits import counted, repeated, weights
from explorer.analysis.parameters.shape import forward_flops
from explorer.models.choice.family import teacher_of
from explorer.models.specs import Architecture
from explorer.ui.kit.strings import AT_CHOICE, AT_SIZE, MIXED, SIZES, compute_said, stored_said
from explorer.views.glossary import places
from explorer.views.markup import Markup, el, join, model_name, semicolons

if TYPE_CHECKING:
    from explorer.analysis.parameters.shapes import FamilyMember


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
    "stored_note": "In float32. Dashed: what {first} has in addition.",
    "applied_note": "Each weight as often as one pass uses it. Hatched: the same layer again. "
    "Embedding tables count in full, though a pass reads only the rows of its own tokens, at no "
    "FLOP: with a smaller table a model applies fewer weights and needs nearly the same compute.",
    "hint": "Point at a part, or use the arrow keys, to see its tensors.",
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
    "heads_apart": "Encoder and pooler.",
}
LENGTH = 128
"""Number of tokens of the forward pass whose FLOP are compared."""
WORK_AT = f" at {LENGTH} tokens"


def parameters_findings(families: Mapping[str, Sequence["FamilyMember"]]) -> Markup:
    """Return a finding per family; the style sheet shows that of the chosen one."""
    return join(
        *(parameters_finding(members, name) for name, members in families.items() if members)
    )


def parameters_finding(members: Sequence["FamilyMember"], family: str = "base") -> Markup:
    """Return each model's weights and compute beside the first's; shared layers first."""
    first, *others = members
    lead = AT_SIZE.get(family, AT_CHOICE)
    in_order = sorted(others, key=lambda member: not _shares(member))
    parts = [_compared(member, first, not i) for i, member in enumerate(in_order)]
    if not parts:
        parts = [join(_named(first), f" stores {weights(first.counts.total)} weights")]
    return el(
        "p",
        lead,
        semicolons(parts),
        ".",
        class_="finding",
        data_family=family,
    )


def _shares(member: "FamilyMember") -> bool:
    return member.spec.architecture.shares_layers


def _named(member: "FamilyMember") -> Markup:
    return model_name(member.spec.key, member.spec.label)


def _compared(member: "FamilyMember", first: "FamilyMember", is_first: bool) -> Markup:
    """Return the ratio of weights and compute to the first model's, with the reason."""
    own, other = member.counts.total, first.counts.total
    work = forward_flops(member.spec, LENGTH) / forward_flops(first.spec, LENGTH)
    return join(
        *(_named(member), f" stores {stored_said(own, other)} ", _named(first)),
        f" ({weights(own)}{f', not {weights(other)}' if is_first and own != other else ''})",
        f" and needs {compute_said(work)}{WORK_AT if is_first else ''}",
        _reason(member, first),
    )


def _reason(member: "FamilyMember", first: "FamilyMember") -> str:
    """Return why the compute differs: the layers, and their width where that differs too."""
    shape, other = member.spec.architecture, first.spec.architecture
    missing = other.n_layers - shape.n_layers
    teacher = teacher_of(member.spec)
    width = (
        "" if shape.d_model == other.d_model else f"{shape.d_model:,} wide, not {other.d_model:,}"
    )
    if shape.shares_layers:
        stored = f"one layer, {width}," if width else "one layer"
        return f": it stores {stored} and runs it {repeated(shape.n_layers)}"
    if missing > 0 and not width and teacher and teacher.name == first.spec.name:
        return f": it leaves out {counted(missing, 'layer')}"
    if not missing:
        return f": its layers are {width}" if width else ""
    layers = counted(shape.n_layers, "layer")
    return f": it has {layers}, {width}" if width else f": it has {layers}"


ROWS = {
    "component": "Component",
    "total": "Stored, encoder and pooler",
    "applied": "Applied in one pass",
    "head": "Pre-training head, on top",
    "bytes": "Bytes in fp32",
    "tensors": "Tensors",
    "caption": "Parameters stored; shared tensors and tied output weights count once.",
}
CALLS_TITLE = "How often each layer runs"
CALLS_HEADS = {
    "name": "Model",
    "calls": "Layer calls",
    "distinct": "Distinct layers",
    "each": "Layer used by each call",
}
CALLS_CHIP = "Call {layer} ran layer {tensor}"
CALLS_NOTE = (
    "Counted during one forward pass. Each chip is one layer call; a dashed chip reuses weights "
    "of an earlier call."
)
LOADED = "loaded weights"
SHAPE_ONLY = "shape only, no weights"
SIZES_FOLD = "Model sizes: how large are all seven, or your own?"
SIZES_TEXTS = {
    "label": "The seven sizes",
    "form": "Show the sizes as",
    "forms": {"chart": "Weights against compute", "table": "Table"},
    "length": "Tokens",
    "unit": "Unit of bytes",
    "finding": "ALBERT-xxlarge stores {weights} × BERT-large's weights ({stored} against "
    "{of_stored}), but one pass over {length} {tokens} takes {work} × the compute ({done} "
    "against {of_done}).",
    "tokens": ["token", "tokens"],
    "layers": {"own": "{n} layers", "shared": "1 layer, {n} times"},
    "chart_note": "Both axes are logarithmic. Dotted lines: 1, 4 and 16 uses per stored weight and "
    "token, at two operations a use. BERT and DistilBERT lie below 1 × because a word table is "
    "looked up, not multiplied.",
    "note": "Counted on the released shapes, without weights. BERT-large has 335.1\u00a0M (its "
    "paper prints 340M); ALBERT-xxlarge has 222.6\u00a0M (its paper prints 235M in the tables and "
    "233M in the text). ALBERT's paper prints 108M and 334M for BERT: with 30,000 word pieces we "
    "count 109.08\u00a0M and 334.61\u00a0M, without the pooler 108.49\u00a0M and 333.56\u00a0M.",
    "terms": places("GFLOP"),
    "bytes": "1 MB is 1,000,000 bytes and 1 MiB is 1,048,576.",
    "units": "One GFLOP is 10⁹ operations; a multiply and an add are two; encoder and pooler, "
    "batch 1.",
    "heads": {
        "name": "Model",
        "total": "Weights",
        "printed": "Printed",
        "off": "Difference",
        "applied": "Applied",
        "work": "GFLOP, tokens: {length}",
        "layers": "Layers",
        "width": "Width H",
        "embedding": "Embedding width E",
        "heads": "Attention heads",
    },
}
EMBEDDING = "Factorised embeddings: what do they save and cost?"
PARTS_TITLE = "What each model consists of"
TENSORS_TEXTS: dict[str, Any] = {
    "form": "Show the parts as",
    "forms": {"map": "Every tensor", "table": "Table of components"},
    "counted": "Count each weight",
    "ways": {"stored": "once, as stored", "applied": "for every use in a pass"},
    "note": "Area is the number of weights within one model.\nParts under 0.02% of the part "
    "around them are too small to draw. The totals count them, and the saved data list them.",
    "how": "Click a part to go into it, its heading to come back.",
    "parts": {
        "embeddings": "Embeddings",
        "layers": "Layers",
        "layer": "Layer",
        "word_embeddings": "Words",
        "position_embeddings": "Positions",
        "token_type_embeddings": "Segments",
        "embedding_projection": "Projection",
        "layer_norm": "Layer norm",
        "attention": "Attention",
        "ffn": "Feed-forward",
        "pooler": "Pooler",
        "query": "Query",
        "key": "Key",
        "value": "Value",
        "output": "Output",
    },
}
WORK_TEXTS = {
    "weights": "Weights stored",
    "work": "GFLOP at length {n}",
    "label": "GFLOP of one pass of length {n} against stored weights, seven published sizes",
}
EMBEDDING_TEXTS = {
    "v": "Vocabulary V",
    "h": "Width H",
    "e": "Embedding E",
    "pins": "Real models",
    "chart": "Embedding weights against E, with the real models",
    "here": "your choice",
    "saves": "One table V × H stores {plain} weights, V × E + E × H stores {split}: "
    "{share} less. It saves as long as E is at most {even}.",
    "costs": "One table V × H stores {plain} weights, V × E + E × H stores {split}: "
    "{share} more. It would save only with E at most {even}.",
    "two": "two tables, V × E + E × H",
    "one": "one table, V × H",
    "weights": "Weights",
    "note": "Models without a projection are at E = H. ALBERT's projection also has a bias of H "
    "weights.",
}
SPECTRUM_TEXTS = {
    "short": "{label}'s table has rank {rank} of {width} dimensions: {empty} unused.",
    "full": "{label}'s table uses all {width} dimensions.",
    "rank": "{label}: rank {rank}",
    "index": "Singular value, largest first",
    "share": "Over the largest",
    "note": "Singular values of the word table, over the largest; values near 10⁻¹⁶ are rounding "
    "error.\n"
    "In float64, of the table that the layers see: for ALBERT the product V × E × H.",
}
SHARING = "Weight sharing: does ALBERT run one layer again and again?"
SHARING_TITLE = "How much other ways of sharing would store"
SHARING_TEXTS = {
    "label": "Weights stored by sharing mode",
    "e": "Embedding width",
    "depth": "Layers",
    "finding": "Sharing nothing stores {none}, only the attention {attention}, only the "
    "feed-forward part {ffn}, everything {all}; a pass applies {applied} in every case.",
    "deep": "With {depth} layer{one} ALBERT stores {albert}; unshared it would store {bert}, "
    "and each further layer adds {layer}.",
    "modes": {"none": "Nothing", "attention": "Attention", "ffn": "Feed-forward", "all": "All"},
    "scores": "Published scores for the four modes",
    "score_heads": [
        "Shared",
        "Counted here",
        "Printed",
        "SQuAD 1.1",
        "SQuAD 2.0",
        "MNLI",
        "SST-2",
        "RACE",
        "Average",
    ],
    "published": "In italics: dev-set scores of ALBERT-base, printed in Lan et al. 2019, Table 4, "
    "not measured here.\n"
    "F1/EM for SQuAD. Sharing the attention costs nothing at E = 128; most of the loss comes from"
    " sharing the feed-forward part.",
    "chart": "Weights stored against the number of layers, by sharing mode",
    "weights": "Weights stored",
}
BUILD_TITLE = "A model of your own"
BUILD_TEXTS: dict[str, Any] = {
    "presets": "Start from",
    "fields": {
        "n_layers": "Layers L",
        "d_model": "Width H",
        "n_heads": "Heads A",
        "d_ffn": "Feed-forward width F",
        "d_embedding": "Embedding width E (set to H for no projection)",
        "d_vocab": "Vocabulary V",
        "n_segments": "Segments",
        "n_positions": "Positions",
        "length": "Tokens",
        "batch": "Batch",
    },
    "sharing": "Layers share",
    "modes": {
        "none": "nothing",
        "attention": "the attention",
        "ffn": "the feed-forward part",
        "all": "everything",
    },
    "pooler": "Pooler",
    "yes_no": {"yes": "yes", "no": "no"},
    "start": {"length": 128, "batch": 1},
}
BUILT = {
    "sentence": "This shape stores {total} weights and applies {applied} in one pass; that is "
    "{ratio} times {nearest}.",
    "part": "Component",
    "count": "Weights",
    "share": "Share, or MiB",
    "caption": "The shape in numbers",
    "stored": "Stored",
    "applied": "Applied in one pass",
    "bytes": "Bytes in {name}",
    "work": "Work, tokens: {length}, batch: {batch}",
    "activations": "Activations, fp32",
    "yours": "Yours",
    "among": "Your shape among the seven",
}


def first_shape(shape: Architecture) -> dict[str, object]:
    """Return the form's start values: a released shape, the form's own length and batch."""
    names = [name for name in BUILD_TEXTS["fields"] if hasattr(shape, name)]
    values = {name: getattr(shape, name) for name in names}
    return values | BUILD_TEXTS["start"] | {"has_pooler": shape.has_pooler, "sharing": "none"}


MEMORY = "Memory: how much does a forward pass take?"
MEMORY_SIZES = [("Base, full size", "base"), ("Bundled mini", "mini"), ("Larger", "larger")]
MEMORY_SIZES_LABEL = "Sizes"
MEMORY_LENGTH = "Tokens"
MEMORY_BATCH = "Batch size"
MEMORY_KEEPS = "Also return attentions and hidden states"
MEMORY_MEASURE = "Measure here"
MEMORY_STOP = "Stop"
MEMORY_STOPPED = "Stopped before all models were measured."
MEMORY_TEXTS = {
    "weights": "Weights",
    "activations": "Activations of one pass",
    "estimated": "Estimated",
    "measured": "Measured here",
}
MEMORY_FINDING = (
    "At base size ALBERT's weights take {times} times less memory than BERT's, but the "
    "activations of one pass ({batch} × {length} tokens) take {peak_share} of BERT's. Sharing "
    "layers saves storage only."
)
MEMORY_NOTE = (
    "Float32 weights stay in memory; activations are what a pass needs beyond them at its peak.\n"
    "Estimated: each tensor followed until it is freed, on the shape without weights. Measured: "
    "by the allocator's own record of a real pass, which also sees scratch space. This pass keeps"
    " {kept}. What a whole process takes, by runtime, is on Latency under “Faster inference”."
)
MEMORY_ACTIVATION = (
    "At base size ALBERT's activations exceed BERT's: its activation function ({albert}, BERT's "
    "is {bert}) is computed in separate steps that each allocate a tensor."
)
MEMORY_KEPT = ("only what the next layer needs", "all attention matrices and hidden states")
MEMORY_PLACE = "Measurements ahead of this one: {n}. It starts by itself."
MEMORY_PROCESS = "The whole process uses {size} now."
PART_NAMES = PARTS
