"""The seven architectures and the bundled family as data: what differs is a field."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from explorer.assets import ASSETS

Family = Literal["mini", "base"]
MODEL_KEYS: tuple[str, ...] = ("bert", "distilbert", "albert")
"""Always in this order, everywhere."""
FAMILIES: tuple[Family, ...] = ("mini", "base")
BUNDLED = ASSETS / "models"


@dataclass(frozen=True, slots=True)
class Architecture:
    """The shape of one encoder, in the papers' letters."""

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
    """Whether a matrix E x H stands between the embeddings and the layers (ALBERT)."""
    activation: str = "gelu"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model: who it is, what shape it has and where its weights are."""

    key: str
    """``bert``, ``distilbert`` or ``albert``: the place and the colour on the page."""
    name: str
    label: str
    architecture: Architecture
    repo: str = ""
    """Hub repository; empty for the bundled family."""
    revision: str = ""
    """Pinned commit of the hub repository."""
    lower_case: bool = True
    query_pattern: str = ""
    """Regular expression of the query projection's module names, for hooks."""
    key_pattern: str = ""
    """Regular expression of the key projection's module names."""
    value_pattern: str = ""
    """Regular expression of the value projection's module names."""
    output_pattern: str = ""
    """Regular expression of the attention output projection's module names, for hooks."""
    initialised_from: tuple[int, ...] = ()
    """The teacher layer each layer was copied from, counted from 0; empty unless a student."""

    @property
    def bundled_path(self) -> Path:
        """Where the bundled weights of this model lie (only the mini family has any)."""
        return BUNDLED / self.name


_HOOKS = {
    "bert": (
        r"attention\.self\.query$",
        r"attention\.self\.key$",
        r"attention\.self\.value$",
        r"attention\.output\.dense$",
    ),
    "distilbert": (
        r"attention\.q_lin$",
        r"attention\.k_lin$",
        r"attention\.v_lin$",
        r"attention\.out_lin$",
    ),
    "albert": (
        r"attention\.query$",
        r"attention\.key$",
        r"attention\.value$",
        r"attention\.dense$",
    ),
}
_LABELS = {"bert": "BERT", "distilbert": "DistilBERT", "albert": "ALBERT"}
WORDPIECES = 30_522
SENTENCEPIECES = 30_000


def _bert(n_layers: int, d_model: int, n_heads: int) -> Architecture:
    return Architecture(n_layers, d_model, n_heads, 4 * d_model, WORDPIECES, d_model)


def _distilbert(n_layers: int, d_model: int, n_heads: int) -> Architecture:
    return Architecture(
        n_layers, d_model, n_heads, 4 * d_model, WORDPIECES, d_model, n_segments=0, has_pooler=False
    )


def _albert(n_layers: int, d_model: int, n_heads: int) -> Architecture:
    return Architecture(
        n_layers,
        d_model,
        n_heads,
        4 * d_model,
        SENTENCEPIECES,
        128,
        shares_layers=True,
        has_projection=True,
        activation="gelu_new",
    )


def _spec(
    key: str, name: str, architecture: Architecture, repo: str = "", revision: str = ""
) -> ModelSpec:
    query, key_, value, output = _HOOKS[key]
    return ModelSpec(
        key,
        name,
        _LABELS[key],
        architecture,
        repo,
        revision,
        query_pattern=query,
        key_pattern=key_,
        value_pattern=value,
        output_pattern=output,
    )


BASE: dict[str, ModelSpec] = {
    "bert": _spec(
        "bert",
        "bert-base-uncased",
        _bert(12, 768, 12),
        "google-bert/bert-base-uncased",
        "86b5e0934494bd15c9632b12f734a8a67f723594",
    ),
    "distilbert": replace(
        _spec(
            "distilbert",
            "distilbert-base-uncased",
            _distilbert(6, 768, 12),
            "distilbert/distilbert-base-uncased",
            "12040accade4e8a0f71eabdb258fecc2e7e948be",
        ),
        initialised_from=(0, 2, 4, 7, 9, 11),
    ),
    "albert": _spec(
        "albert",
        "albert-base-v2",
        _albert(12, 768, 12),
        "albert/albert-base-v2",
        "8e2f239c5f8a2c0f253781ca60135db913e5c80c",
    ),
}
"""The published checkpoints, in the fixed order."""

LARGER: dict[str, ModelSpec] = {
    "bert-large-uncased": _spec("bert", "bert-large-uncased", _bert(24, 1024, 16)),
    "albert-large-v2": _spec("albert", "albert-large-v2", _albert(24, 1024, 16)),
    "albert-xlarge-v2": _spec("albert", "albert-xlarge-v2", _albert(24, 2048, 16)),
    "albert-xxlarge-v2": _spec("albert", "albert-xxlarge-v2", _albert(12, 4096, 64)),
}
"""Only counted and timed, with random weights: by name."""


def _mini(name: str, n_layers: int, d_embedding: int, n_segments: int = 2) -> Architecture:
    """The bundled shapes; the vocabulary's size is read from the bundled config, not repeated."""
    config = BUNDLED / name / "config.json"
    d_vocab = json.loads(config.read_text("utf-8"))["vocab_size"] if config.exists() else 0
    return Architecture(n_layers, 384, 12, 1536, d_vocab, d_embedding, n_segments=n_segments)


MINI: dict[str, ModelSpec] = {
    "bert": _spec("bert", "mini-bert", _mini("mini-bert", 6, 384)),
    "distilbert": replace(
        _spec(
            "distilbert",
            "mini-distilbert",
            replace(_mini("mini-distilbert", 3, 384, n_segments=0), has_pooler=False),
        ),
        initialised_from=(1, 3, 5),
    ),
    "albert": _spec(
        "albert",
        "mini-albert",
        replace(
            _mini("mini-albert", 6, 128),
            shares_layers=True,
            has_projection=True,
            activation="gelu_new",
        ),
    ),
}
"""The bundled family, in the fixed order."""


def family_specs(family: str) -> tuple[ModelSpec, ...]:
    """The three models of a family, in the fixed order."""
    table = MINI if family == "mini" else BASE
    return tuple(table[key] for key in MODEL_KEYS)


def all_specs() -> dict[str, ModelSpec]:
    """Every architecture by name: base, larger, mini."""
    listed = (*BASE.values(), *LARGER.values(), *MINI.values())
    return {spec.name: spec for spec in listed}
