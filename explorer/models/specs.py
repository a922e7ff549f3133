"""Model specs: the architectures, and the shape and pinned revision of each size."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from explorer.assets import ASSETS, read_in

ONE_LABEL = "single_label_classification"
SEVERAL_LABELS = "multi_label_classification"
SCORE = "regression"
PROBLEMS = (ONE_LABEL, SEVERAL_LABELS, SCORE)
"""Readings of a classifier's outputs, by the names of ``problem_type`` in transformers."""
SENTIMENT = (("negative", "positive"), ("neg", "pos"))
"""Labels of the two classes of a sentiment head, in this order."""


@dataclass(frozen=True, slots=True, eq=False)
class PairHead:
    """A head pre-trained to classify the order of two sentences."""

    objective: str
    """``nsp``: second sentence follows or is from elsewhere; ``sop``: in order or swapped."""
    scores: Callable[[Any, Any], Any]
    """(network, last hidden states [batch, position, d_model]) -> [batch, 2]; class 0 is yes."""
    weights: str
    """Part of the names of its weights; in a checkpoint that lacks them the head is random."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelKind:
    """An architecture independent of size: label, config, head and module names."""

    label: str
    """Name on the page."""
    config_type: str
    """Model type of its config in transformers."""
    config: Mapping[str, str]
    """Config name of each field of ``Architecture`` that the config has."""
    head: Callable[[Any, Any], Any]
    """(network, last hidden states) -> vocabulary logits."""
    query: str
    """Regular expression of the query projection's module names, for hooks; so are the next."""
    key: str
    value: str
    output: str
    """The attention output projection."""
    layer: str
    """A whole layer; a shared layer is one module that is applied repeatedly."""
    attention_norm: str
    """The layer norm after attention, by its name within the layer; so are the next four."""
    inner: str
    """The first linear layer of the feed-forward block."""
    activation: str
    outer: str
    """The second linear layer of the feed-forward block."""
    norm: str
    """The layer norm that ends the layer."""
    fixed: Mapping[str, float] = field(default_factory=dict)
    """Config values besides the shape."""
    first_position: int = 0
    """Row of the position table for the first token of a text."""
    teacher: str = ""
    """Key of the model that it was distilled from; empty unless a student."""
    pair: PairHead | None = None
    """Sentence-pair head; None where pre-training had no such objective."""


@dataclass(frozen=True, slots=True)
class TaskHead:
    """A head that a checkpoint was fine-tuned with, as its config describes it."""

    task: str
    """``classes`` (labels of a text or a pair), ``tokens`` (a label of each token), ``squad``; or
    ``sst2``: the sentiment adapter next to the weights, whose labels have other names here."""
    labels: tuple[str, ...] = ()
    """Its ``id2label``, in the order of the head's outputs."""
    problem: str = ONE_LABEL
    """Of ``PROBLEMS``: the outputs are read by a softmax over the labels, by a sigmoid of each
    (several hold at once), or as they are (a score)."""

    @property
    def is_sentiment(self) -> bool:
        """True for two classes with the labels negative and positive: most classifiers have two."""
        names = tuple(label.lower() for label in self.labels)
        return self.task == "classes" and self.problem == ONE_LABEL and names in SENTIMENT


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
    pair=PairHead(
        "sop",
        lambda network, states: network.sop_classifier(
            network.albert.pooler_activation(network.albert.pooler(states[:, 0]))
        ),
        "sop_classifier",
    ),
)
KINDS: dict[str, ModelKind] = {"bert": BERT, "distilbert": DISTILBERT, "albert": ALBERT}
"""Model kinds by key, in the fixed order."""
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
SAME_NETWORKS: dict[str, ModelKind] = {
    name: replace(ROBERTA, label=label, config_type=name)
    for name, label in {"xlm-roberta": "XLM-RoBERTa", "camembert": "CamemBERT"}.items()
}
"""Kinds that run on RoBERTa's network under another name; they come in columns with free names."""


def kind_named(key: str) -> ModelKind | None:
    """Return the architecture with a key, which is also the model type of its config."""
    return KINDS.get(key) or MORE_KINDS.get(key) or SAME_NETWORKS.get(key)


def distilled_pair() -> tuple[str, str]:
    """Return the keys of the teacher and its student."""
    student = next(key for key, kind in KINDS.items() if kind.teacher)
    return KINDS[student].teacher, student


def label_of(key: str) -> str:
    """Return a model's name on the page; an unknown key is returned unchanged."""
    return KINDS[key].label if key in KINDS else key


