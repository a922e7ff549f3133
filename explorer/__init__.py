"""BERT family explorer: the same text through BERT, DistilBERT and ALBERT, side by side.

``import explorer`` gives the public functions; each imports what it computes with when it is first
used. Imports go only downwards: ``ui -> library -> views -> analysis -> models``.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.library.attention import ablate as ablate
    from explorer.library.attention import attention as attention
    from explorer.library.changed import changed as changed
    from explorer.library.checkpoints import convert as convert
    from explorer.library.checkpoints import verify as verify
    from explorer.library.citation import cite as cite
    from explorer.library.depth import depth as depth
    from explorer.library.depth import similarity as similarity
    from explorer.library.distillation import distillation as distillation
    from explorer.library.family import Family as Family
    from explorer.library.family import load as load
    from explorer.library.labels import classify as classify
    from explorer.library.labels import entities as entities
    from explorer.library.latency import latency as latency
    from explorer.library.layer import contexts as contexts
    from explorer.library.layer import layer as layer
    from explorer.library.parameters import parameters as parameters
    from explorer.library.patching import patch as patch
    from explorer.library.predictions import attribute as attribute
    from explorer.library.predictions import predict as predict
    from explorer.library.predictions import score as score
    from explorer.library.results import Result as Result
    from explorer.library.tasks import pair as pair
    from explorer.library.tasks import question as question
    from explorer.library.tasks import sentiment as sentiment
    from explorer.library.vectors import vectors as vectors
    from explorer.lists.finetune import finetune as finetune
    from explorer.lists.library import Interrupted as Interrupted
    from explorer.lists.library import texts as texts
    from explorer.refusal import Refusal as Refusal

_HOMES: dict[str, str] = {
    node.names[0].name: str(node.module)
    for block in ast.parse(Path(__file__).read_text("utf-8")).body
    if isinstance(block, ast.If)
    for node in block.body
    if isinstance(node, ast.ImportFrom)
}
"""Module of each public name, from the imports above, which only type checkers follow."""
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
