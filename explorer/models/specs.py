"""The seven architectures and the bundled family as data: what differs is a field."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from explorer.assets import ASSETS, read_in
from explorer.models.kinds import KINDS, ModelKind

Family = Literal["mini", "base"]
MODEL_KEYS: tuple[str, ...] = tuple(KINDS)
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

    @property
    def n_stored_layers(self) -> int:
        """Layers with weights of their own."""
        return 1 if self.shares_layers else self.n_layers


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model in one size: who it is, what shape it has and where its weights are."""

    key: str
    """The row of ``KINDS`` it belongs to: its place and its colour on the page."""
    name: str
    architecture: Architecture
    repo: str = ""
    """Hub repository; empty for the bundled family."""
    revision: str = ""
    """Pinned commit of the hub repository."""
    lower_case: bool = True
    prefix: str = ""
    """Before its name where a reader would take it for the published model."""
    initialised_from: tuple[int, ...] = ()
    """The teacher layer each layer was copied from, counted from 0; empty unless a student."""
    fitted_to: str = ""
    """The model whose layer its shared layer began as and was fitted to; empty if it had none."""

    @property
    def kind(self) -> ModelKind:
        """What it has in common with its other sizes."""
        return KINDS[self.key]

    @property
    def label(self) -> str:
        """Its name as the page writes it: ``ALBERT`` is the published one, ``mini-ALBERT`` ours."""
        return self.prefix + self.kind.label

    @property
    def config(self) -> dict[str, Any]:
        """What its config in transformers says, the type included."""
        shape = {name: getattr(self.architecture, at) for at, name in self.kind.config.items()}
        return {"model_type": self.kind.config_type, **shape, **self.kind.fixed}

    @property
    def bundled_path(self) -> Path:
        """Where the bundled weights of this model lie (only the mini family has any)."""
        return BUNDLED / self.name


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


BASE: dict[str, ModelSpec] = {
    "bert": ModelSpec(
        "bert",
        "bert-base-uncased",
        _bert(12, 768, 12),
        "google-bert/bert-base-uncased",
        "86b5e0934494bd15c9632b12f734a8a67f723594",
    ),
    "distilbert": ModelSpec(
        "distilbert",
        "distilbert-base-uncased",
        _distilbert(6, 768, 12),
        "distilbert/distilbert-base-uncased",
        "12040accade4e8a0f71eabdb258fecc2e7e948be",
        initialised_from=(0, 2, 4, 7, 9, 11),
    ),
    "albert": ModelSpec(
        "albert",
        "albert-base-v2",
        _albert(12, 768, 12),
        "albert/albert-base-v2",
        "8e2f239c5f8a2c0f253781ca60135db913e5c80c",
    ),
}
"""The published checkpoints, in the fixed order."""

LARGER: dict[str, ModelSpec] = {
    "bert-large-uncased": ModelSpec("bert", "bert-large-uncased", _bert(24, 1024, 16)),
    "albert-large-v2": ModelSpec("albert", "albert-large-v2", _albert(24, 1024, 16)),
    "albert-xlarge-v2": ModelSpec("albert", "albert-xlarge-v2", _albert(24, 2048, 16)),
    "albert-xxlarge-v2": ModelSpec("albert", "albert-xxlarge-v2", _albert(12, 4096, 64)),
}
"""Only counted and timed, with random weights: by name."""


def _mini(key: str, n_layers: int, d_embedding: int, n_segments: int = 2) -> Architecture:
    """The bundled shapes; what training decided is read from the bundled config, not repeated."""
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
    "bert": ModelSpec("bert", "mini-bert", _mini("bert", 6, 384), prefix="mini-"),
    "distilbert": ModelSpec(
        "distilbert",
        "mini-distilbert",
        replace(_mini("distilbert", 3, 384, n_segments=0), has_pooler=False),
        prefix="mini-",
        initialised_from=(1, 3, 5),
    ),
    "albert": ModelSpec(
        "albert",
        "mini-albert",
        replace(_mini("albert", 6, 128), shares_layers=True, has_projection=True),
        prefix="mini-",
        fitted_to="bert",
    ),
}
"""The bundled family, in the fixed order."""


class Where(NamedTuple):
    """A network: which one, on which device, in which precision."""

    spec: ModelSpec
    device: str
    dtype: str


def family_specs(family: str) -> tuple[ModelSpec, ...]:
    """The models of a family, in the fixed order; a model may be missing in one of the two."""
    table = MINI if family == "mini" else BASE
    return tuple(table[key] for key in MODEL_KEYS if key in table)


def all_specs() -> dict[str, ModelSpec]:
    """Every architecture by name: base, larger, mini."""
    listed = (*BASE.values(), *LARGER.values(), *MINI.values())
    return {spec.name: spec for spec in listed}
