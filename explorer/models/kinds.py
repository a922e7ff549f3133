"""The models as a table: what all sizes of one model have in common is a row of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class PairHead:
    """What was trained to tell one order of two sentences from another."""

    objective: str
    """``nsp``: does the second follow, or come from elsewhere? ``sop``: in order, or swapped?"""
    scores: Callable[[Any, Any], Any]
    """(network, last hidden states [batch, position, d_model]) -> [batch, 2]; class 0 is yes."""
    weights: str
    """Its name in a checkpoint; one that lacks it answers with random numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelKind:
    """One model whatever its size: its name, its config, its head and its modules' names."""

    label: str
    """As the page writes it."""
    config_type: str
    """The name of its config in transformers."""
    config: Mapping[str, str]
    """The config's name of each field of ``Architecture`` that it has."""
    head: Callable[[Any, Any], Any]
    """(network, last hidden states) -> vocabulary logits."""
    query: str
    """Regular expression of the query projection's module names, for hooks; so are the others."""
    key: str
    value: str
    output: str
    """The attention output projection."""
    layer: str
    """A whole layer; of a layer that is shared, the one that is applied again and again."""
    attention_norm: str
    """The normalisation after attention, by its name within the layer; so are the next four."""
    inner: str
    """The first product of the feed-forward block."""
    activation: str
    outer: str
    """The second product of the feed-forward block."""
    norm: str
    """The normalisation that ends the layer."""
    fixed: Mapping[str, float] = field(default_factory=dict)
    """What its config says besides the shape."""
    only: Mapping[str, int] = field(default_factory=dict)
    """What a config must say where it says anything: with other values all pictures would lie."""
    first_position: int = 0
    """The row of the position table that a text's first token reads."""
    teacher: str = ""
    """The key of the model that it was distilled from; empty unless a student."""
    pair: PairHead | None = None
    """Its sentence-pair head; None where pre-training had no such objective."""


_SHAPE = {
    "d_vocab": "vocab_size",
    "d_model": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "d_ffn": "intermediate_size",
    "n_positions": "max_position_embeddings",
    "n_segments": "type_vocab_size",
    "activation": "hidden_act",
}
BERT = ModelKind(
    "BERT",
    "bert",
    _SHAPE,
    head=lambda network, hidden: network.cls.predictions(hidden),
    query=r"attention\.self\.query$",
    key=r"attention\.self\.key$",
    value=r"attention\.self\.value$",
    output=r"attention\.output\.dense$",
    layer=r"encoder\.layer\.\d+$",
    attention_norm="attention.output.LayerNorm",
    inner="intermediate.dense",
    activation="intermediate.intermediate_act_fn",
    outer="output.dense",
    norm="output.LayerNorm",
    pair=PairHead(
        "nsp",
        lambda network, states: network.cls.seq_relationship(network.bert.pooler(states)),
        "seq_relationship",
    ),
)
DISTILBERT = ModelKind(
    "DistilBERT",
    "distilbert",
    {
        "d_vocab": "vocab_size",
        "d_model": "dim",
        "n_layers": "n_layers",
        "n_heads": "n_heads",
        "d_ffn": "hidden_dim",
        "n_positions": "max_position_embeddings",
        "activation": "activation",
    },
    head=lambda network, hidden: network.vocab_projector(
        network.vocab_layer_norm(network.activation(network.vocab_transform(hidden)))
    ),
    query=r"attention\.q_lin$",
    key=r"attention\.k_lin$",
    value=r"attention\.v_lin$",
    output=r"attention\.out_lin$",
    layer=r"transformer\.layer\.\d+$",
    attention_norm="sa_layer_norm",
    inner="ffn.lin1",
    activation="ffn.activation",
    outer="ffn.lin2",
    norm="output_layer_norm",
    teacher="bert",
)
ALBERT = ModelKind(
    "ALBERT",
    "albert",
    _SHAPE | {"d_embedding": "embedding_size", "n_stored_layers": "num_hidden_groups"},
    head=lambda network, hidden: network.predictions(hidden),
    query=r"attention\.query$",
    key=r"attention\.key$",
    value=r"attention\.value$",
    output=r"attention\.dense$",
    layer=r"albert_layers\.\d+$",
    attention_norm="attention.LayerNorm",
    inner="ffn",
    activation="activation",
    outer="ffn_output",
    norm="full_layer_layer_norm",
    fixed={"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0},
    only={"num_hidden_groups": 1, "inner_group_num": 1},
    pair=PairHead(
        "sop",
        lambda network, states: network.sop_classifier(
            network.albert.pooler_activation(network.albert.pooler(states[:, 0]))
        ),
        "sop_classifier",
    ),
)
KINDS: dict[str, ModelKind] = {"bert": BERT, "distilbert": DISTILBERT, "albert": ALBERT}
"""By model key; always in this order, everywhere."""


ROBERTA = replace(
    BERT,
    label="RoBERTa",
    config_type="roberta",
    head=lambda network, hidden: network.lm_head(hidden),
    first_position=2,
    pair=None,
)
MORE_KINDS: dict[str, ModelKind] = {"roberta": ROBERTA}
"""Kinds that get a column when a checkpoint of theirs is given at the start."""


def distilled_pair() -> tuple[str, str]:
    """The keys of the teacher and of its student."""
    student = next(key for key, kind in KINDS.items() if kind.teacher)
    return KINDS[student].teacher, student


def label_of(key: str) -> str:
    """How the page writes a model's name; any other key stands for itself."""
    return KINDS[key].label if key in KINDS else key
