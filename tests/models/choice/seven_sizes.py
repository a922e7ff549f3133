"""Random checkpoints with the layers and heads of all seven published shapes, but narrow."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import torch

from explorer.models import hub, loading
from explorer.models.choice.family import all_specs
from explorer.models.specs import BASE, LARGER
from tests.tiny_models import (
    make_albert,
    make_bert,
    make_distilbert,
    save,
    sentencepieces,
    wordpieces,
)

PER_HEAD = 4
"""Width of one head; the published ones have 64."""
EMBEDDING = 16
SHAPES = {
    "bert-base-uncased": (12, 12),
    "bert-large-uncased": (24, 16),
    "distilbert-base-uncased": (6, 12),
    "albert-base-v2": (12, 12),
    "albert-large-v2": (24, 16),
    "albert-xlarge-v2": (24, 16),
    "albert-xxlarge-v2": (12, 64),
}
"""Layers and heads, from the papers' tables."""
MIXTURES = (
    "large",
    "bert=large,distilbert=base,albert=xlarge",
    "bert=base,distilbert=base,albert=xxlarge",
    "bert=mini,distilbert=base,albert=base",
    "bert=large,distilbert=mini,albert=mini",
)
"""Families that cover each size of a column, some of them beside several others."""


def save_seven(folder: Path) -> None:
    """Save a transformers directory for each of them."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for name, (layers, heads) in SHAPES.items():
            shape = layers, heads, PER_HEAD * heads
            if name.startswith("albert"):
                model = make_albert(*shape, EMBEDDING)
            else:
                model = (make_distilbert if name.startswith("distil") else make_bert)(*shape)
            save(*model, folder / name)


@contextmanager
def narrow(monkeypatch, folder: Path):
    """Replace the published models by these, available locally; the bundled ones stay."""
    for table in (BASE, LARGER):
        for place, spec in list(table.items()):
            monkeypatch.setitem(table, place, _narrowed(spec))
    original = hub.checkpoint_path

    def path_of(spec, report=None):
        return folder / spec.name if spec.repo else original(spec, report)

    for module in (hub, loading):
        monkeypatch.setattr(module, "checkpoint_path", path_of)
    monkeypatch.setattr(hub, "cached_path", lambda spec: folder / spec.name)
    monkeypatch.setattr("explorer.timing.networks.cached_path", lambda spec: folder / spec.name)
    monkeypatch.setattr(loading, "_loaded", {})
    yield {spec.name: spec for spec in all_specs().values()}


def _narrowed(spec):
    layers, heads = SHAPES[spec.name]
    width, is_factorised = PER_HEAD * heads, spec.architecture.has_projection
    shape = replace(
        spec.architecture,
        n_layers=layers,
        n_heads=heads,
        d_model=width,
        d_ffn=4 * width,
        d_vocab=len(sentencepieces() if is_factorised else wordpieces()),
        d_embedding=EMBEDDING if is_factorised else width,
    )
    return replace(spec, architecture=shape)