HEAD_WEIGHTS = ("cls.predictions", "vocab_", "predictions.", "lm_head.")
"""Names of the masked-LM head's weights, which a fine-tuned encoder may lack."""
MODEL_KEYS: list[str] = list(KINDS)
"""Keys in the fixed order; a column of user-supplied checkpoints comes last."""
BUNDLED = ASSETS / "models"
MAX_LAYERS = 64
"""Maximum layers of a model, and heads of a layer, that a link can name."""
DEVICE = re.compile(r"[a-z]{2,12}(?::[0-9]{1,2})?")
"""Syntax of a device name: ``cpu``, ``cuda``, ``cuda:1``; presence is checked elsewhere."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """Shape of one encoder, in the papers' notation."""

    n_layers: int
    d_model: int
    n_heads: int
    d_ffn: int
    d_vocab: int
    d_embedding: int
    """E: equals ``d_model`` unless the embedding is factorised (ALBERT)."""
    n_positions: int = 512
    n_segments: int = 2
    """Token-type rows; 0 where the model has none (DistilBERT)."""
    shares_layers: bool = False
    has_pooler: bool = True
    has_projection: bool = False
    """True where a matrix E x H projects the embeddings to the layers (ALBERT)."""
    activation: str = "gelu"
    has_pair_head: bool = True
    """False where a checkpoint lacks the head that its kind has for sentence pairs."""
    ties_words: bool = True
    """False where the masked-LM head has an output layer of its own."""

    @property
    def n_stored_layers(self) -> int:
        """The number of layers with weights of their own."""
        return 1 if self.shares_layers else self.n_layers


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Model in one size: its identity, shape and location of its weights."""

    key: str
    """Its column on the page; also its architecture where ``kind_key`` is empty."""
    name: str
    """Unique name of the network, whichever columns it is in."""
    architecture: Architecture
    size: str = "base"
    """Name of the size in its column and in links."""
    repo: str = ""
    """Hub repository; empty for local weights."""
    revision: str = ""
    """Pinned commit of the hub repository; empty: the newest."""
    is_own: bool = False
    """True for a checkpoint of the user."""
    has_head: bool = True
    """False where the checkpoint has no masked-LM head: predictions would be noise."""
    task_head: TaskHead | None = None
    """Head of a task that the checkpoint brings; None where it brings none."""
    folder: Path | None = None
    """Folder of a checkpoint given at the start; None for one on the hub."""
    lower_case: bool = True
    notes: tuple[str, ...] = ()
    """Sentences on how the files of a user's checkpoint are read, where that is not evident."""
    prefix: str = ""
    """Prefix of the label where it could be mistaken for the published model."""
    initialised_from: tuple[int, ...] = ()
    """Teacher layer that each layer was copied from, from 0; empty unless a student."""
    fitted_to: str = ""
    """Key of the model whose layers its shared layer was fitted to; empty if none."""
    kind_key: str = ""
    """Key of its architecture, for ``kind_named``; empty: ``key``."""
    column_label: str = ""
    """The column's own name; empty in a column that is named after an architecture."""

    @property
    def architecture_key(self) -> str:
        """The key of its architecture, whichever column it is in: ``bert``, ``roberta``, ..."""
        return self.kind_key or self.key

    @property
    def tuned_for(self) -> str:
        """The task of the page that its own head answers: ``sst2``, ``squad``, or none."""
        if self.task_head is None or self.task_head.task == "tokens":
            return ""
        if self.task_head.task == "squad":
            return "squad"
        return "sst2" if self.task_head.is_sentiment else ""

    @property
    def kind(self) -> ModelKind:
        """The properties that all its sizes share."""
        kind = kind_named(self.architecture_key)
        if kind is None:
            raise KeyError(self.architecture_key)
        return kind

    def in_column(self, key: str, label: str = "") -> "ModelSpec":
        """Return the same network as the model of a column, under the column's label if it has one.

        The result has the same ``name``, so both use one network in memory and the same runs.
        """
        return replace(self, key=key, kind_key=self.architecture_key, column_label=label)

    @property
    def label(self) -> str:
        """The name on the page: that of its column, or else of the model itself."""
        return self.column_label or self.model_label

    @property
    def row_name(self) -> str:
        """The name in tables of several sizes: its column's own name, or else the model's name."""
        return self.column_label or self.name

    @property
    def model_label(self) -> str:
        """The model's name: ``ALBERT``, ``ALBERT-large``, ``mini-ALBERT``, or its own name."""
        if self.is_own:
            return self.name
        size = "" if self.size in ("mini", "base") else f"-{self.size}"
        return self.prefix + self.kind.label + size

    @property
    def config(self) -> dict[str, Any]:
        """The values of its transformers config, model type included.

        For saved scripts it also says which pooler or heads an own checkpoint lacks.
        """
        shape = {name: getattr(self.architecture, at) for at, name in self.kind.config.items()}
        less: dict[str, Any] = {}
        if not self.architecture.ties_words:
            less["tie_word_embeddings"] = False
        if self.is_own and not self.architecture.has_pooler:
            less["has_pooler"] = False
        if self.absent_heads:
            less["absent_heads"] = [*self.absent_heads]
        return {"model_type": self.kind.config_type, **shape, **self.kind.fixed, **less}

    @property
    def origin(self) -> str:
        """Origin of the weights: ``bundled``, ``published`` or a user's ``own``.

        What is known of the training of the first two is known of no other checkpoint.
        """
        return "own" if self.is_own else "published" if self.repo else "bundled"

    @property
    def absent_heads(self) -> tuple[str, ...]:
        """Parts of the names of the pre-training heads' weights that a user's checkpoint lacks."""
        pair, has_pair = self.kind.pair, self.architecture.has_pair_head
        of_pair = (pair.weights,) if self.is_own and pair and not has_pair else ()
        return of_pair if self.has_head else (*of_pair, *HEAD_WEIGHTS)

    @property
    def max_tokens(self) -> int:
        """The tokens of the longest text that there are positions for."""
        return self.architecture.n_positions - self.kind.first_position

    @property
    def bundled_path(self) -> Path:
        """The folder of the bundled weights of this model (only the mini family has any)."""
        return BUNDLED / self.name


