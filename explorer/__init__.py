"""BERT family explorer: the same text through BERT, DistilBERT and ALBERT, side by side.

``import explorer`` gives the public functions; each imports what it computes with when it is first
used. Imports go only downwards: ``ui -> library -> views -> analysis -> models``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.library.attention import ablate, attention
    from explorer.library.changed import changed
    from explorer.library.checkpoints import convert, verify
    from explorer.library.citation import cite
    from explorer.library.depth import depth, similarity
    from explorer.library.distillation import distillation
    from explorer.library.family import Family, load
    from explorer.library.labels import classify, entities
    from explorer.library.latency import latency
    from explorer.library.layer import contexts, layer
    from explorer.library.parameters import parameters
    from explorer.library.patching import patch
    from explorer.library.predictions import attribute, predict, score
    from explorer.library.results import Result
    from explorer.library.tasks import pair, question, sentiment
    from explorer.library.vectors import vectors
    from explorer.lists.finetune import finetune
    from explorer.lists.library import Interrupted, texts
    from explorer.refusal import Refusal

__all__ = [
    "Family",
    "Interrupted",
    "Refusal",
    "Result",
    "ablate",
    "attention",
    "attribute",
    "changed",
    "cite",
    "classify",
    "contexts",
    "convert",
    "depth",
    "distillation",
    "entities",
    "finetune",
    "latency",
    "layer",
    "load",
    "pair",
    "parameters",
    "patch",
    "predict",
    "question",
    "score",
    "sentiment",
    "similarity",
    "texts",
    "vectors",
    "verify",
]
_HOMES = {
    "Family": "library.family",
    "Interrupted": "lists.library",
    "Refusal": "refusal",
    "Result": "library.results",
    "ablate": "library.attention",
    "attention": "library.attention",
    "attribute": "library.predictions",
    "changed": "library.changed",
    "cite": "library.citation",
    "classify": "library.labels",
    "contexts": "library.layer",
    "convert": "library.checkpoints",
    "depth": "library.depth",
    "distillation": "library.distillation",
    "entities": "library.labels",
    "finetune": "lists.finetune",
    "latency": "library.latency",
    "layer": "library.layer",
    "load": "library.family",
    "pair": "library.tasks",
    "parameters": "library.parameters",
    "patch": "library.patching",
    "predict": "library.predictions",
    "question": "library.tasks",
    "score": "library.predictions",
    "sentiment": "library.tasks",
    "similarity": "library.depth",
    "texts": "lists.library",
    "vectors": "library.vectors",
    "verify": "library.checkpoints",
}
"""Module of each public name."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
