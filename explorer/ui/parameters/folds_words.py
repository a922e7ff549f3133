"""The sentences of the parameters tab's folds."""

from typing import Any

from explorer.models.specs import Architecture
from explorer.ui.parameters.words import PARTS
from explorer.views.glossary import places

ROWS = {
    "component": "Component",
    "total": "Stored, encoder and pooler",
    "applied": "Applied in one pass",
    "head": "Pre-training head, on top",
    "bytes": "Bytes in fp32",
    "tensors": "Tensors",
    "caption": "Numbers stored, shared tensors once; tied output weights are not counted again.",
}

CALLS_TITLE = "How often each layer runs"
CALLS_FINDING = "Hooks counted layer calls on distinct weight tensors: {calls}."
CALLS_COUNT = "{label} {calls} on {distinct}"
CALLS_EACH = "{calls} layer calls, distinct weight tensors: {distinct}"
CALLS_CHIP = "Layer call {layer} used weight tensor {tensor}"
CALLS_NOTE = (
    "Each chip is one layer call of one forward pass; its number is the weight tensor it used."
)
LOADED = "loaded weights"
SHAPE_ONLY = "shape only, no weights"

SIZES = "How large are all seven, and what would one of your own cost?"
SIZES_TEXTS = {
    "label": "The seven sizes",
    "length": "Tokens",
    "unit": "Unit of bytes",
    "export": "Save as CSV",
    "file": "bert-family-sizes.csv",
    "finding": "ALBERT-xxlarge stores {weights} times what BERT-large stores, but one pass over "
    "{length} tokens costs {work} times the work: weights say little about cost.",
    "note": "Counted on the released shapes without weights. BERT-large counts 335.1 M where its "
    "paper prints 340M; ALBERT-xxlarge counts 222.6 M where its paper prints 235M in the tables "
    "and 233M in the text. ALBERT's paper prints 108M and 334M for BERT: with 30,000 word pieces "
    "we count 109.08 M and 334.61 M, and without the pooler 108.49 M and 333.56 M.",
    "terms": places("GFLOP"),
    "units": "1 MB is 1,000,000 bytes and 1 MiB is 1,048,576. One GFLOP is 10⁹ operations; a "
    "multiply and an add are two; encoder and pooler, batch 1.",
    "heads": {
        "name": "Model",
        "total": "Weights",
        "printed": "Printed",
        "off": "Difference",
        "applied": "Applied",
        "work": "GFLOP at {length} tokens",
        "layers": "Layers",
        "width": "Width H",
        "embedding": "Embedding width E",
        "heads": "Attention heads",
    },
}

EMBEDDING = "What does factorising the embedding save, and what does it give up?"
EMBEDDING_TEXTS = {
    "v": "Vocabulary V",
    "h": "Width H",
    "e": "Embedding E",
    "pins": "Real models",
    "chart": "Embedding weights against E, with the real models",
    "here": "your choice",
    "saves": "One table V × H stores {plain} weights, V × E + E × H stores {split}: "
    "{share} % less. It saves as long as E is at most {even}.",
    "costs": "One table V × H stores {plain} weights, V × E + E × H stores {split}: "
    "{share} % more. It would save only with E at most {even}.",
    "note": "Dashed: the whole table V × H. Line: V × E + E × H. Points: the real models, those "
    "without a projection at E = H. ALBERT's projection also has a bias of H weights.",
}
SPECTRUM_TEXTS = {
    "short": "{label}'s table has rank {rank} of {width}: {empty} directions stay empty.",
    "full": "{label}'s table uses all {width} directions.",
    "rank": "{label}: rank {rank}",
    "index": "Singular value, largest first",
    "note": "Singular values of the word table that the layers see, divided by the largest, in "
    "float64; values near 10⁻¹⁶ are rounding. For ALBERT the table is the product V × E × H.",
}

SHARING = "Does ALBERT really run one layer twelve times, and what if layers shared less?"
SHARING_TITLE = "What other ways to share would store"
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
    "published": "In italics: development-set scores of ALBERT-base from Lan et al. 2019, Table 4 "
    "(F1/EM for SQuAD). They are printed there, not measured here. Sharing the attention costs "
    "nothing at E = 128; most of the loss comes from sharing the feed-forward part.",
    "chart": "Weights stored against the number of layers, by sharing mode",
}

BUILD_TITLE = "A model of your own"
BUILD_TEXTS: dict[str, Any] = {
    "presets": "Start from",
    "fields": {
        "n_layers": "Layers L",
        "d_model": "Width H",
        "n_heads": "Heads A",
        "d_ffn": "Feed-forward width F",
        "d_embedding": "Embedding width E (H: no projection)",
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
    "work": "Work, {length} tokens, batch {batch}",
    "activations": "Activations, fp32",
    "yours": "Yours",
    "among": "Your shape among the seven",
}


def first_shape(shape: Architecture) -> dict[str, object]:
    """The values the form starts with: a released shape with the form's own length and batch."""
    names = [name for name in BUILD_TEXTS["fields"] if hasattr(shape, name)]
    values = {name: getattr(shape, name) for name in names}
    return values | BUILD_TEXTS["start"] | {"has_pooler": shape.has_pooler, "sharing": "none"}


MEMORY = "How much memory does a pass take?"
MEMORY_SIZES = [("Base, full size", "base"), ("Bundled mini", "mini"), ("Larger", "larger")]
MEMORY_SIZES_LABEL = "Sizes"
MEMORY_LENGTH = "Tokens"
MEMORY_BATCH = "Texts at once"
MEMORY_KEEPS = "Keep every attention and hidden state"
MEMORY_MEASURE = "Measure here"
MEMORY_STOP = "Stop"
MEMORY_STOPPED = "Stopped before every model was measured."
MEMORY_TEXTS = {
    "weights": "Weights",
    "estimated": "Pass, estimated",
    "measured": "Pass, measured",
    "not_yet": "not measured",
}
MEMORY_FINDING = (
    "At base size ALBERT's weights take {weight_share} of the memory of BERT's, one pass "
    "{peak_share}: every layer still works on its own {length} × {batch} tokens of width {width}."
)
MEMORY_NOTE = (
    "Weights in float32 are held all the time; a pass holds the rest beyond them at its fullest "
    "moment. Estimated: each tensor followed until it is freed, on the shape without weights. "
    "Measured: by the allocator's own record of a real pass, which also sees scratch space. This "
    "pass keeps {kept}."
)
MEMORY_ACTIVATION = (
    "At base size ALBERT's exceed BERT's: its activation function ({albert}, BERT's is {bert}) is "
    "computed in separate steps that each make a tensor."
)
MEMORY_KEPT = ("only what the next layer needs", "every attention matrix and hidden state")
MEMORY_PLACE = "Measurements before this one: {n}. It starts by itself."
MEMORY_PROCESS = "The whole process holds {mb:,.0f} MB now."

PART_NAMES = PARTS