WORDPIECES = 30_522
SENTENCEPIECES = 30_000


def _bert(n_layers: int, d_model: int, n_heads: int) -> Architecture:
    return Architecture(n_layers, d_model, n_heads, 4 * d_model, WORDPIECES, d_model)


def _albert(n_layers: int, d_model: int, n_heads: int) -> Architecture:
    return replace(
        _bert(n_layers, d_model, n_heads),
        d_vocab=SENTENCEPIECES,
        d_embedding=128,
        shares_layers=True,
        has_projection=True,
        activation="gelu_new",
    )


def _row(key: str, size: str, shape: Architecture, repo: str, revision: str = "") -> ModelSpec:
    return ModelSpec(key, repo.partition("/")[2], shape, size, repo, revision)


PUBLISHED: tuple[ModelSpec, ...] = (
    _row(
        "bert",
        "base",
        _bert(12, 768, 12),
        "google-bert/bert-base-uncased",
        "86b5e0934494bd15c9632b12f734a8a67f723594",
    ),
    _row(
        "bert",
        "large",
        _bert(24, 1024, 16),
        "google-bert/bert-large-uncased",
        "6da4b6a26a1877e173fca3225479512db81a5e5b",
    ),
    replace(
        _row(
            "distilbert",
            "base",
            replace(_bert(6, 768, 12), n_segments=0, has_pooler=False),
            "distilbert/distilbert-base-uncased",
            "12040accade4e8a0f71eabdb258fecc2e7e948be",
        ),
        initialised_from=(0, 2, 4, 7, 9, 11),
    ),
    _row(
        "albert",
        "base",
        _albert(12, 768, 12),
        "albert/albert-base-v2",
        "8e2f239c5f8a2c0f253781ca60135db913e5c80c",
    ),
    _row("albert", "large", _albert(24, 1024, 16), "albert/albert-large-v2"),
    _row("albert", "xlarge", _albert(24, 2048, 16), "albert/albert-xlarge-v2"),
    _row("albert", "xxlarge", _albert(12, 4096, 64), "albert/albert-xxlarge-v2"),
)
"""Checkpoints that the papers and reports describe, in the fixed order."""
BASE: dict[str, ModelSpec] = {spec.key: spec for spec in PUBLISHED if spec.size == "base"}
"""Published checkpoints of base size, by model key."""
LARGER: dict[str, ModelSpec] = {spec.name: spec for spec in PUBLISHED if spec.size != "base"}
"""Other published checkpoints, by name."""


def _mini(key: str, n_layers: int, d_embedding: int, n_segments: int = 2) -> Architecture:
    """Return a bundled shape; vocabulary size and activation come from the bundled config."""
    path = BUNDLED / f"mini-{key}" / "config.json"
    with read_in(path):
        config = dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}
        activation = str(config.get(KINDS[key].config["activation"], "gelu"))
        n_words = int(config.get("vocab_size", 0))
    return Architecture(
        n_layers,
        384,
        12,
        1536,
        n_words,
        d_embedding,
        n_segments=n_segments,
        activation=activation,
    )


MINI: dict[str, ModelSpec] = {
    "bert": ModelSpec("bert", "mini-bert", _mini("bert", 6, 384), "mini", prefix="mini-"),
    "distilbert": ModelSpec(
        "distilbert",
        "mini-distilbert",
        replace(_mini("distilbert", 3, 384, n_segments=0), has_pooler=False),
        "mini",
        prefix="mini-",
        initialised_from=(1, 3, 5),
    ),
    "albert": ModelSpec(
        "albert",
        "mini-albert",
        replace(_mini("albert", 6, 128), shares_layers=True, has_projection=True),
        "mini",
        prefix="mini-",
        fitted_to="bert",
    ),
}
"""Bundled family, in the fixed order."""


class NetworkKey(NamedTuple):
    """Key of a network: spec, device and precision."""

    spec: ModelSpec
    device: str
    dtype: str
